"""The Delta logs: which files make up a table, and how far each application has committed.

A commit carries an application transaction (who, up to which version), by which a commit that
was made already is recognised. A reader sees whole commits only.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from threading import local
from time import monotonic
from typing import Final, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from wireloom.pipeline.files import BOUNDED, ParquetFiles
from wireloom.pipeline.tables import Table

LOG_RETENTION: Final = "interval 1 days"
"""How long commits stay in the log after a checkpoint: a watch makes many."""


FRESH_SECONDS: Final = 1.0
"""How long a table on object storage counts as it was read."""

_MARK: Final = "wireloom.commit"
"""Tells one commit from all others."""

LATEST: Final = 10
"""Commits that are looked through for one's own."""

KEPT_SECONDS: Final = 3_600.0
"""How long a table on a disk counts as it was read, while there is no next commit. It is much less
than commits stay in the log."""


class File(NamedTuple):
    """A Parquet file of a table, as the log knows it."""

    path: str
    """Below the table."""

    rows: int
    size: int
    """Bytes."""

    first: int
    """The first slice of the capture that it has rows of, if the table has slices."""

    last: int
    """The last one."""

    earliest: datetime | None
    """Its first capture, to the millisecond."""

    latest: datetime | None
    """Its last capture, to the millisecond."""


class Opened(NamedTuple):
    """A table as it was read last."""

    table: DeltaTable
    at: float
    """When, in seconds of a clock that only goes forward."""

    commits: int
    """How many commits this process had made to it."""


class DeltaLog:
    """The logs of the tables below one root.

    Args:
        files: The files that the tables are made of.
    """

    def __init__(self, files: ParquetFiles) -> None:
        self._files = files
        # Reading a log anew costs more with every commit; reading on in it does not.
        self._opened = local()
        self._listed = local()
        self._commits: Counter[str] = Counter()

    def open(self, name: str) -> DeltaTable | None:
        """The table as it is now, if it exists.

        On a disk, whether there is a next commit is one look for its file. On object storage, where
        each look costs a request, what another process has committed is seen after `FRESH_SECONDS`
        at the latest; what this one has is seen at once.
        """
        known: dict[str, Opened] = self._opened.__dict__
        now, commits = monotonic(), self._commits[name]
        before = known.get(name)
        if before is not None:
            if before.commits != commits or not self._is_fresh(name, before, now):
                before.table.update_incremental()
                known[name] = Opened(before.table, now, commits)
            return before.table
        try:
            known[name] = Opened(self._table(name), now, commits)
        except TableNotFoundError:
            return None
        return known[name].table

    def _is_fresh(self, name: str, opened: Opened, now: float) -> bool:
        """Whether a table need not be looked at again."""
        if self._files.is_remote:
            return now < opened.at + FRESH_SECONDS
        following = f"_delta_log/{opened.table.version() + 1:020}.json"
        return now < opened.at + KEPT_SECONDS and not self._files.exists(name, following)

    def files(self, name: str) -> list[File]:
        """The files that make up a table now."""
        opened = self.open(name)
        if opened is None:
            return []
        known: dict[str, tuple[int, list[File]]] = self._listed.__dict__
        if name not in known or known[name][0] != opened.version():
            known[name] = opened.version(), _listed(opened)
        return known[name][1]

    def rows(self, name: str) -> int:
        """How many rows the table has now."""
        return sum(file.rows for file in self.files(name))

    def version(self, name: str) -> int:
        """How many commits the table has; -1 if it does not exist."""
        opened = self.open(name)
        return -1 if opened is None else opened.version()

    def done(self, name: str, app: str) -> int:
        """Up to which version `app` has committed; -1 if never."""
        return self.all_done(name, [app])[0]

    def all_done(self, name: str, apps: Sequence[str]) -> list[int]:
        """The same of several at once."""
        opened = self.open(name) if apps else None
        if opened is None:
            return [-1] * len(apps)
        found = [opened.transaction_version(app) for app in apps]
        return [-1 if version is None else version for version in found]

    def computed(self, table: Table, app: str) -> int:
        """The same of a table that is computed whole; -1 if its columns are another version's."""
        opened = self.open(table.name)
        if opened is None or [one.name for one in opened.schema().fields] != table.arrow.names:
            return -1
        return self.done(table.name, app)

    def commit(
        self,
        table: Table,
        paths: Iterable[str],
        done: Mapping[str, int],
        *,
        mode: str = "append",
        removed: Sequence[File] = (),
    ) -> int:
        """Commits Parquet files that lie below the table; returns the number of their rows.

        Args:
            table: The table.
            paths: The files to add.
            done: Who commits, and how far it has got with this.
            mode: `append`, or `overwrite` for files that are all there is.
            removed: Files to remove.
        """
        added = [self._added(table, path) for path in paths]
        now = int(datetime.now(UTC).timestamp() * 1000)
        removals = [RemoveAction(file.path, True, now) for file in removed]  # noqa: FBT003
        transactions = [Transaction(app, version) for app, version in done.items()]
        opened = self.open(table.name) or self._created(table)
        mark = uuid4().hex
        try:
            opened.create_write_transaction(
                [*[action for action, _ in added], *removals],
                mode,
                Schema.from_arrow(table.arrow),
                commit_properties=CommitProperties({_MARK: mark}, app_transactions=transactions),
            )
        except CommitFailedError:
            if not self._is_committed(table.name, mark):
                raise
        self._commits[table.name] += 1
        return sum(rows for _, rows in added)

    def _is_committed(self, name: str, mark: str) -> bool:
        """Whether a commit that has failed is there all the same.

        When object storage has taken a commit and its answer is lost, the commit is repeated, and
        fails because of itself.
        """
        return any(entry.get(_MARK) == mark for entry in self._table(name).history(LATEST))

    def _uri(self, name: str) -> str:
        return f"{self._files.delta_root}/{name}"

    def _table(self, name: str) -> DeltaTable:
        return DeltaTable(self._uri(name), storage_options=self._files.storage_options)

    def _created(self, table: Table) -> DeltaTable:
        return DeltaTable.create(
            self._uri(table.name),
            Schema.from_arrow(table.arrow),
            name=table.name,
            description=table.about,
            configuration=_configuration(table),
            storage_options=self._files.storage_options,
        )

    def _added(self, table: Table, path: str) -> tuple[AddAction, int]:
        written = self._files.inspect(table.name, path)
        rows = written.footer.num_rows
        stats = json.dumps({"numRecords": rows, **_bounds(written.footer)})
        at_ms = int(written.at.timestamp() * 1000)
        return AddAction(path, written.size, {}, at_ms, True, stats), rows  # noqa: FBT003


