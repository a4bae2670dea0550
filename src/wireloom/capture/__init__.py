"""The durable log of frames: immutable Arrow segments, one row a frame."""
