"""A peer of UEP-12 swarms, without input and output."""
