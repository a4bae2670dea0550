"""The fast way of reading agrees with the codec on every input."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.signalhub.samples import SAMPLES
from protocols.signalhub.strategies import MESSAGES
from support.cases import vectors
from support.damage import flips
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.hub.connections import Actor
from wireloom.protocols.signalhub.hub.directory import Directory, Listing, StoredRegistration
from wireloom.protocols.signalhub.hub.encodings import wire_text
from wireloom.protocols.signalhub.hub.intake import Intake, KnownPublish, KnownSend
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.hub.topics import Topics
from wireloom.protocols.signalhub.messages import Publish, Send
from wireloom.wire.errors import WireError
from wireloom.wire.message import Message

HUB, ADA, BOB, TOPIC = "@(cloudflare/signal-hub)", "@(a/ada)", "@(b/bob)", "news"
SETTINGS = HubSettings(secret=bytes(32))
ID = "0a1b2c3d-0000-4000-8000-000000000001"


def intake(target: str = BOB, topic: str = TOPIC, hub: str = HUB) -> Intake:
    directory, topics, bob = Directory(SETTINGS), Topics(9), Actor(target)
    listing = Listing(
        actor_address=target,
        capabilities=(),
        metadata=msgspec.Raw(b"{}"),
        connection_id="c",
        registered_at=0,
        expires_at=1,
        version=1,
    )
    directory.put(
        bob,
        StoredRegistration(owner=target, listing=listing, ttl_ms=1, token="t", on_heartbeat=False),
    )
    topics.add(bob, topic, "", durable=False)
    return Intake(hub, directory, topics)


def agrees(raw: bytes, sender: str = ADA, reading: Intake | None = None) -> Message | None:
    """Whatever the codec says of it."""
    reading = reading or intake()
    try:
        expected = codec.decode(raw)
    except WireError as error:
        with pytest.raises(type(error)) as refused:
            reading.take(raw, {sender: wire_text(sender)})
        assert refused.value.reason is error.reason
        return None
    taken = reading.take(raw, {sender: wire_text(sender)})
    assert isinstance(taken, type(expected))
    assert msgspec.to_builtins(taken) == msgspec.to_builtins(expected)
    return taken


def send(**more: Any) -> dict[str, Any]:
    message = {"type": "line", "payload": {"text": "hello", "deep": [1, {"a": None}]}}
    return {
        "type": "hub:send",
        "id": ID,
        "from": ADA,
        "to": HUB,
        "pattern": "ask",
        "correlationId": None,
        "timestamp": 1_700_000_000_000,
        "payload": {"targetAddress": BOB, "message": message},
        "metadata": {},
        "ttl": 1_000,
        "signature": None,
        **more,
    }


def publish(**more: Any) -> dict[str, Any]:
    payload = {"topic": TOPIC, "message": {"type": "line", "payload": None}}
    return send(type="hub:publish", pattern="tell", payload=payload, **more)


def written(document: object) -> bytes:
    return msgspec.json.encode(document)


def test_ordinary_sends_and_publishes_go_the_fast_way() -> None:
    assert type(agrees(written(send()))) is KnownSend
    assert type(agrees(written(send(pattern="tell")))) is KnownSend
    assert type(agrees(written(publish()))) is KnownPublish


@pytest.mark.parametrize(
    "more",
    [
        {"from": BOB},
        {"from": "ada"},
        {"to": BOB},
        {"to": "hub"},
        {"id": ID[:-1]},
        {"id": ID + "\n"},
        {"correlationId": ID},
        {"correlationId": "x"},
        {"timestamp": -1},
        {"timestamp": 1.5},
        {"ttl": 0},
        {"pattern": "shout"},
        {"signature": 1},
        {"more": 1},
        {"metadata": {"requireAck": True}},
        {"metadata": {"requireAck": "yes"}},
        {"payload": {"targetAddress": "@(nobody)", "message": {"type": "t", "payload": 1}}},
        {"payload": {"targetAddress": "nobody", "message": {"type": "t", "payload": 1}}},
        {"payload": {"targetAddress": BOB, "message": {"type": "", "payload": 1}}},
        {"payload": {"targetAddress": BOB, "message": {"type": "t", "payload": 0.1}}},
        {"payload": {"topic": "no body", "message": {"type": "t", "payload": 1}}},
        {"payload": {"topic": "other", "message": {"type": "t", "payload": 1}}},
    ],
)
@pytest.mark.parametrize("pattern", ["ask", "tell"])
def test_it_agrees_with_the_codec_on_odd_fields(more: dict[str, Any], pattern: str) -> None:
    for document in (send(), publish()):
        agrees(written({**document, "pattern": pattern, **more}))


def test_what_writes_back_to_another_length_is_read_by_the_codec() -> None:
    raw = written(send())
    for spoilt in (
        raw.replace(b'"ttl":1000', b'"ttl":1000,"ttl":1000'),
        raw.replace(b'"text":"hello"', b'"text":"hello","text":"hello"'),
        raw.replace(b"hello", b"h\\u0065llo"),
        raw.replace(b"hello", b"h\xffllo"),
        raw + b" ",
        b" " + raw,
        raw[:-1],
        raw.replace(b'"payload":{"text"', b'"payload":' + b"[" * 200 + b"]" * 200 + b',"x":{"a"'),
    ):
        assert spoilt != raw
        assert type(agrees(spoilt)) is not KnownSend


@pytest.mark.parametrize("name", SAMPLES)
def test_it_agrees_with_the_codec_on_every_flip_of_a_sample(name: str) -> None:
    message = SAMPLES[name]
    assert isinstance(message, SharedMessage)
    raw = codec.encode(message)
    agrees(raw, message.from_)
    for spoilt in flips(raw):
        agrees(spoilt, message.from_)


@pytest.mark.parametrize("vector", vectors("signalhub"), ids=lambda vector: vector["name"])
def test_it_agrees_with_the_codec_on_every_vector(vector: dict[str, Any]) -> None:
    agrees(bytes.fromhex(vector["hex"]))


@given(st.one_of(MESSAGES["hub:send"], MESSAGES["hub:publish"]), st.data())
def test_it_agrees_with_the_codec_on_good_and_on_damaged_bytes(
    message: SharedMessage, data: st.DataObject
) -> None:
    target = message.payload.target_address if isinstance(message, Send) else BOB
    topic = message.payload.topic if isinstance(message, Publish) else TOPIC
    reading = intake(target, topic, message.to)
    raw = bytearray(codec.encode(message))
    agrees(bytes(raw), message.from_, reading)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    agrees(bytes(raw), message.from_, reading)


def test_the_fast_way_knows_the_address_that_the_hub_was_given() -> None:
    raw = msgspec.json.encode(send(to="@(east/hub)"))
    assert isinstance(intake(hub="@(east/hub)").take(raw, {ADA: wire_text(ADA)}), KnownSend)
    assert not isinstance(intake().take(raw, {ADA: wire_text(ADA)}), KnownSend)
