"""Payloads to their bytes and back, and what is wrong with other bytes."""

import pytest

from protocols.myriadmesh.samples import SAMPLES
from wireloom.protocols.myriadmesh.bodies import PUT, TAKE, put_body, take_ack
from wireloom.protocols.myriadmesh.constants import (
    AckType,
    Capability,
    Command,
    ContentType,
    ErrorCode,
    ExchangeType,
    MessageType,
    TestType,
)
from wireloom.protocols.myriadmesh.messages import (
    PARTS,
    TYPES,
    Ack,
    Control,
    Data,
    DataBatch,
    Discovery,
    Error,
    Frame,
    Heartbeat,
    KeyExchange,
    Payload,
    Sealed,
    TestRequest,
    TestResponse,
)
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import MalformedError, TruncatedError

KEY = bytes(range(32))

FORMS: list[tuple[MessageType, Payload, str]] = [
    (MessageType.DATA, Data(content_type=ContentType.JSON, data=b"{}"), "02 7b7d"),
    (MessageType.DATA, Data(content_type=ContentType.RAW, data=b""), "00"),
    (MessageType.CONTROL, Control(command=Command.PING, parameters=b"a"), "01 61"),
    (MessageType.CONTROL, Control(command=Command.NODE_STATUS), "04"),
    (
        MessageType.CONTROL,
        Error(
            error_code=ErrorCode.NODE_UNAVAILABLE,
            original_message_id=bytes(range(16)),
            error_description="ť",
        ),
        "05 0008 000102030405060708090a0b0c0d0e0f c5a5",
    ),
    (
        MessageType.DISCOVERY,
        Discovery(
            public_key=KEY,
            capabilities=Capability.LOCATION | Capability.VERSION_8,
            reserved_capabilities=0x8000_0010,
        ),
        KEY.hex() + "80008018 00",
    ),
    (
        MessageType.HEARTBEAT,
        Heartbeat(sequence_number=9, uptime=3600, load_average=655.35),
        "00000009 00000e10 ffff",
    ),
    (
        MessageType.KEY_EXCHANGE,
        KeyExchange(
            exchange_type=ExchangeType.ROTATE, ephemeral_public_key=KEY, nonce=b"\x0b" * 24
        ),
        "04" + KEY.hex() + "0b" * 24,
    ),
    (
        MessageType.TEST_REQUEST,
        TestRequest(test_type=TestType.RELIABILITY, test_id=b"\x0e" * 8, test_payload=b"ab"),
        "03" + "0e" * 8 + "0002 6162",
    ),
    (
        MessageType.TEST_RESPONSE,
        TestResponse(test_id=b"\x0e" * 8, echo_payload=b"ab"),
        "0e" * 8 + "6162",
    ),
]


@pytest.mark.parametrize(("type_", "payload", "form"), FORMS)
def test_a_payload_has_its_form_in_both_directions(
    type_: MessageType, payload: Payload, form: str
) -> None:
    raw = bytes.fromhex(form)
    assert put_body(payload) == raw
    reader = Reader(raw)
    assert TAKE[type_](reader) == payload
    reader.finish()


def test_an_ack_is_the_id_and_how_far_it_came() -> None:
    ack = Ack(original_message_id=b"\x07" * 16, ack_type=AckType.FAILED)
    assert put_body(ack) == b"\x07" * 16 + b"\x04"
    assert take_ack(Reader(put_body(ack))) == ack


@pytest.mark.parametrize(
    ("type_", "form", "offset"),
    [
        (MessageType.DATA, "05", 0),
        (MessageType.DATA, "ff", 0),
        (MessageType.CONTROL, "00", 0),
        (MessageType.CONTROL, "06", 0),
        (MessageType.CONTROL, "05 0000" + "00" * 16, 1),
        (MessageType.CONTROL, "05 0009" + "00" * 16, 1),
        (MessageType.CONTROL, "05 0001" + "00" * 16 + "61ff", 20),
        (MessageType.KEY_EXCHANGE, "00" * 57, 0),
        (MessageType.KEY_EXCHANGE, "05" + "00" * 56, 0),
        (MessageType.TEST_REQUEST, "00" + "00" * 10, 0),
        (MessageType.TEST_REQUEST, "04" + "00" * 10, 0),
    ],
)
def test_reserved_codes_and_bad_text_are_refused(
    type_: MessageType, form: str, offset: int
) -> None:
    with pytest.raises(MalformedError) as caught:
        TAKE[type_](Reader(bytes.fromhex(form)))
    assert caught.value.offset == offset


