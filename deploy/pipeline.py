"""`wireloom pipeline` under spark-submit: `spark-submit … deploy/pipeline.py run --data …`.

Spark is told where it runs by spark-submit, and so is the command. What the command defaults to
gives way to what spark-submit says.
"""

import sys

from pyspark import SparkConf, SparkContext

from wireloom.cli.main import main
from wireloom.cli.pipeline import command


def submitted() -> list[str]:
    """What spark-submit was told, as options of a command."""
    SparkContext._ensure_initialized()  # connects to the process that spark-submit started
    given = dict(SparkConf().getAll())
    settings = [part for pair in given.items() for part in ("--conf", "=".join(pair))]
    return ["--master", given["spark.master"], *settings]


def arguments(words: list[str]) -> list[str]:
    """The command line; commands that need no Spark are told nothing of it."""
    known = command.commands.get(words[0]) if words else None
    needs_spark = known is not None and any(one.name == "conf" for one in known.params)
    return ["pipeline", *words[:1], *(submitted() if needs_spark else ()), *words[1:]]


if __name__ == "__main__":
    sys.argv[1:] = arguments(sys.argv[1:])
    main()
