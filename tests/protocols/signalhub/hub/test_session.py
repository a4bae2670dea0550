"""What every frame goes through before its type is looked at, as transcripts."""

import random
from typing import Any, NoReturn

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.signalhub.samples import SAMPLES
from protocols.signalhub.transcript import BEGIN_MS, SECRET, Client, Transcript, note
from support.commands import commands_after
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.hub.intake import Intake
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.messages import TYPES
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.rates import Rate
from wireloom.wire.session import (
    Admit,
    Closed,
    Conclude,
    Congested,
    FrameReceived,
    FrameRefused,
    Opened,
    Requested,
    Send,
    TimerFired,
)

ADA, BOB = "@(a/ada)", "@(b/bob)"
TO_HUB = {
    "hub:connect",
    "hub:heartbeat",
    "hub:disconnect",
    "hub:register",
    "hub:unregister",
    "hub:discover",
    "hub:list_actors",
    "hub:renew",
    "hub:send",
    "hub:broadcast",
    "hub:subscribe",
    "hub:publish",
    "hub:unsubscribe",
    "hub:queue_stats",
}


def fresh(name: str, client: Client) -> bytes:
    """The sample of a type, made now, in the client's encoding."""
    message: Any = SAMPLES[name]
    encode = codec.encode_msgpack if client.packed else codec.encode
    return encode(msgspec.structs.replace(message, timestamp=client.hub.now_ms))


@pytest.mark.parametrize("name", sorted(TYPES.keys() - {"hub:connect"}))
def test_nothing_but_a_connect_is_taken_before_the_connection_is_open(name: str) -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    ada.sends(fresh(name, ada))
    ada.hears("hub:unauthorized", payload__action=name)
    hub.concludes("rejected", "unauthenticated")
    ada.connects()
    ada.hears("hub:connected")


@pytest.mark.parametrize("name", sorted(TO_HUB - {"hub:connect"}))
def test_every_type_that_clients_send_is_handled(name: str) -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.sends(fresh(name, ada))
    assert hub.conclusions[-1].type == name
    assert hub.conclusions[-1].reason in {None, "unauthorized", "unknown_destination"}
    assert hub.conclusions[-1].peer == ADA


@pytest.mark.parametrize("name", sorted(TYPES.keys() - TO_HUB))
def test_what_only_a_hub_says_is_unauthorized_from_a_client(name: str) -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.sends(fresh(name, ada))
    ada.hears("hub:unauthorized", payload__action=name)
    hub.concludes("rejected", "unauthorized")


def test_an_applications_message_is_not_for_the_hub() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    asked = ada.says("x" * 100, {"n": 1})
    ada.hears("hub:unauthorized", correlationId=asked, payload__action="x" * 60)
    hub.concludes("rejected", "unauthorized")
    assert hub.conclusions[-1].type is None


def test_an_unlisted_type_of_the_hub_is_an_unknown_type() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    asked = ada.says("hub:teleport", {})
    ada.hears(
        "hub:error",
        correlationId=asked,
        payload__code="internal_error",
        payload__retryable=False,
        payload__details__reason="unknown_type",
    )
    hub.concludes("rejected", "unknown_type")


@pytest.mark.parametrize("raw", [b"", b"{", b"hello", b"\xff\xfe", b'{"type":1}', b"[]"])
def test_what_is_no_message_is_an_error_without_a_request(raw: bytes) -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.sends(raw)
    ada.hears(
        "hub:error",
        correlationId=None,
        payload__code="internal_error",
        payload__retryable=False,
        payload__details__reason="invalid_message",
    )
    hub.concludes("rejected", "malformed")
    ada.beats()


@pytest.mark.parametrize("packed", [False, True])
def test_an_error_names_the_request_where_its_id_can_be_seen(packed: bool) -> None:
    hub = Transcript()
    ada = hub.client(ADA, packed=packed)
    asked = ada.asks("hub:discover", {"pattern": ""})
    ada.hears("hub:error", correlationId=asked, payload__details__reason="invalid_message")


def test_a_frame_of_a_mebibyte_is_taken_and_one_byte_more_is_not() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    asked = ada.says("hub:publish", {"topic": "t", "message": note(payload="")})
    ada.hears("hub:published")
    filler = 1_048_576 - len(
        fresh_publish := msgspec.json.encode(
            {
                "type": "hub:publish",
                "id": asked.replace("4000", "4001"),
                "from": ADA,
                "to": ADA,
                "pattern": "tell",
                "timestamp": hub.now_ms,
                "payload": {"topic": "t", "message": note(payload="")},
            }
        )
    )
    ada.sends(fresh_publish.replace(b'"payload":""', b'"payload":"' + b"x" * filler + b'"'))
    ada.hears("hub:published")
    ada.sends(fresh_publish.replace(b'"payload":""', b'"payload":"' + b"x" * (filler + 1) + b'"'))
    ada.hears(
        "hub:message_too_large",
        correlationId=asked.replace("4000", "4001"),
        payload={"messageSize": 1_048_577, "maxSize": 1_048_576},
    )
    hub.concludes("rejected", "too_large")


