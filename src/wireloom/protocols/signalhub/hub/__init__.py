"""The live side of the Signal Hub: one session for all its connections."""
