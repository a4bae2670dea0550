"""Mycel DTN: the control messages of a delay-tolerant mesh and the bundles that carry them."""