def test_a_frame_too_large_to_be_read_has_no_request() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.sends(b"x" * 1_048_577)
    ada.hears("hub:message_too_large", correlationId="00000000-0000-0000-0000-000000000000")


def test_a_frame_that_the_link_did_not_read_is_answered_with_its_size() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    head = b'{"type":"hub:send","id":"00000000-0000-4000-8000-000000000009","payload":"xxx'
    hub.happens(FrameRefused(ada.line, 3_000_000, head, text=True, limit=2_097_152))
    ada.hears(
        "hub:message_too_large",
        correlationId="00000000-0000-4000-8000-000000000009",
        payload={"messageSize": 3_000_000, "maxSize": 1_048_576},
    )
    hub.concludes("rejected", "too_large")


def test_a_stranger_hears_the_limit_that_holds_for_it() -> None:
    hub = Transcript()
    ada = hub.stranger("@(line/1)", packed=True)
    hub.happens(FrameRefused(ada.line, 70_000, b"\x8b\xa4type", text=False, limit=65_536))
    ada.hears("hub:message_too_large", payload={"messageSize": 70_000, "maxSize": 65_536})
    hub.concludes("rejected", "too_large")


def test_a_frame_too_large_on_a_line_that_has_ended_is_refused_without_a_word() -> None:
    hub = Transcript()
    hub.happens(FrameRefused(9, 70_000, b"", text=False, limit=65_536))
    hub.concludes("rejected", "unauthenticated")


def test_a_client_is_admitted_once_it_is_known() -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    assert Admit(ada.line) not in hub.commands
    ada.connects()
    assert Admit(ada.line) in hub.commands


def test_faults_are_answered_and_too_many_of_them_end_the_connection() -> None:
    hub = Transcript(fault_rate=Rate(3, 60_000))
    ada = hub.client(ADA)
    for _ in range(3):
        ada.sends(b"?")
        ada.hears("hub:error")
    assert ada.closed is None
    ada.says("hub:pause", {"reason": "x"})
    ada.hears("hub:unauthorized")
    assert ada.closed == (1008, "too many faults")


def test_faults_before_the_connect_end_the_connection_too() -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    for _ in range(5):
        assert ada.closed is None
        ada.says("hub:heartbeat", {"timestamp": 1})
        ada.hears("hub:unauthorized", payload__action="hub:heartbeat")
        hub.concludes("rejected", "unauthenticated")
    assert ada.closed == (1008, "no hub:connect")


