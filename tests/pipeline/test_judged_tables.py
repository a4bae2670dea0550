"""The tables that refine fills."""

import pytest

from wireloom.pipeline.judged_tables import KEYS, VERDICTS
from wireloom.pipeline.tables import Table
from wireloom.pipeline.verdicts import SCHEMA


@pytest.mark.parametrize("table", [KEYS, VERDICTS], ids=lambda table: table.name)
def test_every_column_has_a_meaning(table: Table) -> None:
    assert [column.name for column in table.columns if not column.meaning] == []


def test_workers_write_verdicts_as_they_are_declared() -> None:
    assert VERDICTS.arrow == SCHEMA
