"""Why a node does not start, or ends."""

from wireloom.live.errors import ConfigError, NodeError


def test_what_an_operator_set_wrong_is_told_from_what_failed() -> None:
    assert not issubclass(ConfigError, NodeError)
    assert not issubclass(NodeError, ConfigError)
    assert str(ConfigError("node.name is wrong")) == "node.name is wrong"
