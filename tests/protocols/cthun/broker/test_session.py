"""The broker, rule by rule, as its clients see it."""

from typing import Any

import pytest
from msgspec.structs import replace

from protocols.cthun.outside import checks
from protocols.cthun.samples import HOP
from protocols.cthun.transcript import SERVER, START_MS, TRUSTING, Client, Stage
from support.commands import commands_after
from wireloom.protocols.cthun.broker.session import BrokerSession
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.codec import decode, encode
from wireloom.protocols.cthun.constants import BROKER_URI, MessageType
from wireloom.protocols.cthun.messages import (
    AssociateRequest,
    AssociateResponse,
    BrokerData,
    DebugChunk,
    DestinationReport,
    ErrorMessage,
    InventoryRequest,
    InventoryResponse,
    Packet,
    TtlExpired,
)
from wireloom.protocols.cthun.times import text_of
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Admit,
    Alive,
    Close,
    Closed,
    Conclude,
    Congested,
    Event,
    FrameReceived,
    FrameRefused,
    Opened,
    Requested,
    Send,
    Stopping,
    TimerFired,
)

CERTIFIED = BrokerSettings(uri=SERVER)
SECOND, MINUTE = 1_000, 60_000


def inventory(stage: Stage, who: Client, *query: str, **more: Any) -> Packet:
    data = InventoryRequest(query=query)
    return stage.request(who, MessageType.INVENTORY_REQUEST, data, **more)


# Association.


def test_a_client_associates_under_its_certificates_name() -> None:
    stage = Stage(CERTIFIED)
    alice = stage.opens("alice", identity="alice.example.com").associates()
    concluded = stage.concludes("accepted", peer="cth://alice.example.com/agent")
    assert concluded.type == MessageType.ASSOCIATE_REQUEST
    answer = alice.hears(AssociateResponse(id=stage.request_id, success=True))
    assert answer.envelope.targets == (alice.uri,)


def test_on_loopback_a_client_without_certificate_is_whoever_it_says() -> None:
    stage = Stage(TRUSTING)
    stage.join("alice")
    stage.is_quiet()


def test_a_certificate_counts_even_where_senders_are_trusted() -> None:
    stage = Stage(TRUSTING)
    mallory = stage.opens("alice", identity="mallory.example.com").associates()
    stage.concludes("rejected", "unauthenticated")
    mallory.is_cut(4002, "association unsuccessful")


def test_a_connection_without_certificate_is_closed_with_4003() -> None:
    stage = Stage(CERTIFIED)
    stage.opens("alice").is_cut(4003, "no client certificate")


def test_nothing_counts_on_a_connection_that_is_being_closed() -> None:
    stage = Stage(CERTIFIED)
    alice = stage.opens("alice").associates()
    assert stage.concludes("rejected", "unauthenticated").peer is None
    stage.happens(Congested(alice.line, 9, 9))
    stage.happens(Alive(alice.line))
    stage.passes(MINUTE)
    stage.is_quiet()


def test_a_client_cannot_associate_as_another() -> None:
    stage = Stage(CERTIFIED)
    mallory = stage.opens("alice", identity="mallory.example.com").associates()
    stage.concludes("rejected", "unauthenticated")
    reason = "Message not authenticated"
    mallory.hears(AssociateResponse(id=stage.request_id, success=False, reason=reason))
    mallory.is_cut(4002, "association unsuccessful")


@pytest.mark.parametrize("uri", ["cth://alice.example.com/server", BROKER_URI])
def test_nobody_can_associate_as_a_broker(uri: str) -> None:
    stage = Stage(TRUSTING)
    mallory = stage.opens(uri).associates()
    stage.concludes("rejected", "unauthenticated")
    reason = "Message not authenticated"
    mallory.hears(AssociateResponse(id=stage.request_id, success=False, reason=reason))
    mallory.is_cut(4002, "association unsuccessful")


def test_a_second_association_on_a_connection_fails_and_ends_it() -> None:
    stage = Stage()
    alice = stage.join("alice").associates()
    stage.concludes("rejected", "duplicate", peer=alice)
    reason = "Session already associated"
    alice.hears(AssociateResponse(id=stage.request_id, success=False, reason=reason))
    alice.is_cut(4002, "association unsuccessful")
    bob = stage.join("bob")
    bob.sends(inventory(stage, bob, "cth://*/*")).hears(InventoryResponse(uris=(bob.uri,)))


