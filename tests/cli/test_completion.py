"""`wireloom completion`: the shells' scripts, and what they ask for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from wireloom.cli.completion import SHELLS, VARIABLE
from wireloom.cli.main import wireloom


def asked(words: str) -> list[str]:
    """What a bash gets for the last of `words`."""
    environment = os.environ | {
        VARIABLE: "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    script = "import sys; sys.argv[0] = 'wireloom'; from wireloom.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_its_script(shell: str) -> None:
    result = CliRunner().invoke(wireloom, ["completion", shell])
    assert result.exit_code == 0
    assert f"{VARIABLE}={shell}_complete" in result.stdout


def test_another_shell_is_misuse() -> None:
    result = CliRunner().invoke(wireloom, ["completion", "tcsh"])
    assert result.exit_code == 2
    assert all(shell in result.stderr for shell in SHELLS)


def test_a_bash_completes_with_the_script() -> None:
    press = (
        'eval "$(wireloom completion bash)"\n'
        "COMP_WORDS=(wireloom in); COMP_CWORD=1\n"
        "_wireloom_completion wireloom in wireloom\n"
        'echo "${COMPREPLY[@]}"\n'
        "complete -p wireloom\n"
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc"],
        input=press,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "inspect"
    assert "_wireloom_completion" in done.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("wireloom de", ["decode"]),
        ("wireloom decode m", ["myriadmesh"]),
        ("wireloom decode dtn --b", ["--binary"]),
        ("wireloom keys n", ["new"]),
    ],
)
def test_commands_choices_and_options_are_completed(words: str, found: list[str]) -> None:
    assert asked(words) == found
