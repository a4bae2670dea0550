"""Cthun: messages of envelope, data and debug chunks that a broker carries between nodes."""
