"""Which of a batch and its checksum is damaged."""
