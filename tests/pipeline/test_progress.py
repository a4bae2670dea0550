"""Progress that nobody asked for."""

from wireloom.pipeline.progress import SILENT, TableStarted, silent


def test_silence_takes_any_progress() -> None:
    started: TableStarted = silent
    started("frames", 1, 20)
    SILENT.stage("ingest")
    SILENT.table("frames", 5)
