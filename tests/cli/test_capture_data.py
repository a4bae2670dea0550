"""Finding segments, and telling of damage."""

from pathlib import Path

import click
import pytest

from capture.made import log, spoil
from wireloom.capture.reader import NO_BATCH, Damage
from wireloom.cli.capture_data import Log, damage_sentence, kept_segments


def test_segments_of_all_nodes_or_of_some(tmp_path: Path) -> None:
    for node in "abc":
        log(tmp_path / "captures", node=node)
    assert [one.node for one in kept_segments(tmp_path)] == ["a", "b", "c"]
    assert [one.node for one in kept_segments(tmp_path, ("c", "a"))] == ["a", "c"]


def test_a_folder_that_cannot_be_listed_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "captures").mkdir()
    monkeypatch.setattr(Path, "iterdir", fail)
    with pytest.raises(click.ClickException, match=r"cannot be read: Permission denied\."):
        kept_segments(tmp_path)


def test_damage_is_remembered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment = log(tmp_path)
    reading = Log()
    assert len(list(reading.batches(segment))) == 3
    assert not reading.is_damaged
    spoil(segment.path, segment.sums()[0].end - 9)
    assert len(list(reading.batches(segment))) == 2
    assert reading.is_damaged
    assert "batch 0" in capsys.readouterr().err
    assert len(list(reading.batches(segment, start=2))) == 1


def test_damage_outside_of_batches_has_no_number(tmp_path: Path) -> None:
    segment = log(tmp_path)
    damage = Damage(segment, NO_BATCH, 0, 0, 0, "the schema is damaged")
    assert damage_sentence(damage) == f"{segment.path}: the schema is damaged"
