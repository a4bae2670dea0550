"""Analyse: every table of the catalogue comes to be."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.corpus import rows
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables
from wireloom.pipeline.derived import DERIVED, Derived
from wireloom.pipeline.judged_tables import KEYS, VERDICTS
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages import analyse as analysing
from wireloom.pipeline.stages.analyse import analyse, stalest
from wireloom.pipeline.stages.inputs import APP
from wireloom.pipeline.store import TableStore

SOME = [one for one in DERIVED if one.table.name in ("nodes", "fates", "traffic", "hub_topics")]


def test_every_table_is_there_with_its_columns(tables: Path) -> None:
    lake = Lake(tables)
    for table in (one.table for one in DERIVED):
        answer = lake.query(f'SELECT * FROM "{table.name}" LIMIT 0')
        assert answer.columns == [column.name for column in table.columns]


def test_keys_tell_rows_apart(tables: Path) -> None:
    lake = Lake(tables)
    for table in (one.table for one in DERIVED):
        if table.key:
            key = ", ".join(f'"{name}"' for name in table.key)
            (counted,) = lake.rows(
                f'SELECT count(*) AS n, count(DISTINCT ({key})) AS d FROM "{table.name}"'
            )
            assert counted["n"] == counted["d"], table.name


@pytest.fixture
def refined(tables: Path, tmp_path: Path) -> TableStore:
    """Tables as they are before they are analysed."""
    for table in (*frame_tables.ingested(), KEYS, VERDICTS):
        shutil.copytree(tables / table.name, tmp_path / table.name)
    return TableStore(tmp_path)


@pytest.mark.parametrize("few", [60_000, 0], ids=["gathered here", "read by Spark"])
def test_it_is_the_same_whoever_reads(
    spark: SparkSession,
    tables: Path,
    refined: TableStore,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
) -> None:
    monkeypatch.setattr(analysing, "FEW", few)
    analyse(Started(spark), refined, on_table=lambda *_: None, tables=SOME)
    for one in SOME:
        assert rows(Path(refined.root), one.table.name) == rows(tables, one.table.name)


def test_each_table_is_told_when_it_begins_and_when_it_is_committed(
    spark: SparkSession, refined: TableStore
) -> None:
    begun: list[tuple[str, int, int]] = []
    committed: dict[str, int] = {}

    def on_table(name: str, count: int) -> None:
        assert refined.log.rows(name) == count
        committed[name] = count

    def on_start(name: str, place: int, count: int) -> None:
        begun.append((name, place, count))

    analyse(Started(spark), refined, on_table=on_table, on_start=on_start, tables=SOME)
    names = [one.table.name for one in SOME]
    assert sorted(begun) == sorted((name, names.index(name) + 1, 4) for name in names)
    assert set(committed) == set(names)


def test_a_transform_that_fails_ends_it_with_its_error(
    spark: SparkSession, refined: TableStore
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    nodes, fates, traffic, topics = (one.table.name for one in SOME)
    tables = [
        one._replace(compute=fail) if one.table.name == nodes else one  # type: ignore[arg-type]
        for one in SOME
    ]
    with pytest.raises(ZeroDivisionError):
        analyse(Started(spark), refined, on_table=lambda *_: None, tables=tables)
    assert refined.log.version(nodes) == refined.log.version(fates) == -1
    analyse(Started(spark), refined, on_table=lambda *_: None, tables=SOME)
    for name in (nodes, fates, traffic, topics):
        assert refined.log.version(name) >= 0


def test_the_table_that_is_furthest_behind_is_the_stalest(refined: TableStore) -> None:
    assert stalest(refined, SOME) == SOME[0]
    for place, one in enumerate(SOME):
        assert stalest(refined, SOME) == one
        refined.log.commit(one.table, [], {APP: 0})
        assert (stalest(refined, SOME) is None) is (place == len(SOME) - 1)


def test_a_table_never_runs_ahead_of_those_that_it_is_made_of(
    spark: SparkSession, refined: TableStore
) -> None:
    by_name = {one.table.name: one for one in DERIVED}
    links, parts = by_name["links"], [by_name[name] for name in ("nodes", "crossings", "echoes")]

    def bring(*tables: Derived) -> None:
        analyse(Started(spark), refined, on_table=lambda *_: None, tables=tables)

    bring(links)
    assert refined.log.computed(links.table, APP) == -1
    assert stalest(refined, [links]) is None
    bring(*parts)
    assert stalest(refined, [links]) == links
    bring(links)
    assert refined.log.computed(links.table, APP) == refined.log.computed(parts[1].table, APP) >= 0
    assert refined.log.rows("links") > 0
