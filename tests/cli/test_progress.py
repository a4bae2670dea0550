"""What long work says on standard error."""

import io

import pytest
from rich.console import Console

from wireloom.cli import progress
from wireloom.cli.progress import ProgressLine


def test_without_a_terminal_a_stage_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine() as shown:
        shown.stage("ingest")
        shown.say("ingest: 5 frames")
        shown.table("analyse", "fates", 7, 27)
        shown.line("something \x1b[2J bad")
    assert capsys.readouterr().err == "ingest\nsomething \\x1b[2J bad\n"


def test_without_a_terminal_what_changes_is_told_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressLine(every_seconds=0) as shown:
        shown.say("1 frame")
    with ProgressLine(every_seconds=3600) as shown:
        shown.say("2 frames")
    assert capsys.readouterr().err == "1 frame\n"


def test_on_a_terminal_one_line_changes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=80, _environ={"TERM": "xterm"})
    monkeypatch.setattr(progress, "Console", lambda **_: terminal)
    with ProgressLine() as shown:
        shown.stage("starting [bold]Spark")
        shown.table("analyse", "fates", 7, 27)
        shown.line("a complaint")
    text = screen.getvalue()
    assert "analyse, table 7 of 27: fates" in text
    assert "a complaint\n" in text
    assert text.endswith("\x1b[2K"), "the line is cleared at the end"


def test_what_is_counted_has_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100, _environ={"TERM": "xterm"})
    monkeypatch.setattr(progress, "Console", lambda **_: terminal)
    with ProgressLine() as shown:
        for done in (3, 4):
            shown.counted("playing", done, 4)
        shown.line("a complaint")
    (drawn,) = [one for one in screen.getvalue().splitlines() if "playing, 4 of 4" in one]
    assert drawn.count("━") == 40
