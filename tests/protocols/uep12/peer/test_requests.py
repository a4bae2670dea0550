"""What the application may ask."""

from wireloom.protocols.uep12.peer.requests import Confirm, Post


def test_without_a_name_the_first_swarm_is_meant() -> None:
    assert Post(id="a", payload=b"", ttl_epoch=1).swarm == ""
    assert Confirm(msg_hash=b"").swarm == ""
