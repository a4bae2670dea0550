"""The group of all commands, and what holds for each of them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.tree import ALL
from wireloom import __version__
from wireloom.cli.groups import GROUPS
from wireloom.cli.main import COMMANDS, wireloom

HEAVY = {
    "asyncio",
    "cbor2",
    "cryptography",
    "deltalake",
    "dpkt",
    "duckdb",
    "jwt",
    "libipld",
    "msgspec",
    "nacl",
    "numpy",
    "pandas",
    "picows",
    "prometheus_client",
    "pyarrow",
    "pyspark",
    "rich",
    "uvloop",
    "websockets",
    "wsproto",
    "zstandard",
}
MAIN = "import sys; sys.argv[0] = 'wireloom'; from wireloom.cli.main import main; main()"


def loaded(*args: str, **environment: str) -> set[str]:
    """The packages that `wireloom` has loaded when it ends."""
    script = (
        "import atexit, sys\n"
        "say = lambda: print('loaded', *{m.partition('.')[0] for m in sys.modules})\n"
        "atexit.register(say)\n" + MAIN
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *args],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    (line,) = [one for one in done.stdout.splitlines() if one.startswith("loaded ")]
    return set(line.split())


def test_help_lists_every_command() -> None:
    result = CliRunner().invoke(wireloom, ["--help"])
    assert result.exit_code == 0
    assert all(f"  {name} " in result.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_listed_command_is_there(name: str) -> None:
    command = wireloom.get_command(click.Context(wireloom), name)
    assert command is not None
    assert command.name == name


@pytest.mark.parametrize("name", ALL)
def test_every_command_and_every_option_is_explained(name: str) -> None:
    assert ALL[name].help
    options = [one for one in ALL[name].params if isinstance(one, click.Option)]
    assert [one.opts for one in options if not one.help] == []


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_a_short_option_for_its_help(name: str) -> None:
    result = CliRunner().invoke(wireloom, [*name.split(), "-h"])
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: wireloom {name} ")


def test_the_list_fits_on_a_terminal() -> None:
    result = CliRunner().invoke(wireloom, ["--help"], terminal_width=80)
    assert all(len(line) <= 78 for line in result.stdout.splitlines())
    assert "..." not in result.stdout.partition("Commands:")[2]


def test_version() -> None:
    assert (
        CliRunner().invoke(wireloom, ["--version"]).stdout == f"wireloom, version {__version__}\n"
    )


def test_an_unknown_command_is_misuse() -> None:
    result = CliRunner().invoke(wireloom, ["repo"])
    assert result.exit_code == 2
    assert "Did you mean report?" in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("-h",),
        ("--version",),
        ("completion", "zsh"),
        *((name, "--help") for name in GROUPS),
    ],
)
def test_help_loads_nothing_heavy(args: tuple[str, ...]) -> None:
    assert not HEAVY & loaded(*args)


@pytest.mark.parametrize("words", ["", "pipeline ", "hub s", "capture t"])
def test_completion_loads_nothing_heavy(words: str) -> None:
    asked = {
        "_WIRELOOM_COMPLETE": "zsh_complete",
        "COMP_WORDS": f"wireloom {words}",
        "COMP_CWORD": str(1 + words.count(" ")),
    }
    assert not HEAVY & loaded(**asked)


@pytest.mark.parametrize("name", ["decode", "encode", "inspect"])
def test_help_of_the_codec_loads_neither_arrow_nor_sockets(name: str) -> None:
    assert not {"pyarrow", "pandas", "duckdb", "uvloop", "websockets"} & loaded(name, "--help")


WAITED_FOR = HEAVY - {"asyncio", "msgspec", "rich"}


@pytest.mark.parametrize(
    "name",
    [
        *(f"capture {name}" for name in GROUPS["capture"].members),
        "generate",
        *(f"pipeline {name}" for name in GROUPS["pipeline"].members),
        "report",
        "serve",
        "sql",
        "trace",
    ],
)
def test_help_of_a_command_does_not_wait_for_what_its_work_needs(name: str) -> None:
    assert not WAITED_FOR & loaded(*name.split(), "--help")


@pytest.mark.parametrize("name", ["capture tail", "pipeline run", "serve", "sql"])
def test_completion_of_options_does_not_wait_for_what_the_work_needs(name: str) -> None:
    asked = {
        "_WIRELOOM_COMPLETE": "bash_complete",
        "COMP_WORDS": f"wireloom {name} --",
        "COMP_CWORD": str(1 + len(name.split())),
    }
    assert not WAITED_FOR & loaded(**asked)


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    frames = tmp_path / "frames.hex"
    frames.write_text("792000\n" * 20_000)
    command = f'"{sys.executable}" -c "{MAIN}" decode uep12 "{frames}" | head -n 1'
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_ctrl_c_is_no_traceback() -> None:
    command = [sys.executable, "-c", MAIN, "decode", "uep12"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"792000\n" * 100)  # more than what waits before it is written
        process.stdin.flush()
        process.stdout.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"\n")


def test_ctrl_c_while_traffic_is_generated_is_no_traceback(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-c", MAIN, "generate", "--frames=500000", f"--data={data}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not data.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"\n")


def broken(**environment: str) -> subprocess.CompletedProcess[str]:
    """`wireloom keys`, with a fault in it."""
    script = (
        "import sys, wireloom.cli.keys as keys\n"
        "def fail(*args): raise ZeroDivisionError('oops\\x1b[31m')\n"
        "keys.show.invoke = fail\n"
        "sys.argv = ['wireloom', 'keys', 'show', 'me.key']\n"
        "from wireloom.cli.main import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_fault_of_ours_is_one_sentence() -> None:
    done = broken(WIRELOOM_DEBUG="")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "ZeroDivisionError: oops\\x1b[31m" in done.stderr
    assert "WIRELOOM_DEBUG=1" in done.stderr


def test_who_wants_a_traceback_gets_one() -> None:
    done = broken(WIRELOOM_DEBUG="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
