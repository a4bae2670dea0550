"""Names out of frames, which keep their length and their form."""

from protocols.cthun.samples import SAMPLES
from wireloom.protocols.cthun import codec
from wireloom.protocols.cthun.redaction import redact, rename


def test_common_names_are_renamed_in_their_length() -> None:
    for message in SAMPLES.values():
        raw = codec.encode(message)
        shown = rename(raw, lambda name: b"z" * len(name))
        assert len(shown) == len(raw)
        codec.decode(shown)
        assert b"cth://c" not in shown


def test_the_broker_and_everybody_are_nobodys_names() -> None:
    raw = b'["cth:///server", "cth://*/agent", "cth:\\/\\/alice\\/agent", "cth://bob/agent"]'
    shown = rename(raw, lambda name: b"z" * len(name))
    assert (
        shown == b'["cth:///server", "cth://*/agent", "cth:\\/\\/zzzzz\\/agent", "cth://zzz/agent"]'
    )


def test_nothing_has_to_be_hidden() -> None:
    assert redact(b'{"authToken":"x"}') == b'{"authToken":"x"}'
