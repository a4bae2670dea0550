"""The group of all commands."""

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from wireloom import __version__
from wireloom.cli.main import COMMANDS, wireloom


def test_help_lists_every_command() -> None:
    result = CliRunner().invoke(wireloom, ["--help"])
    assert result.exit_code == 0
    assert all(f"  {name} " in result.stdout for name in COMMANDS)


def test_version() -> None:
    assert (
        CliRunner().invoke(wireloom, ["--version"]).stdout == f"wireloom, version {__version__}\n"
    )


def test_an_unknown_command_is_misuse() -> None:
    assert CliRunner().invoke(wireloom, ["frobnicate"]).exit_code == 2


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    frames = tmp_path / "frames.hex"
    frames.write_text("792000\n" * 20_000)
    script = "from wireloom.cli.main import main; main()"
    command = f'"{sys.executable}" -c "{script}" decode uep12 "{frames}" | head -n 1'
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
