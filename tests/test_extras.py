"""What is installed with which extra, and what runs without."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from capture.made import log
from wireloom.cli.commands import EXTRAS
from wireloom.cli.identity import write
from wireloom.wire.keys import SigningKey

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FORBIDDEN = f"""
import sys
class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {set(EXTRAS)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Forbidden())
sys.argv[0] = "wireloom"
from wireloom.cli.main import main
main()
"""
CONTENT = "79100505580000000000007b5c766887013c000068656c6c6f20737761726d"


def bare(*args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """`wireloom` where no extra is installed."""
    return subprocess.run(
        [sys.executable, "-c", FORBIDDEN, *args],
        input=stdin,
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


def packages(requirements: list[str]) -> set[str]:
    """The names of what is required, extras of ours resolved."""
    found: set[str] = set()
    for requirement in requirements:
        if own := re.fullmatch(r"wireloom\[(\w+)\]", requirement):
            found |= packages(PROJECT["optional-dependencies"][own[1]])
        else:
            found.add(re.split(r"[<>=]", requirement)[0])
    return found


def test_what_is_always_installed_has_none_of_the_extras() -> None:
    assert not packages(PROJECT["dependencies"]) & set(EXTRAS)


def test_an_error_names_the_extra_that_brings_what_is_missing() -> None:
    extras = {name: packages(needs) for name, needs in PROJECT["optional-dependencies"].items()}
    assert set(extras) == {"tables", "pipeline", "all"}
    assert all(package in extras[extra] for package, extra in EXTRAS.items())
    assert extras["tables"] < extras["pipeline"]
    assert extras["all"] == set.union(*extras.values())


def test_the_set_up_of_the_repository_installs_all() -> None:
    assert "-e '.[all]'" in (ROOT / "tools" / "venv.sh").read_text()


def test_codec_servers_clients_and_captures_need_no_extra(tmp_path: Path) -> None:
    log(tmp_path / "captures")
    write(tmp_path / "me.key", SigningKey(bytes(32)))
    data = ("--data", str(tmp_path))
    for args in (
        ("--help",),
        ("hub", "send", "--help"),
        ("broker", "send", "--help"),
        ("generate", "--frames=1000", f"--data={tmp_path / 'made'}"),
        ("capture", "stat", *data),
        ("capture", "tail", *data),
        ("keys", "show", str(tmp_path / "me.key")),
        ("inspect", "uep12", CONTENT),
    ):
        done = bare(*args)
        assert (done.returncode, done.stderr) == (0, ""), args
    assert "missing.toml cannot be read" in bare("serve", "--config=missing.toml").stderr
    decoded = bare("decode", "uep12", stdin=CONTENT)
    assert bare("encode", "uep12", stdin=decoded.stdout).stdout == CONTENT + "\n"


@pytest.mark.parametrize(
    ("args", "extra"),
    [
        (("pipeline", "run"), "pipeline"),
        (("pipeline", "status"), "pipeline"),
        (("pipeline", "compact"), "pipeline"),
        (("report",), "tables"),
        (("sql", "select 1"), "tables"),
        (("trace", "ab"), "tables"),
    ],
)
def test_what_needs_an_extra_says_how_to_install_it(
    tmp_path: Path, args: tuple[str, ...], extra: str
) -> None:
    log(tmp_path / "captures")
    done = bare(*args, "--data", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(f"Type: pip install 'wireloom[{extra}]'\n")
