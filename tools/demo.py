"""`make demo`: a frame of every protocol decoded, one shown in full, one with a fault."""

import json
import subprocess
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from wireloom.registry import NAMES

VECTORS: Final = Path(__file__).parents[1] / "vectors"


def main() -> None:
    """Shows what there is to see so far."""
    console = Console()
    console.rule("every frame of vectors/, decoded")
    console.print(summary())
    console.rule("one of them in full: wireloom inspect dtn …")
    show("dtn", "delivery_ack")
    console.rule("and one with a fault: wireloom inspect myriadmesh …")
    show("myriadmesh", "cut_short")


def summary() -> Table:
    """How many frames of each protocol are accepted and refused, and why."""
    table = Table("protocol", "frames", "accepted", "types seen", "refused, by reason")
    for name in NAMES:
        shown = decode(name, [vector["hex"] for vector in frames(name)])
        refused = [one["reason"] for one in shown if not one["ok"]]
        table.add_row(
            name,
            str(len(shown)),
            str(len(shown) - len(refused)),
            ", ".join(sorted({one["type"] for one in shown if one["ok"]})),
            ", ".join(f"{refused.count(reason)} {reason}" for reason in sorted(set(refused))),
        )
    return table


def decode(name: str, lines: list[str]) -> list[dict[str, str]]:
    """What `wireloom decode` prints of frames."""
    done = subprocess.run(
        ["wireloom", "decode", name],  # noqa: S607 - the Makefile puts it on the PATH
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def show(name: str, vector_name: str) -> None:
    """`wireloom inspect` of one vector."""
    (vector,) = [one for one in frames(name) if one["name"] == vector_name]
    subprocess.run(["wireloom", "inspect", name, vector["hex"]], check=False)  # noqa: S607


def frames(name: str) -> list[dict[str, str]]:
    """The vectors of a protocol that are whole frames."""
    lines = (VECTORS / f"{name}.jsonl").read_text().splitlines()
    return [one for line in lines if (one := json.loads(line)).get("check", "decode") == "decode"]


if __name__ == "__main__":
    main()
