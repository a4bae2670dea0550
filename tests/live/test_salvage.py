"""Records out of a damaged store."""

import sqlite3
from pathlib import Path

from wireloom.live.salvage import is_sound, put_aside, salvage
from wireloom.live.store import RecordStore


def store(path: Path, count: int = 0) -> sqlite3.Connection:
    RecordStore(path).close()
    connection = sqlite3.connect(path, isolation_level=None)
    for number in range(1, count + 1):
        connection.execute(
            "INSERT INTO records VALUES (?, 'p', 'k', ?, x'00')", (number, f"{number}")
        )
    return connection


def test_a_good_store_is_sound_and_salvaged_whole(tmp_path: Path) -> None:
    old, new = store(tmp_path / "old.db", 10), store(tmp_path / "new.db")
    assert is_sound(old)
    assert salvage(old, new) == (10, 0)
    assert new.execute("SELECT count(*) FROM records").fetchone() == (10,)
    old.close()
    new.close()


def test_what_is_no_store_has_nothing_to_salvage(tmp_path: Path) -> None:
    old, new = sqlite3.connect(":memory:"), store(tmp_path / "new.db")
    count, gaps = salvage(old, new)
    assert count == 0
    assert gaps > 0
    old.close()
    assert not is_sound(old)
    new.close()


def test_a_damaged_store_replaces_no_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    for number in (1, 2):
        path.write_bytes(b"%d" % number)
        (tmp_path / "store.db-wal").write_bytes(b"log")
        assert put_aside(path) == tmp_path / f"store.db.damaged-{number}"
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "store.db.damaged-1",
        "store.db.damaged-1-wal",
        "store.db.damaged-2",
        "store.db.damaged-2-wal",
    ]
