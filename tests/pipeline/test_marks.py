"""What files hold is known after one look, and what they do not hold is never missed."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.pipeline import marks
from wireloom.pipeline.marks import Marks

COLUMNS = ("id", "reply_to")


class Folder:
    """Files, and how often each was opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opened: list[str] = []

    def write(self, name: str, ids: list[str | None]) -> None:
        rows = pa.table(
            {"id": pa.array(ids, pa.string()), "reply_to": pa.nulls(len(ids), pa.string())}
        )
        pq.write_table(rows, self.path / name, row_group_size=2)

    def open(self, name: str) -> pq.ParquetFile:
        self.opened.append(name)
        return pq.ParquetFile(self.path / name)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.write("a", ["1", "2", "3", None])
    made.write("b", ["4", "5"])
    return made


def ask(known: Marks, folder: Folder, *values: str, files: str = "ab") -> dict[str, list[int]]:
    return known.holding("t", COLUMNS, pa.array(values, pa.string()), files, folder.open)


def test_row_groups_are_found(folder: Folder) -> None:
    known = Marks()
    assert ask(known, folder, "3") == {"a": [1]}
    assert ask(known, folder, "1", "3", "5", "9") == {"a": [0, 1], "b": [0]}
    assert ask(known, folder, "9") == {}
    assert ask(known, folder) == {}


def test_a_file_is_opened_once(folder: Folder) -> None:
    known = Marks()
    for value in ("1", "4", "7"):
        ask(known, folder, value)
    assert folder.opened == ["a", "b"]


def test_a_file_that_is_gone_is_forgotten(folder: Folder) -> None:
    known = Marks()
    ask(known, folder, "1")
    assert ask(known, folder, "1", files="b") == {}
    assert ask(known, folder, "1") == {"a": [0]}
    assert folder.opened == ["a", "b", "a"]


def test_memory_is_bounded(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MOST", 4)
    known = Marks()
    for _ in range(2):
        assert ask(known, folder, "4") == {"b": [0]}
    assert folder.opened == ["a", "b", "b"]


def test_values_within_structs_are_found(folder: Folder) -> None:
    rows = pa.table(
        {"hub": [{"about": {"id": "7"}}, {"about": None}, None, {"about": {"id": "8"}}]}
    )
    pq.write_table(rows, folder.path / "n", row_group_size=2)
    known = Marks()
    for value, groups in (("7", {"n": [0]}), ("8", {"n": [1]}), ("9", {})):
        found = known.holding("t", ["hub.about.id"], pa.array([value]), ["n"], folder.open)
        assert found == groups
    assert folder.opened == ["n"]


@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3), max_size=4))
def test_nothing_is_missed(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str | None], wanted: list[str]
) -> None:
    folder = Folder(tmp_path_factory.mktemp("marks"))
    folder.write("a", ids)
    holding = {place // 2 for place, id_ in enumerate(ids) if id_ in wanted}
    assert holding <= set(ask(Marks(), folder, *wanted, files="a").get("a", []))
