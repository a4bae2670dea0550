"""How Cthun frames are recognised."""

import pytest

from protocols.cthun.samples import SAMPLES
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.recognition import RECOGNITION, begins


def test_every_frame_begins_with_version_and_envelope() -> None:
    assert all(begins(encode(message)) for message in SAMPLES.values())


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", False),
        (b"\x01", False),
        (b"\x01\x01", True),
        (b"\x01\xf1", True),
        (b"\x01\x02", False),
        (b"\x02\x01", False),
    ],
)
def test_twelve_bits_decide(raw: bytes, expected: bool) -> None:
    assert begins(raw) is expected
    assert RECOGNITION.chance == 1 / 4096


def test_brokers_are_known_by_two_paths_and_speak_in_binary_messages() -> None:
    assert RECOGNITION.web_paths == ("/cthun", "/pcp")
    assert not RECOGNITION.web_text
