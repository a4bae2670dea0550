"""The group whose commands are imported when they are called."""

import sys
from collections.abc import Callable
from types import ModuleType

import click
import pytest
from click.testing import CliRunner, Result

from wireloom.cli.commands import INTERRUPTED, Commands

MEMBERS = {"first": "Do something.", "second": "Do something else."}


def run(*args: str) -> Result:
    return CliRunner().invoke(Commands("group", members=MEMBERS), list(args))


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Puts a function where the first command's module would be."""

    def put(work: Callable[[], None]) -> None:
        module = ModuleType("wireloom.cli.first")
        module.command = click.command("first")(work)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)

    return put


def test_the_list_needs_no_module() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert all(f"  {name}" in result.stdout for name in MEMBERS)
    assert "Do something else." in result.stdout


def test_a_wrong_name_is_answered_with_the_nearest_and_all() -> None:
    result = run("fir")
    assert result.exit_code == 2
    assert "Did you mean first? Choose one of: first, second." in result.stderr


def test_no_escape_of_a_wrong_name_reaches_the_terminal() -> None:
    assert "\x1b" not in run("\x1b[31mfirst").stderr


def test_a_command_is_called(first: Callable[[Callable[[], None]], None]) -> None:
    first(lambda: click.echo("done"))
    result = run("first")
    assert (result.exit_code, result.stdout) == (0, "done\n")


def test_ctrl_c_is_a_status_and_no_word(first: Callable[[Callable[[], None]], None]) -> None:
    def work() -> None:
        raise KeyboardInterrupt

    first(work)
    result = run("first")
    assert (result.exit_code, result.stdout, result.stderr) == (INTERRUPTED, "", "\n")


def test_a_refusal_is_a_sentence(first: Callable[[Callable[[], None]], None]) -> None:
    def work() -> None:
        raise click.ClickException("No.")

    first(work)
    result = run("first")
    assert (result.exit_code, result.stderr) == (1, "Error: No.\n")


def test_what_an_argument_quotes_does_nothing_to_the_terminal(
    first: Callable[[Callable[[], None]], None],
) -> None:
    def work() -> None:
        raise click.BadParameter("no \x1b[2J\n[red]", param_hint="--url")

    first(work)
    result = run("first")
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr
    assert result.stderr.endswith("Error: Invalid value for --url: no \\x1b[2J\\n[red]\n")
    assert run("first", "--\x1b[31mno").stderr.count("\x1b") == 0


@pytest.mark.parametrize(
    ("package", "extra"), [("pyspark", "pipeline"), ("duckdb", "tables"), ("deltalake", "tables")]
)
def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, package: str, extra: str
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=f"{package}.sql")

    monkeypatch.setattr("wireloom.cli.commands.import_module", missing)
    result = run("first")
    assert result.exit_code == 2
    assert f"pip install 'wireloom[{extra}]'" in result.stderr


def test_any_other_missing_module_is_a_fault_of_ours() -> None:
    assert isinstance(run("first").exception, ModuleNotFoundError)
