"""Connections, as transcripts."""

from typing import Any

import pytest

from protocols.signalhub.transcript import BEGIN_MS, HUB, Transcript, note
from support.commands import commands_after
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.tokens import Claims, create
from wireloom.wire.ids import Ids
from wireloom.wire.keys import SigningKey
from wireloom.wire.session import Close, Opened, Send, Stopping, TimerFired

SECRET = b"a secret of the issuer, 32 bytes"
ISSUER = SigningKey(bytes(range(32)))
ADA, BOB = "@(a/ada)", "@(b/bob)"


def guarded(**more: Any) -> Transcript:
    public = (ISSUER.public,)
    return Transcript(auth=True, token_secrets=(SECRET,), token_keys=public, **more)


def token(hub: Transcript, actor: str = "a/ada", key: Any = SECRET, **claims: Any) -> str:
    made = {"iat": hub.now_ms // 1000, "sub": "user", "actor_id": actor, **claims}
    made.setdefault("iss", "signal-hub")
    return create(Claims(**made), key=key)


def test_a_connect_is_answered_with_a_session() -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    asked = ada.connects(clientMetadata={"userAgent": "test"})
    heard = ada.hears(
        "hub:connected",
        correlationId=asked,
        to=ADA,
        **{"from": HUB},
        pattern="tell",
        payload__serverVersion="0.1.0",
        payload__maxMessageSize=1_048_576,
        payload__heartbeatInterval=25_000,
        payload__capabilities__maxActorsPerInstance=50_000,
        payload__capabilities__supportsBackpressure=True,
        payload__capabilities__supportedContentTypes=["json", "msgpack"],
        metadata={},
    )
    assert heard["payload"]["sessionId"].startswith("sess-")
    hub.concludes("accepted")
    assert hub.conclusions[-1].peer == ADA


def test_sessions_have_names_of_their_own() -> None:
    hub = Transcript()
    names = set()
    for number in range(3):
        one = hub.stranger(f"@(a/{number})")
        one.connects()
        names.add(one.hears("hub:connected")["payload"]["sessionId"])
    assert len(names) == 3


@pytest.mark.parametrize("version", ["0.1.0", "0.9.12", "0.2.0-rc.1+build"])
def test_a_version_of_the_same_major_is_taken(version: str) -> None:
    Transcript().client(ADA, protocolVersion=version)


def test_a_version_of_another_major_is_refused_and_the_connection_closed() -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    asked = ada.connects(protocolVersion="1.0.0")
    ada.hears(
        "hub:version_mismatch",
        correlationId=asked,
        payload__clientVersion="1.0.0",
        payload__serverVersion="0.1.0",
        payload__supportedVersions=["0.1.0"],
    )
    hub.concludes("rejected", "unsupported_version")
    assert ada.closed == (1008, "version_mismatch")


@pytest.mark.parametrize(
    "wish", [{"protocolVersion": "one"}, {"capabilities": []}, {"capabilities": None}]
)
def test_a_connect_that_breaks_the_rules_of_its_form_is_an_error(wish: dict[str, Any]) -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    ada.connects(**wish)
    ada.hears(
        "hub:error",
        payload__code="internal_error",
        payload__details__reason="invalid_message",
        payload__retryable=False,
    )
    hub.concludes("rejected", "malformed")
    ada.connects()
    ada.hears("hub:connected")


@pytest.mark.parametrize("key", [SECRET, ISSUER], ids=["HS256", "EdDSA"])
@pytest.mark.parametrize("bearer", ["", "bearer ", "Bearer "])
def test_the_identity_is_the_tokens_whatever_the_client_says(key: Any, bearer: str) -> None:
    hub = guarded()
    mallory = hub.stranger("@(m/mallory)")
    mallory.address = ADA
    asked = mallory.says(
        "hub:connect",
        None,
        pattern="ask",
        metadata={
            "protocolVersion": "0.1.0",
            "capabilities": ["send"],
            "authToken": bearer + token(hub, key=key),
        },
        **{"from": "@(m/mallory)"},
    )
    mallory.hears("hub:connected", to=ADA, correlationId=asked, metadata={"actorIdentity": ADA})


def test_what_an_identified_client_sends_comes_from_its_identity() -> None:
    hub = guarded()
    bob = hub.client(BOB, authToken=token(hub, "b/bob"))
    bob.registers()
    ada = hub.client(ADA, authToken=token(hub))
    ada.sends_to(BOB, **{"from": "@(m/mallory)"})
    bob.hears("chat:line", **{"from": ADA})


def test_a_token_of_the_connection_serves_a_connect_without_one() -> None:
    hub = guarded()
    ada = hub.stranger(ADA, token=token(hub))
    ada.connects()
    ada.hears("hub:connected", metadata={"actorIdentity": ADA})


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 1},
        {"iat": 1},
        {"iss": "somebody"},
        {"aud": "@(west/hub)"},
        {"exp": 1e308},
        {"exp": 10**400},
        {"nbf": -1},
        {"actor_id": "\n"},
        {"actor_id": "x" * 600},
        {"actor_id": "cloudflare/signal-hub"},
    ],
    ids=lambda claims: f"{claims}"[:30],
)
def test_a_token_that_does_not_hold_is_unauthorized(claims: dict[str, Any]) -> None:
    hub = guarded()
    ada = hub.stranger(ADA)
    asked = ada.connects(authToken=token(hub, **claims))
    ada.hears("hub:unauthorized", correlationId=asked, payload__action="connect")
    hub.concludes("rejected", "unauthenticated")
    assert ada.closed == (1008, "unauthorized")