def test_a_new_connection_supersedes_the_old_one() -> None:
    stage = Stage()
    old, bob = stage.join("alice"), stage.join("bob")
    new = stage.join("alice")
    old.is_cut(4000, "superseded")
    letter = stage.letter(bob, to=[new])
    bob.sends(letter)
    new.gets_letter(letter, "accepted", "deliver")
    stage.concludes("forwarded")
    bob.sends(inventory(stage, bob, new.uri)).hears(InventoryResponse(uris=(new.uri,)))


def test_an_association_may_come_with_an_empty_data_chunk() -> None:
    stage = Stage()
    alice = stage.opens("alice")
    request = stage.envelope(alice.uri, [BROKER_URI], MessageType.ASSOCIATE_REQUEST)
    alice.sends(Packet(envelope=request, data=AssociateRequest()))
    alice.hears(AssociateResponse(id=request.id, success=True))


@pytest.mark.parametrize("targets", [(BROKER_URI,), (SERVER,), ()])
def test_an_association_goes_to_the_broker_by_either_name(targets: tuple[str, ...]) -> None:
    stage = Stage()
    alice = stage.opens("alice").associates(targets=targets)
    alice.hears(AssociateResponse(id=stage.request_id, success=True))


def test_an_association_with_somebody_else_is_refused() -> None:
    stage = Stage()
    alice = stage.opens("alice").associates(targets=("cth://bob.example.com/agent",))
    stage.concludes("rejected", "unauthorized")
    reason = "Message not authorized"
    alice.hears(AssociateResponse(id=stage.request_id, success=False, reason=reason))
    alice.is_cut(4002, "association unsuccessful")


def test_an_association_that_has_expired_is_refused() -> None:
    stage = Stage()
    alice = stage.opens("alice").associates(expires=text_of(START_MS))
    stage.concludes("expired")
    reason = "Message expired"
    alice.hears(AssociateResponse(id=stage.request_id, success=False, reason=reason))
    alice.is_cut(4002, "association unsuccessful")


def test_an_association_admits_the_client() -> None:
    stage = Stage()
    alice = stage.opens("alice")
    alice.sends(b"nonsense")
    assert Admit(alice.line) not in stage.commands
    alice.associates()
    assert Admit(alice.line) in stage.commands


def test_a_frame_that_the_link_did_not_read_is_answered() -> None:
    stage = Stage()
    alice = stage.opens("alice")
    stage.happens(FrameRefused(alice.line, 70_000, b"\x01", text=False, limit=65_536))
    stage.concludes("rejected", "too_large")
    words = "Message has 70000 bytes, at most 65536 are taken"
    alice.hears_error(f"{words} before an association")
    alice.associates().inbox.clear()
    stage.concludes("accepted")
    stage.happens(FrameRefused(alice.line, 70_000, b"\x01", text=False, limit=65_536))
    stage.concludes("rejected", "too_large", peer=alice)
    alice.hears_error(words)
    alice.leaves()
    stage.happens(FrameRefused(alice.line, 70_000, b"\x01", text=False, limit=65_536))
    stage.concludes("rejected", "unauthenticated")


def test_before_its_association_a_client_can_say_little() -> None:
    stage = Stage()
    alice = stage.opens("alice")
    for _ in range(8):
        alice.sends(b"nonsense").hears_error("Could not decode message")
        stage.concludes("rejected", "unsupported_version")
    alice.sends(b"nonsense")
    stage.concludes("rejected", "rate_limited")
    alice.is_cut(4002, "too much before an association")
    bob = stage.join("bob")
    for _ in range(20):
        bob.sends(b"nonsense").hears_error("Could not decode message")
    assert bob.is_open