def test_a_stranger_may_connect_with_its_last_frame_and_not_after_it() -> None:
    hub = Transcript()
    for attempts in (4, 5):
        ada = hub.stranger(ADA, packed=False)
        for _ in range(attempts):
            ada.sends(b'{"type":"hub:connect"')
            ada.hears("hub:error", payload__details__reason="invalid_message")
        if attempts == 4:
            ada.connects()
            ada.hears("hub:connected")
        else:
            assert ada.closed == (1008, "no hub:connect")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":' * 10_000,
        b'{"type":"hub:connect","x":[' + b"[]," * 10_000 + b"0]}",
        b"\x82\xa4type\xabhub:connect\xa1x\xdd\x00\x00\x27\x10" + b"\x90" * 10_000,
        b"x" * 60_000,
    ],
)
def test_what_a_stranger_says_is_not_parsed_unless_it_may_be_a_connect(
    raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed(*_: object) -> NoReturn:
        raise AssertionError("it was parsed")

    hub = Transcript()
    ada = hub.stranger(ADA, packed=raw[0] == 0x82)
    monkeypatch.setattr(Intake, "take", parsed)
    ada.sends(raw)
    ada.hears("hub:unauthorized")
    hub.concludes("rejected", "unauthenticated")


def test_a_large_frame_of_a_stranger_is_refused_where_the_link_lets_it_pass() -> None:
    session = HubSession(HubSettings(secret=SECRET), Ids("boot"))
    commands_after(session, Opened(1, "x"), BEGIN_MS)
    known = b"0a1b2c3d-0000-4000-8000-000000000001"
    raw = b'{"type":"hub:connect","id":"%b"' % known + b" " * 65_536
    answer, conclude = commands_after(session, FrameReceived(1, raw, True), BEGIN_MS)
    assert conclude == Conclude(Outcome.REJECTED, Reason.TOO_LARGE)
    assert isinstance(answer, Send)
    assert known in answer.raw
    assert b'"maxSize":65536' in answer.raw


def test_a_client_that_sends_too_much_is_told_when_to_go_on() -> None:
    hub = Transcript(actor_rate=Rate(100, 1_000))
    ada, bob = hub.client(ADA), hub.client(BOB)
    for _ in range(100):
        ada.beats()
    asked = ada.says("hub:heartbeat", {"timestamp": 1})
    ada.hears("hub:rate_limited", correlationId=asked, payload={"retryAfter": 10})
    hub.concludes("rejected", "rate_limited")
    bob.beats()
    hub.passes(10)
    ada.beats()
    ada.leaves()
    ada = hub.client(ADA)
    ada.says("hub:heartbeat", {"timestamp": 1})
    ada.hears("hub:rate_limited", payload={"retryAfter": 10})


def test_a_connection_has_a_limit_of_its_own() -> None:
    hub = Transcript(line_rate=Rate(2, 1_000))
    ada = hub.client(ADA)
    ada.beats()
    ada.beats()
    ada.says("hub:heartbeat", {"timestamp": 1})
    ada.hears("hub:rate_limited", payload={"retryAfter": 500})
    ada.leaves()
    hub.client(ADA).beats()


def test_the_default_limits_are_those_of_the_specification() -> None:
    plain = HubSettings(secret=SECRET)
    assert plain.actor_rate == Rate(100, 1_000)
    assert plain.broadcast_rate == Rate(10, 60_000)
    assert plain.register_rate == Rate(5, 60_000)


def test_what_was_refused_for_its_rate_may_come_again() -> None:
    hub = Transcript(actor_rate=Rate(1, 1_000))
    ada = hub.client(ADA)
    ada.beats()
    asked = ada.asks("hub:subscribe", {"topic": "t"})
    ada.hears("hub:rate_limited")
    hub.passes(1_000)
    ada.asks("hub:subscribe", {"topic": "t"}, id=asked)
    ada.hears("hub:subscribed", correlationId=asked)


def test_an_expired_message_is_refused() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    asked = ada.asks("hub:queue_stats", {}, timestamp=hub.now_ms - 1_001, ttl=1_000)
    ada.hears(
        "hub:error",
        correlationId=asked,
        payload__code="message_expired",
        payload__retryable=False,
        payload__details={"reason": "expired", "serverTime": hub.now_ms},
    )
    hub.concludes("expired")
    ada.asks("hub:queue_stats", {}, timestamp=hub.now_ms - 1_000, ttl=1_000)
    ada.hears("hub:queue_stats_response")


@pytest.mark.parametrize(("sign", "reason"), [(-1, "stale"), (1, "future")])
def test_a_message_five_minutes_off_may_be_a_replay(sign: int, reason: str) -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.asks("hub:queue_stats", {}, timestamp=hub.now_ms + sign * 300_001)
    ada.hears("hub:error", payload__code="message_expired", payload__details__reason=reason)
    hub.concludes("rejected", reason)
    ada.asks("hub:queue_stats", {}, timestamp=hub.now_ms + sign * 300_000)
    ada.hears("hub:queue_stats_response")


def test_a_message_that_comes_twice_is_done_once_and_answered_the_same() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.registers()
    asked = ada.sends_to(BOB, 1)
    first = ada.hears("hub:delivery_ack")
    bob.hears("chat:line")
    ada.sends_to(BOB, 1, id=asked)
    hub.concludes("duplicate")
    assert ada.hears("hub:delivery_ack") == first
    bob.hears_nothing()


def test_every_message_that_changes_something_is_done_once() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    token = ada.registers()["renewalToken"]
    name = ada.subscribes("t")
    requests: list[tuple[str, Any, str, str | None]] = [
        ("hub:renew", {"renewalToken": token}, "ask", "hub:renewed"),
        (
            "hub:register",
            {"actorAddress": ADA, "capabilities": ["x"], "metadata": {}},
            "ask",
            "hub:registered",
        ),
        ("hub:publish", {"topic": "none", "message": note()}, "tell", "hub:published"),
        (
            "hub:broadcast",
            {"message": note(), "excludeSelf": True},
            "tell",
            "hub:broadcast_ack",
        ),
        ("hub:unsubscribe", {"subscriptionId": name}, "tell", None),
        ("hub:subscribe", {"topic": "u"}, "ask", "hub:subscribed"),
        ("hub:unregister", {"actorAddress": ADA}, "tell", None),
    ]
    for type_, payload, pattern, answer in requests:
        asked = ada.says(type_, payload, pattern=pattern)
        first = ada.hears(answer) if answer else None
        ada.says(type_, payload, pattern=pattern, id=asked)
        hub.concludes("duplicate")
        assert (ada.hears(answer) if answer else None) == first
        ada.hears_nothing()


def test_a_repeated_answer_is_in_the_encoding_of_the_connection_that_asks_again() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    asked = ada.asks("hub:subscribe", {"topic": "t"})
    first = ada.hears("hub:subscribed")
    ada = hub.client(ADA, packed=True)
    ada.asks("hub:subscribe", {"topic": "t"}, id=asked)
    assert ada.hears("hub:subscribed") == first


def test_the_same_id_from_another_actor_is_another_message() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    asked = ada.asks("hub:register", {"actorAddress": ADA, "capabilities": ["x"], "metadata": {}})
    ada.hears("hub:registered")
    bob.asks("hub:register", {"actorAddress": BOB, "capabilities": ["x"], "metadata": {}}, id=asked)
    bob.hears("hub:registered", payload__actorAddress=BOB)


def test_a_question_that_comes_twice_is_answered_anew() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    asked = ada.asks("hub:list_actors", {})
    ada.hears("hub:actor_list", payload__total=0)
    ada.registers()
    ada.asks("hub:list_actors", {}, id=asked)
    ada.hears("hub:actor_list", payload__total=1)


def test_the_queue_tells_its_depth_rate_and_thresholds() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.registers()
    hub.passes(10_000)
    for _ in range(40):
        ada.sends_to(BOB, pattern="tell")
    hub.passes(2_000)
    bob.leaves()
    ada.sends_to(BOB, pattern="tell")
    asked = ada.asks("hub:queue_stats", {})
    ada.hears(
        "hub:queue_stats_response",
        correlationId=asked,
        payload={
            "queueDepth": 1,
            "processingRate": 20.0,
            "pauseThreshold": 1_000,
            "resumeThreshold": 500,
        },
    )
    hub.concludes("accepted")


def test_a_connection_is_answered_in_the_encoding_of_its_connect() -> None:
    hub = Transcript()
    ada = hub.client(ADA, packed=True)
    ada.sends(codec.encode(codec.decode(fresh("hub:heartbeat", ada))))
    ada.hears("hub:heartbeat_ack")


def test_ids_of_the_hub_are_never_given_twice_also_after_a_crash() -> None:
    hub = Transcript()
    ids: list[str] = []
    for _ in range(2):
        ada = hub.client(ADA)
        for _ in range(20):
            ada.says("hub:heartbeat", {"timestamp": 1})
            ids.append(ada.hears("hub:heartbeat_ack")["id"])
        hub.crashes()
    assert len(set(ids)) == 40


def test_a_request_of_the_application_means_nothing_to_a_hub() -> None:
    session = HubSession(HubSettings(secret=SECRET), Ids("boot"))
    assert commands_after(session, Requested("anything"), BEGIN_MS) == []
    assert commands_after(session, TimerFired("a stranger's"), BEGIN_MS) == []


def test_a_frame_on_a_line_that_never_opened_is_refused() -> None:
    session = HubSession(HubSettings(secret=SECRET), Ids("boot"))
    (conclude,) = commands_after(session, FrameReceived(7, b"x", True), BEGIN_MS)
    assert conclude == Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
    assert commands_after(session, Closed(7, 1000), BEGIN_MS) == []
    assert commands_after(session, Congested(7, 9_999_999, 0), BEGIN_MS) == []


def test_gauges_count_what_there_is() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.registers()
    ada.subscribes("t", durable=True)
    ada.leaves()
    bob = hub.client(BOB)
    bob.sends_to(ADA, "xx")
    counts = hub.session.gauges()
    sizes = {name: counts.pop(name) for name in list(counts) if name.endswith("_bytes")}
    assert counts == {
        "connections": 1,
        "registrations": 1,
        "subscriptions": 1,
        "queued": 1,
        "reports": 0,
        "pending": 0,
        "unreadable_records": 0,
    }
    assert sizes.pop("pending_bytes") == 0
    assert set(sizes) == {"registration_bytes", "subscription_bytes", "queued_bytes", "seen_bytes"}
    assert all(500 < size < 5_000 for size in sizes.values())


@given(raw=st.binary(max_size=200), text=st.booleans(), known=st.booleans())
def test_any_bytes_get_one_outcome_and_an_answer(raw: bytes, text: bool, known: bool) -> None:
    session = HubSession(HubSettings(secret=SECRET), Ids("boot"))
    commands_after(session, Opened(1, "x"), BEGIN_MS)
    if known:
        frame = codec.encode(msgspec.structs.replace(SAMPLES["hub:connect"], timestamp=BEGIN_MS))
        commands_after(session, FrameReceived(1, frame, True), BEGIN_MS)
    commands = commands_after(session, FrameReceived(1, raw, text), BEGIN_MS)
    assert sum(isinstance(one, Conclude) for one in commands) == 1
    assert any(isinstance(one, Send) for one in commands)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_the_hub_keeps_its_books_whatever_clients_do(seed: int) -> None:
    """Random clients come, talk, lag and go; the hub crashes; nothing breaks or leaks."""
    rng = random.Random(seed)
    hub = Transcript(sync_broadcast_max=2, max_queued=3)
    clients = [hub.client(f"@(x/{number})") for number in range(4)]
    for _ in range(120):
        one = rng.randrange(4)
        client = clients[one]
        if client.line not in hub.clients:
            clients[one] = hub.client(client.address, packed=rng.random() < 0.5)
            continue
        _act(rng, hub, client)
    for client in clients:
        client.leaves()
    hub.passes(2 * 86_400_000)
    kept = {name: count for name, count in hub.session.gauges().items() if name != "seen_bytes"}
    assert kept == dict.fromkeys(kept, 0)
    assert hub.stored == {}


def _act(rng: random.Random, hub: Transcript, client: Any) -> None:
    body = {"message": note("x:y", rng.randrange(9))}
    address = f"@(x/{rng.randrange(4)})"
    register = {"actorAddress": address, "capabilities": ["c"], "metadata": {}}
    match rng.randrange(12):
        case 0 | 1:
            client.asks("hub:register", register, metadata={"renewOnHeartbeat": True})
        case 2 | 3:
            client.sends_to(address, 1, ttl=rng.randrange(1, 100_000))
        case 4:
            client.asks("hub:subscribe", {"topic": "t", "durable": rng.random() < 0.5})
        case 5:
            client.says("hub:publish", {"topic": "t", **body})
        case 6:
            client.says("hub:broadcast", body)
        case 7:
            client.lags(rng.choice([0, 1_001, 10_000]))
        case 8:
            client.leaves()
        case 9:
            client.says("hub:unregister", {"actorAddress": address})
        case 10:
            hub.passes(rng.randrange(40_000))
        case _:
            if rng.random() < 0.2:
                hub.crashes(after_ms=rng.randrange(100_000))
            else:
                client.says("hub:heartbeat", {"timestamp": 1})


EAST = "@(east/hub)"


def test_a_hub_speaks_under_the_address_that_it_was_given() -> None:
    hub = Transcript(address=EAST)
    ada, bob = hub.stranger("@(a/ada)"), hub.client("@(b/bob)")
    ada.connects()  # to the default address: it cannot know better
    ada.hears("hub:connected", **{"from": EAST})
    bob.registers()
    for to in (EAST, "@(cloudflare/signal-hub)", "@(anything/else)"):
        ada.sends_to(bob.address, to=to)
        bob.hears("chat:line", metadata__via=EAST)
        ada.hears("hub:delivery_ack", **{"from": EAST})


def test_what_is_sent_to_no_address_at_all_is_no_message() -> None:
    hub = Transcript()
    ada = hub.stranger("@(a/ada)")
    ada.says("hub:connect", None, pattern="ask", to="hub", metadata={})
    ada.hears("hub:error", payload__details__reason="invalid_message")


@pytest.mark.parametrize("address", ["@(cloudflare/signal-hub)", EAST])
def test_nobody_is_the_hub(address: str) -> None:
    hub = Transcript()
    old = hub.client(EAST)
    old.registers()
    old.registers("@(a/other)")
    old.subscribes("news", durable=True)
    hub.client("@(b/bob)").registers(EAST.replace("hub", "elsewhere"))
    hub.settings = HubSettings(secret=SECRET, address=address)
    hub.crashes()
    assert sorted(key for _, key in hub.stored if address in key) == []
    assert hub.session.gauges()["registrations"] == (1 if address == EAST else 3)
    assert hub.session.gauges()["subscriptions"] == (0 if address == EAST else 1)
    ada = hub.client("@(a/ada)")
    asked = ada.asks(
        "hub:register", {"actorAddress": address, "capabilities": ["x"], "metadata": {}}
    )
    ada.hears("hub:unauthorized", correlationId=asked, payload__action="register")
    thief = hub.stranger(address)
    thief.connects()
    assert thief.closed == (1008, "unauthorized")
