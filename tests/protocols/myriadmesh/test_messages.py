import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from protocols.myriadmesh.samples import DATA, HEARTBEAT, SAMPLES, frame
from protocols.myriadmesh.strategies import MESSAGES
from support.cases import vectors
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.constants import Flags, MessageType
from wireloom.protocols.myriadmesh.messages import PARTS, TYPES, DataBatch, Frame, Payload
from wireloom.wire.message import Message

BANDS = [v for v in vectors("myriadmesh") if v.get("check") == "priority"]


def test_every_type_is_named() -> None:
    assert list(TYPES) == [type_.name for type_ in MessageType]


def test_every_payload_is_a_type_or_a_part() -> None:
    assert set(Payload.__subclasses__()) <= {*TYPES.values(), *PARTS}


@given(st.one_of(*MESSAGES.values()))
def test_size_and_payload_length_are_those_of_the_bytes(message: Message) -> None:
    assert isinstance(message, Frame)
    raw = encode(message)
    assert message.size == len(raw)
    assert message.payload_length == int.from_bytes(raw[9:11], "big")


def test_the_size_is_not_known_before_compression() -> None:
    compressed = SAMPLES["DATA compressed"]
    assert isinstance(compressed, Frame)
    assert compressed.payload_length is not None
    unpacked = replace(compressed, compressed=None)
    assert unpacked.payload_length is None
    assert unpacked.size is None
    batch = frame(DataBatch(messages=(frame(DATA), unpacked)))
    assert batch.payload_length is None


def test_the_version_is_one() -> None:
    assert frame(HEARTBEAT).version == 1


def test_a_frame_has_no_flags_unless_given() -> None:
    assert frame(HEARTBEAT).flags == Flags(0)


@pytest.mark.parametrize("vector", BANDS, ids=lambda vector: vector["name"])
def test_band_vector_holds(vector: dict[str, dict[str, list[str]]]) -> None:
    priorities = bytes.fromhex(str(vector["hex"]))
    bands = [frame(HEARTBEAT, priority=priority).band.name for priority in priorities]
    assert bands == vector["expect"]["bands"]
