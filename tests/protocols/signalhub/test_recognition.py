"""How Signal Hub frames are recognised."""

import pytest

from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub.codec import encode, encode_msgpack
from wireloom.protocols.signalhub.recognition import RECOGNITION, begins


def test_every_frame_begins_as_an_object_or_a_map() -> None:
    for message in SAMPLES.values():
        assert begins(encode(message))
        assert begins(encode_msgpack(message))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(b"", False), (b' {"', True), (b"[]", False), (b"\x81", True), (b"\xde\0\0", True)],
)
def test_the_first_bytes_decide(raw: bytes, expected: bool) -> None:
    assert begins(raw) is expected


def test_nineteen_bytes_can_be_the_first() -> None:
    assert RECOGNITION.chance == 19 / 256


def test_a_hub_is_known_by_its_path_and_speaks_in_messages_of_both_kinds() -> None:
    assert RECOGNITION.web_paths == ("/hub",)
    assert RECOGNITION.web_text