def test_no_token_and_a_forged_token_are_unauthorized() -> None:
    hub = guarded()
    for wish in (
        {},
        {"authToken": token(hub, key=b"t" * 32)},
        {"authToken": "x"},
    ):
        ada = hub.stranger(ADA)
        ada.connects(**wish)
        ada.hears("hub:unauthorized")
        assert ada.closed == (1008, "unauthorized")


def test_a_connection_ends_with_its_token() -> None:
    hub = guarded()
    ada = hub.client(ADA, authToken=token(hub, exp=hub.now_ms // 1000 + 40))
    hub.passes(30_000)
    ada.beats()
    hub.passes(9_999)
    ada.hears_nothing()
    hub.passes(1)
    ada.hears("hub:disconnect", payload__reason="unauthorized")
    assert ada.closed == (1008, "unauthorized")


def test_a_connection_ends_a_day_after_its_token_was_made() -> None:
    hub = guarded(silence_ms=2 * 86_400_000)
    ada = hub.client(ADA, authToken=token(hub))
    hub.passes(86_399_999)
    ada.hears_nothing()
    hub.passes(1)
    ada.hears("hub:disconnect", payload__reason="unauthorized")


def test_nobody_passes_for_the_hub() -> None:
    hub = Transcript()
    mallory = hub.stranger(HUB)
    mallory.connects()
    mallory.hears("hub:unauthorized", payload__action="connect")
    assert mallory.closed == (1008, "unauthorized")


def test_an_expired_connect_is_refused_with_the_hubs_time() -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    wish = {"protocolVersion": "0.1.0", "capabilities": ["send"]}
    ada.asks("hub:connect", None, metadata=wish, timestamp=hub.now_ms - 5_001, ttl=5_000)
    ada.hears(
        "hub:error",
        payload__code="message_expired",
        payload__retryable=False,
        payload__details={"reason": "expired", "serverTime": hub.now_ms},
    )
    hub.concludes("expired")
    ada.asks("hub:connect", None, metadata=wish, timestamp=hub.now_ms - 5_000, ttl=5_000)
    ada.hears("hub:connected")


def test_a_second_connect_on_a_connection_is_refused() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    asked = ada.connects()
    ada.hears("hub:unauthorized", correlationId=asked, payload__action="hub:connect")
    hub.concludes("rejected", "unauthorized")
    ada.beats()


def test_the_last_connection_of_an_actor_wins() -> None:
    hub = Transcript()
    old = hub.client(ADA)
    old.registers()
    new = hub.client(ADA)
    old.hears("hub:disconnect", payload__reason="duplicate_connection")
    assert old.closed == (1000, "duplicate_connection")
    bob = hub.client(BOB)
    bob.sends_to(ADA, 1)
    new.hears("chat:line", payload=1)
    bob.hears("hub:delivery_ack", payload__status="delivered")


def test_what_comes_in_after_the_end_is_refused_without_a_word() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.says("hub:disconnect", {"reason": "client_requested"})
    hub.concludes("accepted")
    assert ada.closed == (1000, "client_requested")
    ada.says("hub:heartbeat", {"timestamp": 1})
    hub.concludes("rejected", "unauthenticated")
    ada.hears_nothing()


def test_a_client_may_leave_without_a_reason() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.says("hub:disconnect", {})
    ada.hears_nothing()
    assert ada.closed == (1000, "client_requested")


def test_who_does_not_connect_in_time_is_closed() -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    hub.passes(4_999)
    ada.hears_nothing()
    hub.passes(1)
    ada.hears("hub:disconnect", payload__reason="connect_timeout")
    assert ada.closed == (1008, "connect_timeout")


def test_more_connections_than_the_hub_takes_are_closed_at_once() -> None:
    hub = Transcript(max_lines=1)
    hub.client(ADA)
    bob = hub.stranger(BOB)
    assert bob.closed == (1013, "too many connections")


def test_a_heartbeat_is_answered_with_both_clocks() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    asked = ada.says("hub:heartbeat", {"timestamp": 12_345}, timestamp=12_345, ttl=10_000)
    ada.hears(
        "hub:heartbeat_ack",
        correlationId=asked,
        payload={"timestamp": 12_345, "serverTime": hub.now_ms},
    )
    hub.concludes("accepted")


def test_a_silent_client_is_dead_after_a_minute() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    hub.passes(25_000)
    ada.beats()
    hub.passes(59_999)
    ada.hears_nothing()
    hub.passes(1)
    ada.hears("hub:disconnect", payload__reason="heartbeat_timeout")
    assert ada.closed == (1001, "heartbeat_timeout")


def test_any_frame_shows_that_a_client_lives() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    for _ in range(5):
        hub.passes(50_000)
        ada.asks("hub:queue_stats", {})
        ada.hears("hub:queue_stats_response")


def test_a_stopping_hub_says_goodbye_to_all() -> None:
    hub = Transcript()
    ada, stranger, gone = hub.client(ADA), hub.stranger(BOB), hub.client("@(c/gone)")
    gone.leaves()
    hub.stops()
    for one in (ada, stranger):
        one.hears("hub:disconnect", payload__reason="server_shutdown")
        assert one.closed == (1001, "server_shutdown")
    gone.hears_nothing()


def test_a_connection_whose_end_was_asked_for_is_told_nothing_more() -> None:
    session = HubSession(HubSettings(secret=b"s" * 16), Ids("boot"))
    commands_after(session, Opened(1, "peer"), BEGIN_MS)
    farewell = commands_after(session, TimerFired(("line", 1)), BEGIN_MS + 5_000)
    assert [type(one) for one in farewell] == [Send, Close]
    assert commands_after(session, Stopping(), BEGIN_MS + 5_001) == []
    assert commands_after(session, TimerFired(("line", 1)), BEGIN_MS + 5_002) == []


def test_a_slow_reader_is_paused_above_the_threshold_and_resumed_below_the_other() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.lags(1_000)
    ada.hears_nothing()
    ada.lags(1_001)
    ada.hears("hub:pause", payload={"reason": "outbound_queue_full"})
    ada.lags(2_000)
    ada.lags(500)
    ada.hears_nothing()
    ada.lags(499)
    ada.hears("hub:resume", payload={})
    ada.lags(0)
    ada.hears_nothing()
    hub.passes(30_000)
    assert ada.closed is None


def test_a_reader_of_large_frames_is_paused_by_their_bytes() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.lags(3, 4_194_305)
    ada.hears("hub:pause")
    ada.lags(2, 2_097_153)
    ada.hears_nothing()
    ada.lags(1, 2_097_152)
    ada.hears("hub:resume")


def test_a_reader_that_stays_slow_is_cut_off_and_named() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.lags(1_001)
    ada.hears("hub:pause")
    for _ in range(29):
        hub.passes(1_000)
        ada.says("hub:heartbeat", {"timestamp": 1})
    ada.heard.clear()
    hub.passes(1_000)
    ada.hears("hub:disconnect", payload__reason="slow_consumer")
    assert ada.closed == (1013, "slow_consumer")
    assert hub.session.slow == {ADA: 1}


@pytest.mark.parametrize(("frames", "size"), [(10_000, 0), (1, 16_777_216)])
def test_a_reader_that_falls_far_behind_is_cut_off_at_once(frames: int, size: int) -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.lags(frames, size)
    ada.hears("hub:disconnect", payload__reason="slow_consumer")
    assert ada.closed == (1013, "slow_consumer")
    ada.lags(frames, size)
    ada.hears_nothing()


def test_a_line_that_is_gone_does_not_matter_to_late_timers() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.lags(1_001)
    ada.leaves()
    ada.lags(1_001)
    hub.passes(100_000)
    assert ada.closed is None


def test_a_paused_client_may_still_send_and_be_answered() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.registers()
    ada.lags(1_001)
    ada.hears("hub:pause")
    ada.sends_to(BOB)
    bob.hears("chat:line")
    ada.hears("hub:delivery_ack", payload__status="delivered")
    ada.says("hub:publish", {"topic": "t", "message": note()})
    ada.hears("hub:published", payload__subscriberCount=0)
