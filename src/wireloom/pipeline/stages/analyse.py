"""Analyse: every table that answers a question, brought up to date with what was refined.

Of a table only what new frames touch is computed anew (`scopes`, `changes`), by the same transform
that computes it as a whole. Where that is not possible, or much is touched, all of it is: a node
plays a new part, frames were decoded anew, much came at once, or the table depends on all frames
of its types. A few rows are gathered in this process and handed to Spark; many it reads itself.
Tables are computed side by side, since most of the time goes by in planning.

Nothing depends on the order in which frames came, so many small runs give what one large run gives.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Final

import pyarrow as pa

from wireloom.pipeline import frame_tables
from wireloom.pipeline.changes import Changes, Touched
from wireloom.pipeline.derived import DERIVED, Derived, Inputs
from wireloom.pipeline.merging import Removal, merge
from wireloom.pipeline.paths import project
from wireloom.pipeline.progress import TableStarted, silent
from wireloom.pipeline.scopes import CHANGED, REMADE, By
from wireloom.pipeline.sighted import Sighted
from wireloom.pipeline.spark import BESIDE, Spark, for_few, framed
from wireloom.pipeline.stages import inputs as stored
from wireloom.pipeline.stages.inputs import APP, refined
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Table
from wireloom.pipeline.transforms.nodes import has_refuted, joined, parts

FEW: Final = 60_000
"""Up to this number of rows, gathering them in this process is cheaper than having Spark read."""


def analyse(
    spark: Spark,
    store: TableStore,
    *,
    on_table: Callable[[str, int], None],
    on_start: TableStarted = silent,
    tables: Sequence[Derived] = DERIVED,
) -> None:
    """Brings tables up to date.

    Args:
        spark: Where they are computed.
        store: The tables.
        on_table: Is called with each table and the rows that were written, after it is committed.
        on_start: Is called with each table before it is computed.
        tables: Which ones; what they are made of comes before them.
    """
    upto = refined(store)
    behind = [one for one in tables if store.log.computed(one.table, APP) < upto]
    if behind:
        Analysis(spark, store, upto).bring(behind, on_table, on_start)


def stalest(store: TableStore, tables: Sequence[Derived]) -> Derived | None:
    """Of the tables that can be brought further the one that lags furthest; of equals the first."""
    upto = refined(store)
    done = {one: store.log.computed(one.table, APP) for one in tables}
    behind = [one for one in tables if done[one] < _reach(store, one, upto)]
    return min(behind, key=lambda one: done[one]) if behind else None


def _reach(store: TableStore, derived: Derived, upto: int) -> int:
    """How far a table can be brought now: no further than what it is made of."""
    made_of = {table.name for table in derived.scope.made_of}
    others = [one.table for one in DERIVED if one.table.name in made_of]
    return min([upto, *(store.log.computed(table, APP) for table in others)])


class Analysis:
    """Brings tables up to one slice.

    Args:
        spark: Where they are computed.
        store: The tables.
        upto: The slice.
    """

    def __init__(self, spark: Spark, store: TableStore, upto: int) -> None:
        self._spark = spark
        self._store = store
        self._upto = upto
        self._sighted = Sighted(store, upto)
        self._lock = Lock()
        self._changes: dict[int, Changes] = {}
        self._reached: dict[str, int] = {}
        """How far each table is brought: what it is made of may go on meanwhile."""

    def bring(
        self,
        behind: Sequence[Derived],
        on_table: Callable[[str, int], None],
        on_start: TableStarted,
    ) -> None:
        """Brings tables up to date, side by side."""
        jobs: dict[str, Future[None]] = {}

        def bring(derived: Derived, place: int) -> None:
            for table in derived.scope.made_of:
                if table.name in jobs:
                    jobs[table.name].result()
            on_start(derived.table.name, place, len(behind))
            on_table(derived.table.name, self._brought(derived))

        with ThreadPoolExecutor(BESIDE) as pool:
            for place, derived in enumerate(behind, start=1):
                jobs[derived.table.name] = pool.submit(bring, derived, place)
            for job in jobs.values():
                job.result()

    def _brought(self, derived: Derived) -> int:
        """Brings a table up to date; gives the rows that were written."""
        start = self._store.log.computed(derived.table, APP)
        reached = self._reached[derived.table.name] = _reach(self._store, derived, self._upto)
        if start >= reached:
            return 0
        changes = self._since(start)
        if changes is None or self._is_remade(derived, start):
            return self._whole(derived)
        match derived.scope.by:
            case By.NODE:
                refuted = has_refuted(changes.fresh)
                return self._whole(derived) if refuted else self._joined(derived, changes)
            case By.WHOLE:
                if self._concerns(derived, changes, start):
                    return self._whole(derived)
                return self._as_it_is(derived)
        touched = changes.touched(derived)
        many = touched.seen.num_rows + touched.refused.num_rows > FEW
        return self._whole(derived) if many else self._merged(derived, touched)

    def _since(self, start: int) -> Changes | None:
        """What came after a slice; None if it is too much to be looked at one by one."""
        rewritten = frame_tables.rewritten(self._store)
        if start < max(0, rewritten) or frame_tables.count(self._store, after=start) > FEW:
            return None
        with self._lock:
            changes = self._changes.setdefault(start, Changes(self._sighted, start))
        return changes if changes.fresh.num_rows <= FEW else None

    def _is_remade(self, derived: Derived, start: int) -> bool:
        """Whether a table that this one is made of changed beyond what new rows touch."""
        made_of = derived.scope.made_of
        return any(self._store.log.done(table.name, REMADE) > start for table in made_of)

    def _concerns(self, derived: Derived, changes: Changes, start: int) -> bool:
        """Whether a table that is computed as a whole may change."""
        made_of = derived.scope.made_of
        if any(self._store.log.done(table.name, CHANGED) > start for table in made_of):
            return True
        if derived.scope.has_horizon and self._store.log.rows(derived.table.name):
            return True
        return changes.concern(derived)

    def _as_it_is(self, derived: Derived) -> int:
        """Notes that a table is up to date."""
        self._store.log.commit(derived.table, [], {APP: self._reached[derived.table.name]})
        return 0

    def _merged(self, derived: Derived, touched: Touched) -> int:
        """Puts what is computed from touched rows in the place of what is there."""
        reached = self._reached[derived.table.name]
        chosen = Removal(derived.scope.by.key, touched.keys)
        rows = self._few(derived, touched.seen, touched.refused, chosen)
        return merge(
            self._store,
            derived.table,
            chosen,
            rows.filter(chosen.among(rows)),
            app=APP,
            version=reached,
            also={CHANGED: reached} if len(touched.keys) else {},
        )

    def _joined(self, derived: Derived, changes: Changes) -> int:
        """Joins what nodes did with what they do now; most of the time that changes nothing."""
        more = self._few(derived, parts(changes.fresh), frame_tables.none_refused(()))
        known = self._there(derived.table)
        few = for_few(self._spark.session())
        rows = joined(framed(few, known), framed(few, more)).toArrow()
        return self._put(derived, rows.select(known.column_names).cast(derived.table.arrow))

    def _whole(self, derived: Derived) -> int:
        """Computes a table from all frames of its types."""
        scope = derived.scope
        seen = self._sighted.whole(scope, FEW if self._spark.is_local else 0)
        refused = frame_tables.none_refused(())
        many = seen is None or any(self._store.log.rows(one.name) > FEW for one in scope.made_of)
        if scope.refused and not many:
            refused = self._sighted.refused(scope.refused)
        if seen is None or many or refused.num_rows > FEW:
            return self._many(derived)
        return self._put(derived, self._few(derived, seen, refused))

    def _few(
        self, derived: Derived, seen: pa.Table, refused: pa.Table, touched: Removal | None = None
    ) -> pa.Table:
        """Computes rows of a table from rows in this process.

        Args:
            derived: The table.
            seen: The sightings.
            refused: The refused frames.
            touched: The rows that are wanted; all if it is None.
        """
        made_of = {one.name: self._there(one, touched) for one in derived.scope.made_of}
        given = [seen, refused] if derived.scope.looks_at else list(made_of.values())
        if not any(rows.num_rows for rows in given):
            return derived.table.arrow.empty_table()
        few = for_few(self._spark.session())
        inputs = Inputs(
            framed(few, project(seen, derived.scope.looks_at)),
            framed(few, project(refused, derived.scope.refused)),
            self._sighted.horizon_ms,
            lambda table: framed(few, made_of[table.name]),
        )
        rows = derived.compute(inputs).toArrow()
        return rows.select(derived.table.arrow.names).cast(derived.table.arrow)

    def _there(self, table: Table, touched: Removal | None = None) -> pa.Table:
        """The rows of a table, or those that were touched if it has the column that tells."""
        names = table.arrow.names
        if touched is None or touched.column not in table.key:
            found = [rows.cast(table.arrow) for _, rows in self._store.scan(table, names)]
        else:
            column, keys = touched
            held = self._store.holding(table, names, [column], keys)
            found = [rows.filter(touched.among(rows)).cast(table.arrow) for _, rows in held]
        return pa.concat_tables([table.arrow.empty_table(), *found])

    def _many(self, derived: Derived) -> int:
        """Has Spark compute a table from what it reads itself."""
        spark = self._spark.session()
        inputs = Inputs(
            stored.seen(spark, self._store, derived, self._upto),
            stored.refused(spark, self._store, derived, self._upto),
            self._sighted.horizon_ms,
            lambda table: self._store.read(spark, table),
        )
        rows = derived.compute(inputs)
        reached = self._reached[derived.table.name]
        return self._store.replace(
            derived.table, rows, app=APP, version=reached, also=_remade(reached)
        )

    def _put(self, derived: Derived, rows: pa.Table) -> int:
        """Makes rows all there is of a table, if they are not."""
        table, reached = derived.table, self._reached[derived.table.name]
        is_there = self._store.log.computed(table, APP) >= 0
        is_as_long = self._store.log.rows(table.name) == rows.num_rows
        if is_there and is_as_long and _sorted(table, self._there(table)) == _sorted(table, rows):
            return self._as_it_is(derived)
        return self._store.put(table, rows, app=APP, version=reached, also=_remade(reached))


def _remade(upto: int) -> dict[str, int]:
    return {CHANGED: upto, REMADE: upto}


def _sorted(table: Table, rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in table.key]).combine_chunks()
