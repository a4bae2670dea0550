"""Tiny: a protocol of lines, with the modules that a further protocol has to write."""