def test_before_its_association_a_client_can_say_nothing_large() -> None:
    assert TRUSTING.early_size == 64 * 1024
    stage = Stage(replace(TRUSTING, early_size=1_000))
    alice = stage.opens("alice")
    alice.sends(bytes(1_001))
    words = "Message has 1001 bytes, at most 1000 are taken"
    alice.hears_error(f"{words} before an association")
    stage.concludes("rejected", "too_large")
    alice.associates().hears(AssociateResponse(id=stage.request_id, success=True))
    letter = stage.letter(alice, to=[alice], data=bytes(1_001))
    alice.sends(letter).gets_letter(letter, "accepted", "deliver")


def test_a_uri_has_a_bounded_length() -> None:
    stage = Stage(replace(TRUSTING, max_uri_size=30))
    stage.join("cth://alice.example.com/a23456")
    alice = stage.opens("cth://alice.example.com/a234567").associates()
    stage.concludes("rejected", "too_large")
    alice.is_cut(4002, "association unsuccessful")


def test_a_connection_that_does_not_associate_in_15_seconds_is_closed() -> None:
    stage = Stage()
    silent, alice = stage.opens("silent"), stage.join("alice")
    stage.passes(15 * SECOND - 1)
    assert silent.is_open
    stage.passes(1)
    silent.is_cut(4002, "association timed out")
    assert alice.is_open


def test_garbage_does_not_delay_the_end_of_a_connection_that_does_not_associate() -> None:
    stage = Stage()
    mallory = stage.opens("mallory")
    stage.passes(14 * SECOND)
    mallory.sends(b"garbage").hears_error("Could not decode message")
    stage.passes(SECOND)
    mallory.is_cut(4002, "association timed out")


def test_before_its_association_a_client_can_send_nothing() -> None:
    stage = Stage()
    bob = stage.join("bob")
    alice = stage.opens("alice")
    letter = stage.letter(alice, to=[bob])
    answer = alice.sends(letter).hears_error("Message not authenticated", about=letter)
    assert answer.envelope.targets == ()
    assert stage.concludes("rejected", "unauthenticated").peer is None
    request = inventory(stage, alice, "cth://*/*")
    alice.sends(request).hears_error("Message not authenticated", about=request)
    stage.concludes("rejected", "unauthenticated")
    alice.associates().hears(AssociateResponse(id=stage.request_id, success=True))
    stage.concludes("accepted")
    stage.is_quiet()


# Who may say what.


@pytest.mark.parametrize(
    "sender",
    ["cth://bob.example.com/agent", "cth://alice.example.com/controller", SERVER, BROKER_URI],
)
def test_a_message_in_anothers_name_is_refused(sender: str) -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(sender, to=[bob])
    alice.sends(letter).hears_error("Message not authenticated", about=letter)
    stage.concludes("rejected", "unauthenticated", peer=alice)
    stage.is_quiet()


def test_a_refused_copy_of_anothers_message_is_not_called_by_its_id() -> None:
    stage = Stage()
    alice, mallory = stage.join("alice"), stage.join("mallory")
    letter = stage.letter(alice, to=["cth://bob.example.com/agent"])
    alice.sends(letter)
    stage.concludes("queued")
    mallory.sends(letter).hears_error("Message not authenticated")
    stage.concludes("rejected", "unauthenticated", peer=mallory)
    stage.crashes()
    mallory = stage.opens("mallory").sends(letter)
    mallory.hears_error("Message not authenticated")


ID = "5f6b8a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b"
BROKER_TALK: dict[MessageType, BrokerData] = {
    MessageType.ASSOCIATE_RESPONSE: AssociateResponse(id=ID, success=True),
    MessageType.INVENTORY_RESPONSE: InventoryResponse(uris=()),
    MessageType.ERROR_MESSAGE: ErrorMessage(id=ID, description="no"),
    MessageType.DESTINATION_REPORT: DestinationReport(id=ID, targets=()),
    MessageType.TTL_EXPIRED: TtlExpired(id=ID),
}


@pytest.mark.parametrize("type_", BROKER_TALK)
@pytest.mark.parametrize("to", ["cth://bob.example.com/agent", BROKER_URI])
def test_what_only_a_broker_says_is_refused_of_a_client(type_: MessageType, to: str) -> None:
    stage = Stage()
    alice, _ = stage.join("alice"), stage.join("bob")
    said = stage.request(alice, type_, BROKER_TALK[type_], to=[to])
    alice.sends(said).hears_error("Message not authorized", about=said)
    assert stage.concludes("rejected", "unauthorized", peer=alice).type == type_
    stage.is_quiet()


