"""Attacks on our own servers, on this machine only."""
