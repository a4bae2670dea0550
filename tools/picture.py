"""Writes docs/wireloom.svg: what `wireloom report` and `wireloom trace` print.

usage: python tools/picture.py [DATA]

DATA is the folder of a corpus with its tables; without it, that of `make demo`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from demo import DATA, delivered

PICTURE: Final = Path(__file__).parents[1] / "docs" / "wireloom.svg"
WIDTH: Final = 84
FONT: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""Where the picture would fetch a font from."""


def main() -> None:
    """Runs the commands and draws what they print."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    id_ = delivered(data)
    shown = [
        "$ wireloom report",
        *printed("report", data=data)[:10],
        "…",
        "",
        f"$ wireloom trace {id_[:8]}",
        *printed("trace", id_[:8], data=data),
    ]
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True)
        for line in shown:
            console.print(Text.from_ansi(line, style="bold" if line.startswith("$") else ""))
    svg = console.export_svg(title="wireloom", theme=MONOKAI, unique_id="wireloom")
    PICTURE.write_text(FONT.sub("", svg))
    print(f"wrote {PICTURE}")


def printed(*args: str, data: Path) -> list[str]:
    """What a command prints, with its colours."""
    done = subprocess.run(
        ["wireloom", *args, "--data", str(data)],  # noqa: S607
        env=os.environ | {"COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


if __name__ == "__main__":
    main()