def test_what_only_a_broker_says_is_unauthenticated_in_a_brokers_name() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    said = stage.request(BROKER_URI, MessageType.TTL_EXPIRED, TtlExpired(id=ID), to=[bob])
    alice.sends(said).hears_error("Message not authenticated", about=said)
    stage.concludes("rejected", "unauthenticated")
    stage.is_quiet()


def test_an_inventory_request_is_for_the_broker_only() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    for to in ([bob], [BROKER_URI, bob]):
        request = inventory(stage, alice, "cth://*/*", to=to)
        alice.sends(request).hears_error("Message not authorized", about=request)
        stage.concludes("rejected", "unauthorized")
    stage.is_quiet()


@pytest.mark.parametrize("to", [[BROKER_URI], [SERVER], ["cth://bob.example.com/agent", SERVER]])
def test_the_broker_takes_no_message_of_an_application(to: list[str]) -> None:
    stage = Stage()
    alice, _ = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=to)
    alice.sends(letter)
    alice.hears_error("Message type not handled by the broker", about=letter)
    stage.concludes("rejected", "unknown_type", peer=alice)
    stage.is_quiet()


# What cannot be read.


@checks("chunks")
def test_a_vector_that_is_no_message_is_answered_with_an_error(vector: dict[str, Any]) -> None:
    stage = Stage()
    alice = stage.join("alice")
    alice.sends(bytes.fromhex(vector["hex"])).hears_error("Could not decode message")
    assert stage.conclusions.pop().outcome == "rejected"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0",
        bytes([3, 3, 3, 3, 3]),
        bytes([1, 2]),
        bytes([1, 1, 0, 0, 0, 1, 12, 12, 12, 12]),
        bytes([1, 1, 0, 0, 0, 2, 123]),
    ],
)
def test_undecodable_bytes_are_answered_with_an_error_without_id(raw: bytes) -> None:
    stage = Stage()
    alice = stage.join("alice")
    answer = alice.sends(raw).hears_error("Could not decode message")
    assert answer.envelope.targets == (alice.uri,)
    reason = "unsupported_version" if raw[:1] not in (b"", b"\1") else "malformed"
    assert stage.concludes("rejected", reason, peer=alice).type is None
    assert alice.is_open


def test_text_is_no_message() -> None:
    stage = Stage()
    alice = stage.join("alice")
    alice.sends(stage.letter(alice, to=[alice]), text=True).hears_error("Could not decode message")
    stage.concludes("rejected", "malformed", peer=alice)


def test_a_message_has_a_greatest_size() -> None:
    stage = Stage(replace(TRUSTING, max_message_size=1_000))
    alice = stage.join("alice")
    letter = stage.letter(alice, to=[alice])
    fill = 1_000 - len(encode(letter))
    alice.sends(replace(letter, data=b"x" * (fill + 5)))
    stage.concludes("forwarded")
    letter = stage.letter(alice, to=[alice], data=b"x" * (fill + 6))
    alice.inbox.clear()
    alice.sends(letter).hears_error("Message has 1001 bytes, at most 1000 are taken")
    stage.concludes("rejected", "too_large")


def test_an_envelope_has_a_greatest_size_whatever_the_message_may_have() -> None:
    stage = Stage(replace(TRUSTING, max_envelope_size=1_000))
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob], data=bytes(100_000))
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")
    stage.concludes("forwarded")
    wide = stage.letter(alice, to=[f"cth://n{number}/agent" for number in range(100)])
    size = int.from_bytes(encode(wide)[2:6], "big")
    alice.sends(wide).hears_error(f"Envelope has {size} bytes, at most 1000 are taken")
    stage.concludes("rejected", "too_large", peer=alice)
    stage.is_quiet()


def test_a_message_type_has_a_bounded_length() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob], type_="t" * 256)
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")
    stage.concludes("forwarded")
    letter = stage.letter(alice, to=[bob], type_="t" * 257)
    alice.sends(letter).hears_error("Message type is too long", about=letter)
    stage.concludes("rejected", "too_large", peer=alice)
    stage.is_quiet()


