"""Runs every benchmark and writes RESULTS.md.

usage: python benchmarks/run.py [NAME …]

With names, only those run and nothing is written.
"""

import platform
import sys
from importlib import import_module
from pathlib import Path

from timing import Figure

HERE = Path(__file__).parent
QUESTIONS = (
    "decode_signalhub",
    "decode_myriadmesh",
    "decode_dtn",
    "decode_cthun",
    "decode_columns",
    "search_uep12",
)


def main() -> None:
    """Runs what was asked for."""
    figures = []
    for name in sys.argv[1:] or QUESTIONS:
        print(f"{name} …", flush=True)
        for figure in import_module(name).measure():
            print("  " + " | ".join(row(figure)), flush=True)
            figures.append(figure)
    if not sys.argv[1:]:
        (HERE / "RESULTS.md").write_text(page(figures))
    sys.exit(0 if all(figure.reached for figure in figures) else 1)


def row(figure: Figure) -> list[str]:
    """One figure in words."""
    verdict = "yes" if figure.reached else "NO"
    return [
        figure.question,
        figure.ours,
        figure.peer,
        f"{figure.ratio:.2f}×",
        f"≥ {figure.goal:g}×",
        verdict,
    ]


def page(figures: list[Figure]) -> str:
    """RESULTS.md."""
    lines = [
        "# Results",
        "",
        "Written by `make bench`. Each ratio compares two ways in one run on one machine, in",
        "turns; figures of different runs or machines do not compare.",
        "",
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}.",
        "",
        "| question | ours | peer | ratio | goal | reached |",
        "|---|---|---|---|---|---|",
        *["| " + " | ".join(row(figure)) + " |" for figure in figures],
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
