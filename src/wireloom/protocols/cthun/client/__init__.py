"""The client of a Cthun broker."""
