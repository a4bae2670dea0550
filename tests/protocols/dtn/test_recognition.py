"""How DTN frames are recognised."""

import pytest

from protocols.dtn.samples import SAMPLES
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.recognition import RECOGNITION, begins


def test_every_frame_begins_as_a_map_or_as_a_bundle() -> None:
    assert all(begins(encode(message)) for message in SAMPLES.values())


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", False),
        (b"\xa1", True),
        (b"\x00", False),
        (bytes.fromhex("0001000000010000"), True),
        (bytes.fromhex("0001000100010000"), False),
    ],
)
def test_the_first_bytes_decide(raw: bytes, expected: bool) -> None:
    assert begins(raw) is expected


def test_its_first_bytes_say_little() -> None:
    assert RECOGNITION.chance > 1 / 8
