"""Runs every benchmark and writes RESULTS.md.

usage: python benchmarks/run.py [NAME …]

With names, only those run and nothing is written. `growth` runs only if it is named: it takes an
hour.
"""

import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from corpora import DATA
from timing import Figure

HERE = Path(__file__).parent
QUESTIONS = (
    "decode_signalhub",
    "decode_myriadmesh",
    "decode_dtn",
    "decode_cthun",
    "decode_columns",
    "search_uep12",
    "decode_peers",
    "ingest",
    "signatures",
    "questions",
    "latency",
    "whole_runs",
    "freshness",
    "live_fan_out",
    "live_send",
    "live_limits",
    "simulate",
)


def main() -> None:
    """Runs what was asked for."""
    figures = []
    for name in sys.argv[1:] or QUESTIONS:
        print(f"{name} …", flush=True)
        for figure in _measured(name):
            print("  " + " | ".join(row(figure)), flush=True)
            figures.append(figure)
    if not sys.argv[1:]:
        (HERE / "RESULTS.md").write_text(page(figures))
    sys.exit(0 if all(figure.reached for figure in figures) else 1)


def _measured(name: str) -> list[Figure]:
    """Asks one question in a process of its own: nothing is left behind for the next."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_ask, name).result()


def _ask(name: str) -> list[Figure]:
    DATA.mkdir(exist_ok=True)
    figures: list[Figure] = import_module(name).measure()
    return figures


def row(figure: Figure) -> list[str]:
    """One figure in words."""
    sign = "≤" if figure.at_most else "≥"
    return [
        figure.question,
        figure.ours,
        figure.peer,
        "–" if figure.value is None else f"{figure.value:.2f}{figure.unit}",
        "–" if figure.goal is None else f"{sign} {figure.goal:g}{figure.unit}",
        _verdict(figure),
    ]


def _verdict(figure: Figure) -> str:
    if figure.value is None or figure.goal is None:
        return "–"
    return "yes" if figure.reached else "NO"


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
