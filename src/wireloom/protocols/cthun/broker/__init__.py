"""The live side of the Cthun broker: one session for all its connections."""
