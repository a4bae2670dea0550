"""The tables that ingest fills."""

from wireloom.pipeline import declared


def test_every_column_has_a_meaning() -> None:
    for table in declared.ingested():
        assert [column.name for column in table.columns if not column.meaning] == []


def test_a_refusal_stands_in_quarantine_only() -> None:
    frames = {column.name for column in declared.frames().columns}
    quarantine = {column.name for column in declared.quarantine().columns}
    assert {"reason", "detail", "offset"} <= quarantine
    assert not {"reason", "detail", "offset", "kind"} & frames
    assert {"raw", "decoder", "sighting"} <= quarantine & frames


def test_batched_frames_are_like_frames() -> None:
    assert declared.batched().columns == declared.frames().columns
    assert declared.batched().name == "batched"