def test_a_target_has_a_bounded_length() -> None:
    stage = Stage()
    alice = stage.join("alice")
    for targets in ([f"cth://{'n' * 1_024}/agent"], [alice, f"cth://*/{'n' * 1_024}"]):
        letter = stage.letter(alice, to=targets)
        alice.sends(letter).hears_error("Target is too long", about=letter)
        stage.concludes("rejected", "too_large", peer=alice)
    stage.is_quiet()


# Questions to the broker.


def test_an_inventory_request_has_a_bounded_number_of_patterns() -> None:
    stage = Stage()
    alice = stage.join("alice")
    patterns = [f"cth://*/type{number}" for number in range(1_000)]
    alice.sends(inventory(stage, alice, *patterns)).hears(InventoryResponse(uris=()))
    stage.concludes("accepted")
    request = inventory(stage, alice, *patterns, "cth://*/*")
    alice.sends(request)
    alice.hears_error("Inventory request has too many patterns", about=request)
    stage.concludes("rejected", "too_large", peer=alice)


def test_data_for_the_broker_is_not_read_when_it_is_large() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    request = inventory(stage, alice, *["cth://*/agent"] * 20_000)
    size = len(encode(request)) - 11 - int.from_bytes(encode(request)[2:6], "big")
    words = f"Data has {size} bytes, at most 262144 are taken"
    alice.sends(request).hears_error(words, about=request)
    stage.concludes("rejected", "too_large", peer=alice)
    bob.sends(request).hears_error(words)  # in another's name: it is not called by its id
    stage.concludes("rejected", "too_large", peer=bob)


def test_who_asks_too_much_at_once_is_told_so() -> None:
    stage = Stage(replace(TRUSTING, unread_size=5_000))
    names = [f"cth://{'n' * 900}{number}/agent" for number in range(3)]
    alice, *_ = (stage.join(name) for name in ("alice", *names))
    stage.passes(1)
    for _ in range(2):
        request = inventory(stage, alice, "cth://*/*")
        alice.sends(request)
    assert len(alice.inbox) == 2
    request = inventory(stage, alice, "cth://*/*")
    alice.inbox.clear()
    alice.sends(request).hears_error("Too much was asked at once", about=request)
    letter = stage.letter(alice, to=["cth://*/agent"], destination_report=True)
    alice.sends(letter).hears_error("Too much was asked at once", about=letter)
    assert [stage.conclusions.popleft().reason for _ in range(4)][2:] == ["rate_limited"] * 2
    stage.passes(1)
    alice.sends(letter)
    stage.concludes("forwarded")


def test_an_inventory_is_right_after_somebody_came_or_went() -> None:
    stage = Stage()
    alice = stage.join("alice")
    for _ in range(3):
        bob = stage.join("bob")
        alice.sends(inventory(stage, alice, "cth://*/*"))
        alice.hears(InventoryResponse(uris=(alice.uri, bob.uri)))
        bob.leaves()
        alice.sends(inventory(stage, alice, "cth://*/*"))
        alice.hears(InventoryResponse(uris=(alice.uri,)))


# Point to point.


def test_a_message_goes_to_its_target_with_notes_of_its_way() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    stage.concludes("forwarded", peer=alice)
    raw = bob.gets_letter(letter, "accepted", "deliver")
    assert {hop.time for hop in decode(raw).hops} == {text_of(START_MS)}
    stage.is_quiet()


def test_a_frame_that_leaves_for_a_client_says_so() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    alice.sends(stage.letter(alice, to=[bob]))
    sent = [command for command in stage.commands if isinstance(command, Send)]
    assert [(send.line, send.outcome) for send in sent] == [(bob.line, "forwarded")]


def test_a_client_can_send_to_itself() -> None:
    stage = Stage()
    alice = stage.join("alice")
    for to in (alice.uri, "cth://*/agent", "cth://alice.example.com/*"):
        letter = stage.letter(alice, to=[to])
        alice.sends(letter).gets_letter(letter, "accepted", "deliver")
    stage.conclusions.clear()
    stage.is_quiet()