def _configuration(table: Table) -> dict[str, str]:
    """How long the log goes back, and which columns have bounds in it whoever writes files."""
    bounded = [column.name for column in table.columns if column.name in BOUNDED]
    kept = {"delta.logRetentionDuration": LOG_RETENTION}
    return {**kept, "delta.dataSkippingStatsColumns": ",".join(bounded)} if bounded else kept


def _listed(opened: DeltaTable) -> list[File]:
    actions = pa.table(opened.get_add_actions(flatten=True))
    wanted = (
        *("path", "num_records", "size_bytes"),
        *("min.slice", "max.slice", "min.captured_at", "max.captured_at"),
    )
    columns = [
        actions.column(name).to_pylist()
        if name in actions.column_names
        else [None] * actions.num_rows
        for name in wanted
    ]
    return [
        File(path, int(rows or 0), int(size), int(first or 0), int(last or 0), earliest, latest)
        for path, rows, size, first, last, earliest, latest in zip(*columns, strict=True)
    ]


def _bounds(footer: pq.FileMetaData) -> dict[str, dict[str, int | str]]:
    """Least and greatest values of the bounded columns that the file has, for the log."""
    low: dict[str, int | str] = {}
    high: dict[str, int | str] = {}
    names = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
    for name in BOUNDED:
        groups = [footer.row_group(group) for group in range(footer.num_row_groups)]
        known = [group.column(names[name]).statistics for group in groups if name in names]
        if known and all(one is not None and one.has_min_max for one in known):
            low[name] = _logged(min(one.min for one in known))
            high[name] = _logged(max(one.max for one in known))
    return {"minValues": low, "maxValues": high} if low else {}


def _logged(value: int | datetime) -> int | str:
    """As the Delta log writes it: times to the millisecond."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"
    return value
