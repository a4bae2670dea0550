"""Whether the workers see the folders that the driver sees, checked before a run needs it.

The driver puts an empty file with a new name into each local folder. One small job asks every
executor whether it is there, and has it put a file of its own beside it where executors write. A
name that nobody asked for before is in no cache of a network file system.

Executors that come later are not asked. URLs on object storage are the same for all.
"""

import os
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

import pyarrow as pa
from py4j.protocol import Py4JError
from pyarrow.fs import LocalFileSystem
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from wireloom.pipeline.spark import Spark
from wireloom.pipeline.store import TableStore
from wireloom.remote import AnyPath
from wireloom.roots import Root

PREFIX: Final = "_shared-"
"""What the names of the files begin with."""

TASKS: Final = 2
"""Tasks an executor. Spark deals them out in turn: one each would do if no executor were busy."""

_ANSWER: Final = "host string, mark bigint, is_seen boolean, put string"
_ARROW: Final = pa.schema(
    [("host", pa.string()), ("mark", pa.int64()), ("is_seen", pa.bool_()), ("put", pa.string())]
)
_LACKS: Final = {
    r"No module named '(\w+)": "The workers' Python has no {}: install wireloom[pipeline] on all "
    "workers, or ship a packed environment with --archives, as docs/cluster.md shows.",
    r'Cannot run program "([^"]*)"': "The workers have no Python at {}: set PYSPARK_PYTHON to a "
    "path that all of them have, or ship a packed environment, as docs/cluster.md shows.",
    r"\[PYTHON_VERSION_MISMATCH\] ([^\n]*?)\.?(\n|$)": "The workers run another Python: {}.",
}
"""What is said of what Spark says if workers cannot run Wireloom."""


class WorkersError(RuntimeError):
    """The workers cannot do a run; the text is one sentence for a person."""


class Place(NamedTuple):
    """Where something lies that a run needs."""

    name: str
    """What: `captures` or `tables`."""

    root: Root
    is_written: bool
    """Whether workers write there; else they only read."""

    @property
    def folder(self) -> Path:
        """The folder, if it is local."""
        return Path(self.root.base)


class _Mark(NamedTuple):
    """A file of the driver's, which workers ought to see."""

    path: str
    is_written: bool
    """Whether they are to put a file of their own beside it."""


class _Answer(NamedTuple):
    """What one task says of one mark."""

    host: str
    mark: int
    is_seen: bool
    put: str | None
    """The name of its own file; none if it was not asked for one, or could not make it."""


def check_cluster(spark: Spark, store: TableStore, captures: AnyPath | None = None) -> None:
    """Refuses a cluster whose workers do not see what a run needs; this machine sees its own.

    Args:
        spark: Where tables are computed.
        store: The tables.
        captures: The captures, if they are read.

    Raises:
        WorkersError: If the workers cannot do a run.
    """
    if spark.is_local:
        return
    places = [Place("tables", Root(store.root), is_written=True)]
    if captures is not None:
        places.insert(0, Place("captures", Root(str(captures)), is_written=False))
    check_shared(spark.session(), places)


def check_shared(spark: SparkSession, places: Sequence[Place]) -> None:
    """Refuses workers that do not see the driver's folders, or cannot run Wireloom.

    Args:
        spark: The session.
        places: What a run reads and writes. Folders that are written are made if need be.

    Raises:
        WorkersError: If a run could not succeed.
    """
    local = [place for place in places if isinstance(place.root.disk, LocalFileSystem)]
    with ExitStack() as stack:
        marks = [stack.enter_context(_marked(place)) for place in local]
        for answer in _answers(spark, marks):
            place, mark = local[answer.mark], marks[answer.mark]
            if not answer.is_seen or (answer.put and not (place.folder / answer.put).exists()):
                raise WorkersError(_apart(answer.host, place, local))
            if mark.is_written and not answer.put:
                raise WorkersError(
                    f"The worker on {answer.host} may not write to {place.folder}: the driver "
                    f"and all workers write the {place.name}, so give all of them the right to."
                )


def _apart(host: str, missed: Place, local: Sequence[Place]) -> str:
    named = " and ".join(f"the {place.name} ({place.folder})" for place in local)
    return (
        f"The worker on {host} does not see the driver's {missed.folder}: {named} must lie in "
        "folders that the driver and all workers share under the same path, such as NFS, or on "
        "object storage, with a URL such as s3://bucket/folder."
    )


@contextmanager
def _marked(place: Place) -> Iterator[_Mark]:
    """A new file in a folder, with all that workers put beside it, until it is not needed.

    Captures that the driver may only read are known by what is in them.
    """
    name = f"{PREFIX}{uuid4().hex}"
    path = place.folder / name
    try:
        if place.is_written:
            place.folder.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        if place.is_written:
            raise WorkersError(
                f"The {place.name} cannot be written to {place.folder}: {error.strerror}."
            ) from None
        path = next(place.folder.glob("*"), place.folder)
    try:
        yield _Mark(str(path), place.is_written)
    finally:
        for made in place.folder.glob(f"{name}*"):
            made.unlink(missing_ok=True)


def _answers(spark: SparkSession, marks: list[_Mark]) -> Iterator[_Answer]:
    """Asks the executors that are there, and again if they have become more."""
    asked = 0
    while asked < (count := _executors(spark)):
        asked = count
        numbers = spark.range(0, TASKS * count, 1, TASKS * count)
        try:
            rows = numbers.mapInArrow(partial(_ask, marks), _ANSWER).collect()
        except (PySparkException, Py4JError) as error:
            raise WorkersError(_lack(str(error))) from None
        yield from (_Answer(*row) for row in rows)


def _executors(spark: SparkSession) -> int:
    """How many executors there are; one if none has come yet, since a job waits for it."""
    known = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()  # the driver among them
    return max(1, int(known) - 1)


def _ask(marks: list[_Mark], numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Looks for each mark, on a worker."""
    for _ in numbers:
        rows = [_answer(place, mark) for place, mark in enumerate(marks)]
        yield pa.RecordBatch.from_pylist([row._asdict() for row in rows], schema=_ARROW)


def _answer(place: int, mark: _Mark) -> _Answer:
    path = Path(mark.path)
    is_seen = os.access(path, os.F_OK)
    put = f"{path.name}-{uuid4().hex}" if is_seen and mark.is_written else None
    if put is not None:
        try:
            path.with_name(put).touch()
        except OSError:
            put = None
    return _Answer(socket.gethostname(), place, is_seen, put)


def _lack(said: str) -> str:
    """Why workers could not even answer."""
    for pattern, text in _LACKS.items():
        if (match := re.search(pattern, said)) is not None:
            return text.format(match[1])
    causes = re.findall(r"(?:Exception|Error): (\S.*)", said) or said.strip().splitlines()
    return f"The workers cannot run Python: {causes[-1]}"