def test_earlier_notes_are_left_as_they_were() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    notes = (DebugChunk(hops=(HOP,)), DebugChunk(flags=9), DebugChunk(hops=()))
    letter = stage.letter(alice, to=[bob], debug_chunks=notes)
    alice.sends(letter)
    assert decode(bob.gets_letter(letter, "accepted", "deliver")).debug_chunks[:3] == notes
    away = stage.letter(alice, to=["cth://carol.example.com/agent"], debug_chunks=notes)
    alice.sends(away)
    carol = stage.join("carol")
    stages = ("accepted", "accept-to-queue", "redelivery", "deliver")
    assert decode(carol.gets_letter(away, *stages)).debug_chunks[:3] == notes


def test_reserved_bits_and_odd_spellings_are_carried_as_they_came() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = replace(stage.letter(alice, to=[bob]), envelope_flags=3, data_flags=1)
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")


@pytest.mark.parametrize("data", [None, b"", b"\x00\xff" * 300])
def test_data_is_carried_whatever_it_is(data: bytes | None) -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob], data=data, in_reply_to=ID, destination_report=False)
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")


@pytest.mark.parametrize("type_", ["", "http://puppetlabs.com/version_error", "x"])
def test_any_other_type_is_an_applications(type_: str) -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob], type_=type_)
    alice.sends(letter)
    assert stage.concludes("forwarded").type is None
    bob.gets_letter(letter, "accepted", "deliver")


def test_a_message_that_comes_again_is_not_delivered_again() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")
    stage.concludes("forwarded")
    alice.sends(letter)
    stage.concludes("duplicate", peer=alice)
    alice.leaves()
    again = stage.join("alice").sends(letter)
    stage.concludes("duplicate", peer=again)
    stage.is_quiet()


def test_another_client_may_use_the_same_id() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob])
    alice.sends(letter)
    bob.gets_letter(letter, "accepted", "deliver")
    mine = replace(letter, envelope=replace(letter.envelope, sender=bob.uri))
    bob.sends(mine).gets_letter(mine, "accepted", "deliver")


def test_a_message_that_was_refused_may_come_again() -> None:
    stage = Stage(replace(TRUSTING, held_count=1))
    alice = stage.join("alice")
    first, second = (stage.letter(alice, to=["cth://bob.example.com/agent"]) for _ in range(2))
    alice.sends(first).sends(second).hears_error("Message queue is full", about=second)
    bob = stage.join("bob")
    bob.inbox.clear()
    alice.sends(second)
    bob.gets_letter(second, "accepted", "deliver")


# Many targets.


def test_a_wildcard_reaches_all_that_match_and_nobody_else() -> None:
    stage = Stage()
    alice = stage.join("cth://alice.example.com/controller")
    agents = [stage.join(name) for name in ("c", "a", "b")]
    other = stage.join("cth://a.example.com/console")
    letter = stage.letter(alice, to=["cth://*/agent"])
    alice.sends(letter)
    stage.concludes("forwarded")
    assert len({agent.gets_letter(letter, "accepted", "deliver") for agent in agents}) == 1
    letter = stage.letter(alice, to=["cth://a.example.com/*"])
    alice.sends(letter)
    stage.concludes("forwarded")
    for client in (agents[1], other):
        client.gets_letter(letter, "accepted", "deliver")
    stage.is_quiet()


def test_who_is_named_twice_gets_one_message() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    letter = stage.letter(alice, to=[bob, bob, "cth://*/agent", "cth://*/*"])
    alice.sends(letter)
    for client in (alice, bob):
        client.gets_letter(letter, "accepted", "deliver")
    stage.conclusions.clear()
    stage.is_quiet()


def test_a_wildcard_that_nobody_matches_does_nothing() -> None:
    stage = Stage()
    alice = stage.join("alice")
    alice.sends(stage.letter(alice, to=["cth://*/controller", "cth://bob.example.com/*"]))
    stage.concludes("accepted", peer=alice)
    stage.passes(MINUTE)
    stage.is_quiet()
    assert not stage.stored


