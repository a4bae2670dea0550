"""Wireloom speaks five message protocols and tells what happened to every message."""

__version__ = "0.1.0"
