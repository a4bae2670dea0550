"""One pipeline at a time."""

import os
from pathlib import Path

import pytest

from wireloom.pipeline.alone import BusyError, alone
from wireloom.pipeline.store import TableStore


def test_a_second_pipeline_is_told_whose_tables_they_are(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "tables")
    with alone(store):
        said = pytest.raises(BusyError, match=rf"process {os.getpid()}\) works on the tables in")
        with said, alone(store):
            pass
        with alone(TableStore(tmp_path / "others")):
            pass
    with alone(store):
        pass


def test_on_object_storage_the_logs_decide(tmp_path: Path) -> None:
    store = TableStore(f"file://{tmp_path}")
    with alone(store), alone(store):
        assert list(tmp_path.iterdir()) == []
