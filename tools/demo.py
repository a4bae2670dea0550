"""`make demo`: a corpus of all five protocols, run through the pipeline, and what became of it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

DATA: Final = Path("wireloom-data") / "demo"
FRAMES: Final = 20_000


def main() -> None:
    """Generates, runs, reports, and shows one message's life."""
    shutil.rmtree(DATA, ignore_errors=True)
    step("generate", "--frames", str(FRAMES), "--seed", "1")
    step("pipeline", "run")
    step("report")
    step("report", "--html", str(DATA / "report.html"))
    step("trace", delivered(DATA))
    step("sql", "SELECT state, count(*) AS messages FROM fates GROUP BY state ORDER BY 2 DESC")


def step(*args: str) -> None:
    """One command, shown and done."""
    print(f"\n$ wireloom {' '.join(args)} --data {DATA}", flush=True)
    done = subprocess.run(["wireloom", *args, "--data", str(DATA)], check=False)  # noqa: S607
    if done.returncode:
        sys.exit(done.returncode)


def delivered(data: Path) -> str:
    """A mesh message that was carried far and acknowledged."""
    query = (
        "SELECT message_id FROM fates WHERE protocol = 'myriadmesh' AND state = 'delivered' "
        "AND evidence_kind = 'wire' ORDER BY copies DESC, message_id LIMIT 1"
    )
    done = subprocess.run(
        ["wireloom", "sql", query, "--format", "json", "--data", str(data)],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    return str(json.loads(done.stdout)["message_id"])


if __name__ == "__main__":
    main()
