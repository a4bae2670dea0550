"""The tables that ingest fills."""

from wireloom.pipeline import frame_tables


def test_every_column_has_a_meaning() -> None:
    for table in frame_tables.ingested():
        assert [column.name for column in table.columns if not column.meaning] == []


def test_a_refusal_stands_in_quarantine_only() -> None:
    frames = {column.name for column in frame_tables.frames().columns}
    quarantine = {column.name for column in frame_tables.quarantine().columns}
    assert {"reason", "detail", "offset"} <= quarantine
    assert not {"reason", "detail", "offset", "kind"} & frames
    assert {"raw", "decoder", "sighting"} <= quarantine & frames


def test_batched_frames_are_like_frames() -> None:
    assert frame_tables.batched().columns == frame_tables.frames().columns
    assert frame_tables.batched().name == "batched"
