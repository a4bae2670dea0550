"""Registers the data source `wireloom` with any Spark session by being installed."""

from wireloom.pipeline.source import WireloomSource as DefaultSource

__all__ = ["DefaultSource"]
