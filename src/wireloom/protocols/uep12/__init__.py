"""UEP-12: messages of a swarm that refer to each other and carry a proof of work."""
