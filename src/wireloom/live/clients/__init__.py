"""Clients of the Signal Hub and of the Cthun broker."""
