"""Names replaced."""

import hashlib
import hmac

from wireloom.capture.pseudonyms import Pseudonyms

KEY = bytes(range(16))


def test_a_pseudonym_is_the_beginning_of_an_hmac() -> None:
    whole = hmac.new(KEY, b"mesh-01", hashlib.sha256).hexdigest()
    assert Pseudonyms(KEY).of("mesh-01") == whole[:16]


def test_another_key_gives_another_name() -> None:
    assert Pseudonyms(KEY).of("a") != Pseudonyms(b"other").of("a")


def test_node_and_peer_are_replaced_alike_and_nothing_else_is() -> None:
    names = Pseudonyms(KEY)
    row = {"node": "a", "peer": "b", "link": "a", "raw": b"a"}
    assert names.applied(row) == {
        "node": names.of("a"),
        "peer": names.of("b"),
        "link": "a",
        "raw": b"a",
    }
    assert names.applied({"node": "b", "peer": None})["node"] == names.of("b")
    assert names.applied({"node": "b", "peer": None})["peer"] is None