@pytest.mark.parametrize("code", [5, 255])
def test_a_reserved_ack_type_is_refused(code: int) -> None:
    with pytest.raises(MalformedError, match="ack_type"):
        take_ack(Reader(bytes(16) + bytes([code])))


@pytest.mark.parametrize("type_", [MessageType.DATA, MessageType.CONTROL])
def test_a_payload_without_its_first_byte_is_refused(type_: MessageType) -> None:
    with pytest.raises(TruncatedError):
        TAKE[type_](Reader(b""))


def test_a_test_payload_shorter_than_its_size_is_refused() -> None:
    with pytest.raises(TruncatedError, match="test_payload needs 3"):
        TAKE[MessageType.TEST_REQUEST](Reader(b"\x01" + bytes(8) + b"\x00\x03ab"))


def test_a_test_payload_longer_than_its_size_is_left_over() -> None:
    reader = Reader(b"\x01" + bytes(8) + b"\x00\x01ab")
    TAKE[MessageType.TEST_REQUEST](reader)
    assert reader.remaining == 1


@pytest.mark.parametrize("load", [-0.01, 655.36, float("nan"), float("inf")])
def test_a_load_that_two_bytes_do_not_hold_is_refused(load: float) -> None:
    with pytest.raises(MalformedError, match="load_average"):
        put_body(Heartbeat(sequence_number=0, uptime=0, load_average=load))


def test_a_load_is_rounded_to_hundredths() -> None:
    assert put_body(Heartbeat(sequence_number=0, uptime=0, load_average=1.254)).endswith(b"\0\x7d")


def test_a_control_cannot_have_the_command_error() -> None:
    with pytest.raises(MalformedError, match="has to be an Error"):
        put_body(Control(command=Command.ERROR))


@pytest.mark.parametrize(
    "wrong",
    [
        Discovery(public_key=KEY, capabilities=Capability(0x10)),
        Discovery(public_key=KEY, reserved_capabilities=0x100),
    ],
)
def test_capabilities_and_reserved_bits_stay_apart(wrong: Discovery) -> None:
    with pytest.raises(MalformedError, match="bits of each other"):
        put_body(wrong)


def test_reserved_capabilities_hold_32_bits() -> None:
    with pytest.raises(MalformedError, match="does not fit in 4"):
        put_body(Discovery(public_key=KEY, reserved_capabilities=1 << 32))


def test_any_capabilities_leave_few_flags_behind() -> None:
    """Python remembers each combination of flags for ever: only those with names may be made."""
    for bits in range(0, 1 << 32, 0x0101_0101):
        TAKE[MessageType.DISCOVERY](Reader(KEY + bits.to_bytes(4, "big") + b"\0"))
    assert len(Capability._value2member_map_) <= 1 << 12


def test_every_payload_has_both_directions() -> None:
    assert set(TAKE) == set(MessageType) - {MessageType.DATA_BATCH}
    assert set(PUT) == ({*TYPES.values(), *PARTS} & set(Payload.__subclasses__())) - {DataBatch}


def test_the_bytes_of_a_batch_are_not_made_here() -> None:
    batch = SAMPLES["DATA_BATCH"]
    assert isinstance(batch, Frame)
    with pytest.raises(MalformedError, match="DataBatch is not a payload"):
        put_body(batch.payload)


def test_sealed_bytes_are_put_as_they_are() -> None:
    assert put_body(Sealed(ciphertext=b"opaque")) == b"opaque"
