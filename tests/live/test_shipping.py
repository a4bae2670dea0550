"""Sealed segments on their way to where many logs come together."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from capture.made import frame, sequences
from support.faults import Faults, Mood
from wireloom.capture.receipts import Receipts
from wireloom.capture.retention import Bounds, prune
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.live.shipping import MAX_PAUSE, Shipper
from wireloom.remote import AnyPath, RemotePath


@pytest.fixture(params=["local", "remote"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> AnyPath:
    if request.param == "local":
        return tmp_path / "shared"
    return RemotePath(request.getfixturevalue("bucket")) / "shared"


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[CaptureWriter]:
    with CaptureWriter(tmp_path / "here", "mesh-01") as writer:
        yield writer


def captured(writer: CaptureWriter, number: int) -> None:
    """One more sealed segment."""
    writer.append(frame(number))
    writer.seal()


def shipper(writer: CaptureWriter, folder: Path, target: AnyPath) -> Shipper:
    return Shipper(folder / "here", "mesh-01", writer.identity, target)


def test_what_is_sealed_is_sent_and_may_be_deleted(
    writer: CaptureWriter, target: AnyPath, tmp_path: Path
) -> None:
    ship = shipper(writer, tmp_path, target)
    captured(writer, 0)
    captured(writer, 1)
    writer.append(frame(2))
    writer.flush()
    ship.look()
    assert (ship.shipped, ship.waiting, ship.failures, ship.failure) == (2, 0, 0, None)
    assert sequences(target) == [0, 1]
    receipts = Receipts(tmp_path / "here")
    assert [receipts.cover(one) for one in segments(tmp_path / "here")] == [True, True, False]
    pruned = prune(tmp_path / "here", Bounds(max_bytes=0), now=0.0)
    assert len(pruned.deleted) == 2
    ship.look()
    assert ship.shipped == 2
    assert sequences(target) == [0, 1]


def test_a_start_goes_on_where_another_ended(
    writer: CaptureWriter, target: AnyPath, tmp_path: Path
) -> None:
    captured(writer, 0)
    shipper(writer, tmp_path, target).look()
    captured(writer, 1)
    ship = shipper(writer, tmp_path, target)
    ship.look()
    assert ship.shipped == 1
    assert sequences(target) == [0, 1]


def test_what_was_deleted_there_is_not_sent_again(
    writer: CaptureWriter, target: AnyPath, tmp_path: Path
) -> None:
    captured(writer, 0)
    shipper(writer, tmp_path, target).look()
    for segment in segments(target):
        segment.path.unlink()
        segment.sums_path.unlink()
    shipper(writer, tmp_path, target).look()
    assert sequences(target) == []


def test_the_receipt_is_about_the_own_node_only(
    writer: CaptureWriter, target: AnyPath, tmp_path: Path
) -> None:
    with CaptureWriter(tmp_path / "here", "other") as other:
        other.append(frame(node="other"))
    captured(writer, 0)
    shipper(writer, tmp_path, target).look()
    receipts = Receipts(tmp_path / "here")
    covered = {one.node: receipts.cover(one) for one in segments(tmp_path / "here")}
    assert covered == {"mesh-01": True, "other": False}
    assert [one.node for one in segments(target)] == ["mesh-01"]


def test_a_second_node_of_a_name_ships_nothing_and_says_so_once(
    writer: CaptureWriter, target: AnyPath, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    captured(writer, 0)
    shipper(writer, tmp_path, target).look()
    with CaptureWriter(tmp_path / "b" / "here", "mesh-01", begin=lambda: 50) as second:
        captured(second, 1)
        ship = shipper(second, tmp_path / "b", target)
        ship.look()
        ship.look()
        assert (ship.shipped, ship.waiting, ship.failures) == (0, 1, 2)
        said = str(ship.failure)
        assert writer.identity in said
        assert second.identity in said
        assert "the name mesh-01 belongs to the log" in said
    assert len(caplog.records) == 1
    assert sequences(target) == [0]


@pytest.mark.parametrize("mood", [Mood.BUSY, Mood.DROPPING])
def test_a_store_that_is_away_costs_nothing_and_is_told_once(
    writer: CaptureWriter,
    faults: Faults,
    bucket: str,
    tmp_path: Path,
    mood: Mood,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    ship = shipper(writer, tmp_path, RemotePath(bucket))
    captured(writer, 0)
    faults.fail(mood)
    ship.look()
    captured(writer, 1)
    ship.look()
    assert (ship.shipped, ship.waiting, ship.failures) == (0, 2, 2)
    assert "cannot be reached" in str(ship.failure)
    faults.heal()
    ship.look()
    assert (ship.shipped, ship.waiting, ship.failure) == (2, 0, None)
    assert sequences(RemotePath(bucket)) == [0, 1]
    events = [one.getMessage().partition(":")[0] for one in caplog.records]
    assert events == ["segments are not shipped", "segments are shipped again"]


def test_pauses_after_failures_get_longer_up_to_a_bound(
    writer: CaptureWriter, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    ship = shipper(writer, tmp_path, tmp_path / "file")
    pauses = []
    for _ in range(9):
        ship.look()
        pauses.append(ship.pause)
    assert pauses[:3] == [10, 20, 40]
    assert pauses[-1] == MAX_PAUSE


def test_a_stop_ships_what_is_sealed_by_then(
    writer: CaptureWriter, target: AnyPath, tmp_path: Path
) -> None:
    ship = shipper(writer, tmp_path, target)
    ship.start()
    captured(writer, 0)
    ship.close(60.0)
    assert not ship.is_at_work
    assert sequences(target) == [0]


def test_a_stop_does_not_wait_longer_than_it_may(
    writer: CaptureWriter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from threading import Event

    held, under_way = Event(), Event()

    def hanging(*_: object) -> int:
        under_way.set()
        held.wait()
        return 0

    monkeypatch.setattr("wireloom.live.shipping.send", hanging)
    captured(writer, 0)
    ship = shipper(writer, tmp_path, tmp_path / "there")
    ship.start()
    assert under_way.wait(60.0)
    ship.close(0.0)
    assert ship.is_at_work
    assert caplog.records[-1].getMessage().startswith("1 segments are not shipped yet")
    held.set()
    ship.close(60.0)
    assert not ship.is_at_work
