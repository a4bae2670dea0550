"""The three stages of a run."""
