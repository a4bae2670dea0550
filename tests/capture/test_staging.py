"""Imports to object storage."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from capture.made import frame, sequences
from support.faults import Faults, Mood
from wireloom.capture import fanout
from wireloom.capture.claims import Claim, ClaimedError, claim, clashes, identity_of
from wireloom.capture.segment import segments
from wireloom.capture.staging import appending
from wireloom.remote import RemotePath, UnreachableError


@pytest.fixture
def folder(bucket: str) -> RemotePath:
    return RemotePath(bucket) / "captures"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is made on the way must be gone in the end."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    assert list(tmp_path.glob("wireloom-*")) == []


def test_frames_of_many_nodes_arrive_in_sealed_segments(folder: RemotePath) -> None:
    with appending(folder) as log:
        for number in range(20):
            log.append(frame(number, node=f"mesh-{number % 3}"))
    found = list(segments(folder))
    assert [one.node for one in found] == ["mesh-0", "mesh-1", "mesh-2"]
    assert all(one.sealed for one in found)
    assert len(sequences(folder)) == 20


def test_a_local_folder_is_written_in_place(tmp_path: Path) -> None:
    with appending(tmp_path / "captures") as log:
        log.append(frame())
    assert sequences(tmp_path / "captures") == [0]


def test_the_next_import_goes_on_in_the_same_log(folder: RemotePath) -> None:
    for number in range(3):
        with appending(folder) as log:
            log.append(frame(number))
            log.append(frame(number))
    found = list(segments(folder))
    assert [one.first_sequence for one in found] == [0, 2, 4]
    assert len({identity_of(one) for one in found}) == 1
    assert clashes(folder, found) == []
    assert sequences(folder) == [0, 1, 2, 3, 4, 5]


def test_what_is_sealed_is_sent_while_an_import_goes_on(
    folder: RemotePath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fanout, "MAX_BUFFERED_BYTES", 1)
    monkeypatch.setattr(fanout, "MAX_WRITERS", 1)
    with appending(folder) as log:
        log.append(frame(0, node="mesh-0"))
        log.append(frame(1, node="mesh-1"))
        assert [one.node for one in segments(folder)] == ["mesh-0"]
        assert list(tmp_path.glob("wireloom-*/mesh-0*.arrow")) == []
        log.append(frame(2, node="mesh-0"))
    assert sequences(folder) == [0, 1, 0]


def test_a_name_of_a_node_that_ships_there_is_refused(folder: RemotePath) -> None:
    claim(folder, Claim("mesh-01", "ab" * 16))
    with (
        pytest.raises(ClaimedError, match=f"mesh-01 belongs to the log {'ab' * 16} there"),
        appending(folder) as log,
    ):
        log.append(frame())
    assert list(segments(folder)) == []


def test_a_failure_keeps_what_was_taken(folder: RemotePath) -> None:
    with suppress(KeyboardInterrupt), appending(folder) as log:
        log.append(frame())
        raise KeyboardInterrupt
    assert sequences(folder) == [0]


def test_a_store_that_goes_away_is_told(faults: Faults, folder: RemotePath) -> None:
    with pytest.raises(UnreachableError):
        _fail(folder, faults)
    faults.heal()
    assert sequences(folder) == []


def _fail(folder: RemotePath, faults: Faults) -> None:
    with appending(folder) as log:
        log.append(frame())
        faults.fail(Mood.DROPPING)
