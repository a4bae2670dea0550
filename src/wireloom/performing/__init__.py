"""Runs sessions: events in, commands performed, in whatever world they live."""