def test_a_message_without_targets_reaches_nobody() -> None:
    stage = Stage()
    alice = stage.join("alice")
    alice.sends(stage.letter(alice, to=[]))
    stage.concludes("accepted")
    report = stage.letter(alice, to=[], destination_report=True)
    alice.sends(report).hears(DestinationReport(id=report.envelope.id, targets=()))
    stage.concludes("accepted")
    stage.is_quiet()


def test_the_report_of_destinations_comes_before_the_delivery() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    away = "cth://aaron.example.com/agent"
    letter = stage.letter(alice, to=["cth://*/agent", away], destination_report=True)
    alice.sends(letter)
    uris = (away, alice.uri, bob.uri)
    alice.hears(DestinationReport(id=letter.envelope.id, targets=uris))
    alice.gets_letter(letter, "accepted", "deliver")
    bob.gets_letter(letter, "accepted", "deliver")
    stage.concludes("queued")
    stage.is_quiet()


def test_targets_have_a_greatest_number() -> None:
    stage = Stage(replace(TRUSTING, max_target_count=2))
    alice, bob = stage.join("alice"), stage.join("bob")
    alice.sends(stage.letter(alice, to=[bob, bob]))
    stage.concludes("forwarded")
    letter = stage.letter(alice, to=[bob] * 3)
    alice.sends(letter).hears_error("Message has too many targets", about=letter)
    stage.concludes("rejected", "too_large")


# The inventory.


def test_the_inventory_tells_who_of_those_asked_for_is_connected() -> None:
    stage = Stage()
    alice, bob = stage.join("cth://alice.example.com/controller"), stage.join("bob")
    cases: list[tuple[list[str], list[Client]]] = [
        (["cth://*/*"], [alice, bob]),
        (["cth://*/agent"], [bob]),
        (["cth://alice.example.com/*"], [alice]),
        ([bob.uri, alice.uri, bob.uri], [alice, bob]),
        ([bob.uri, "cth://carol.example.com/agent"], [bob]),
        (["cth://*/console"], []),
        ([BROKER_URI], []),
        ([], []),
    ]
    for query, found in cases:
        alice.sends(inventory(stage, alice, *query))
        alice.hears(InventoryResponse(uris=tuple(line.uri for line in found)))
        concluded = stage.concludes("accepted", peer=alice)
        assert concluded.type == MessageType.INVENTORY_REQUEST
    stage.is_quiet()


def test_the_inventory_forgets_who_left() -> None:
    stage = Stage()
    alice, bob = stage.join("alice"), stage.join("bob")
    bob.leaves()
    alice.sends(inventory(stage, alice, "cth://*/*", bob.uri))
    alice.hears(InventoryResponse(uris=(alice.uri,)))


def test_a_report_on_an_inventory_request_is_not_given() -> None:
    stage = Stage()
    alice = stage.join("alice")
    alice.sends(inventory(stage, alice, "cth://*/*", destination_report=True))
    alice.hears(InventoryResponse(uris=(alice.uri,)))
    stage.concludes("accepted")
    stage.is_quiet()


def test_an_inventory_request_that_expired_is_reported() -> None:
    stage = Stage()
    alice = stage.join("alice")
    request = inventory(stage, alice, "cth://*/*", ttl_ms=0)
    alice.sends(request).hears_of_expiry(request)
    assert stage.concludes("expired").type == MessageType.INVENTORY_REQUEST


# Silence, trouble and the end.


def test_an_idle_connection_is_closed_after_15_minutes() -> None:
    stage = Stage()
    alice, bob, carol = (stage.join(name) for name in ("alice", "bob", "carol"))
    stage.passes(10 * MINUTE)
    alice.sends(stage.letter(alice, to=[bob]))
    stage.happens(Alive(carol.line))
    idle = stage.join("idle")
    stage.passes(15 * MINUTE - 1)
    assert all(line.is_open for line in (alice, bob, carol, idle))
    stage.passes(1)
    for line in (alice, bob, carol, idle):
        line.is_cut(1001, "idle for too long")


