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


def test_all_that_names_somebody_is_replaced_alike_and_nothing_else_is() -> None:
    names = Pseudonyms(KEY)
    row = {"node": "a", "peer": "b", "swarm": "s", "link": "a", "protocol": "dtn", "raw": b"a"}
    assert names.applied(row) == {
        **row,
        "node": names.of("a"),
        "peer": names.of("b"),
        "swarm": names.of("s"),
    }
    absent = {**row, "peer": None, "swarm": None}
    assert names.applied(absent) == {**absent, "node": names.of("a")}


def test_names_within_frames_have_pseudonyms_of_their_length() -> None:
    names = Pseudonyms(KEY)
    row = {"node": "a", "peer": None, "swarm": None}
    for protocol, raw, name in (
        ("signalhub", b'{"to":"@(desk/bob)"}', b"desk/bob"),
        ("cthun", b'"cth://bob/agent"', b"bob"),
        (None, b'"cth://bob/agent"', b"bob"),
    ):
        applied = names.applied({**row, "protocol": protocol, "raw": raw})
        assert applied["raw"] == raw.replace(name, names.within(name))
        assert len(applied["raw"]) == len(raw)
    assert names.within(b"bob") != Pseudonyms(b"other").within(b"bob")
    assert names.within(b"b" * 400).isalnum()
