"""Why a node does not start, or ends: both are one sentence for the operator."""


class ConfigError(Exception):
    """A setting cannot be what it is; the text says which and why."""


class NodeError(Exception):
    """The node cannot start or go on; the text says why."""
