"""Bulk traffic of all five protocols from a seed, and the truth about every message in it."""
