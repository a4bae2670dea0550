"""What goes wrong with tables is said in one sentence."""

from pathlib import Path

import click
import pyarrow as pa
import pytest
from deltalake.exceptions import CommitFailedError

from wireloom.cli.faults import explained
from wireloom.pipeline.alone import BusyError
from wireloom.pipeline.derived import FATES
from wireloom.pipeline.frame_tables import frames
from wireloom.pipeline.sharing import WorkersError
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Table
from wireloom.pipeline.taken import OutdatedError
from wireloom.remote import UnreachableError


@pytest.mark.parametrize(
    "error", [BusyError("so it is"), OutdatedError("so it is"), UnreachableError("so it is")]
)
def test_what_is_known_is_said_as_it_is(tmp_path: Path, error: Exception) -> None:
    with (
        pytest.raises(click.ClickException, match=r"^so it is\.$"),
        explained(TableStore(tmp_path)),
    ):
        raise error


def test_a_sentence_that_ends_is_not_ended_twice(tmp_path: Path) -> None:
    with pytest.raises(click.ClickException, match=r"^enough\.$"), explained(TableStore(tmp_path)):
        raise WorkersError("enough.")


def test_two_that_write_are_told_of_each_other(tmp_path: Path) -> None:
    said = pytest.raises(click.ClickException, match="another pipeline has written the tables")
    with said, explained(TableStore(tmp_path)):
        raise CommitFailedError("conflict")


@pytest.mark.parametrize(("table", "source"), [(FATES, r"anew\."), (frames(), "from the captures")])
def test_a_file_that_is_gone_is_named_with_what_to_do(
    tmp_path: Path, table: Table, source: str
) -> None:
    store = TableStore(tmp_path)
    store.put(table, table.arrow.empty_table(), app="a", version=0)
    path = store.written(table, pa.Table.from_pylist([{}], schema=table.arrow))
    store.log.commit(table, [path], {"a": 1})
    (tmp_path / table.name / path).unlink()
    said = pytest.raises(click.ClickException, match=f"{table.name} lacks .*{path}.*{source}")
    with said, explained(store):
        raise FileNotFoundError(path)


def test_what_is_not_known_is_raised_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), explained(TableStore(tmp_path)):
        raise ZeroDivisionError