def test_the_broker_has_room_for_so_many_connections() -> None:
    stage = Stage(replace(TRUSTING, max_connection_count=2))
    alice, _ = stage.join("alice"), stage.join("bob")
    turned_away = stage.opens("carol")
    turned_away.is_cut(1011, "no room")
    turned_away.leaves(1011)
    alice.leaves()
    stage.join("carol")


def test_a_broker_that_stops_says_goodbye_and_takes_nobody() -> None:
    stage = Stage()
    alice, waiting = stage.join("alice"), stage.opens("waiting")
    stage.happens(Stopping())
    for line in (alice, waiting):
        line.is_cut(1001, "the broker stops")
    stage.opens("bob").is_cut(1011, "not running")
    stage.happens(Stopping())
    assert stage.commands == []


@pytest.mark.parametrize("end", ["superseded", "stopped"])
def test_a_frame_on_a_connection_that_is_being_closed_is_rejected_with_its_sender(end: str) -> None:
    stage, uri = Stage(), "cth://alice.example.com/agent"
    session = BrokerSession(TRUSTING, Ids("boot"))
    request = stage.envelope(uri, [BROKER_URI], MessageType.ASSOCIATE_REQUEST)
    events: list[Event] = [Opened(1, "a"), FrameReceived(1, encode(Packet(envelope=request)))]
    if end == "stopped":
        events.append(Stopping())
    else:
        again = stage.envelope(uri, [BROKER_URI], MessageType.ASSOCIATE_REQUEST)
        events += [Opened(2, "b"), FrameReceived(2, encode(Packet(envelope=again)))]
    commands = [commands_after(session, event, START_MS) for event in events][-1]
    assert [command.line for command in commands if isinstance(command, Close)] == [1]
    late = FrameReceived(1, encode(stage.letter(uri, to=[uri])))
    (concluded,) = commands_after(session, late, START_MS)
    assert isinstance(concluded, Conclude)
    assert (concluded.outcome, concluded.reason) == (Outcome.REJECTED, Reason.UNAUTHENTICATED)
    assert concluded.peer == uri


def test_events_of_lines_and_timers_that_are_gone_do_nothing() -> None:
    session = BrokerSession(TRUSTING, Ids("boot"))
    for event in (
        Closed(7, 1000),
        Alive(7),
        Congested(7, 1, 1),
        Requested("anything"),
        TimerFired(("line", 7)),
        TimerFired(("redelivery", "cth://a/b")),
        TimerFired("another"),
    ):
        assert list(commands_after(session, event, START_MS)) == []
    concluded = Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
    assert list(commands_after(session, FrameReceived(7, b""), START_MS)) == [concluded]


def test_the_broker_tells_how_much_it_keeps() -> None:
    stage = Stage()
    alice, _ = stage.join("alice"), stage.opens("bob")
    letter = stage.letter(alice, to=["cth://bob.example.com/agent", "cth://c.example.com/agent"])
    alice.sends(letter)
    gauges = stage.session.gauges()
    assert gauges["queued_bytes"] > len(encode(letter))
    assert gauges | {"queued_bytes": 0} == {
        "connections": 2,
        "associated": 1,
        "queued": 2,
        "queued_bytes": 0,
        "unreadable_records": 0,
    }


def test_a_client_that_was_cut_is_named() -> None:
    stage = Stage(replace(TRUSTING, unread_size=1))
    alice = stage.join("alice")
    stage.happens(Congested(alice.line, 0, TRUSTING.stalled_size))
    alice.sends(b"").is_cut(1011, "the client does not read")
    assert stage.session.slow == {alice.uri: 1}


def test_a_connection_that_went_away_leaves_no_timer() -> None:
    stage = Stage()
    stage.join("alice").leaves()
    assert stage.timers == {}


def test_ids_of_the_broker_are_never_given_twice() -> None:
    ids = set()
    for boot in ("one", "two"):
        session = BrokerSession(TRUSTING, Ids(boot))
        for line in range(50):
            commands_after(session, Opened(line, "peer"), START_MS)
            commands = commands_after(session, FrameReceived(line, b""), START_MS)
            ids |= {decode(c.raw).envelope.id for c in commands if isinstance(c, Send)}
    assert len(ids) == 100
    assert all(id_[14] == "8" for id_ in ids)
