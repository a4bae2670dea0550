"""Messages to one actor, as transcripts."""

from typing import Any

import pytest

from protocols.signalhub.transcript import HUB, Transcript, note
from wireloom.protocols.signalhub.tokens import Claims, create

ADA, BOB, CYD = "@(a/ada)", "@(b/bob)", "@(c/cyd)"


def token(hub: Transcript, address: str) -> str:
    claims = Claims(iss="signal-hub", sub="u", actor_id=address, iat=hub.now_ms // 1000)
    return create(claims, key=b"s" * 32)


def pair(**settings: Any) -> tuple[Transcript, Any, Any]:
    """A hub, a sender, and a registered target."""
    hub = Transcript(**{"silence_ms": 10_000_000, **settings})
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.registers(ttlSeconds=3_600)
    return hub, ada, bob


def test_a_send_reaches_its_target_and_is_acknowledged() -> None:
    hub, ada, bob = pair()
    asked = ada.sends_to(BOB, {"n": 1}, metadata={"requireAck": True}, ttl=30_000)
    heard = bob.hears(
        "chat:line",
        to=BOB,
        pattern="tell",
        payload={"n": 1},
        correlationId=None,
        timestamp=hub.now_ms,
        ttl=30_000,
        metadata={"forwarded": True, "via": HUB, "originalMessageId": asked},
        **{"from": ADA},
    )
    assert heard["id"] != asked
    ada.hears(
        "hub:delivery_ack",
        correlationId=asked,
        payload={"messageId": asked, "deliveredAt": hub.now_ms, "status": "delivered"},
    )
    hub.concludes("forwarded")
    assert hub.conclusions[-1].type == "hub:send"


def test_a_told_send_is_not_acknowledged() -> None:
    hub, ada, bob = pair()
    ada.sends_to(BOB, pattern="tell")
    bob.hears("chat:line", ttl=None)
    ada.hears_nothing()
    hub.concludes("forwarded")


@pytest.mark.parametrize("packed", [False, True])
def test_a_told_send_that_requires_an_acknowledgement_is_an_ask(packed: bool) -> None:
    hub, ada, bob = pair()
    cyd = hub.client(CYD, packed=packed)
    told = {"pattern": "tell", "metadata": {"requireAck": True}}
    asked = cyd.sends_to(BOB, **told)
    cyd.hears("hub:delivery_ack", correlationId=asked, payload__status="delivered")
    bob.leaves()
    cyd.sends_to("@(un/known)", **told)
    cyd.hears("hub:unknown_actor")
    asked = cyd.sends_to(BOB, ttl=1_000, **told)
    cyd.hears("hub:delivery_ack", payload__status="queued")
    hub.passes(2_000)
    cyd.hears("hub:error", correlationId=asked, payload__code="timeout")
    ada.hears_nothing()


def test_trace_and_priority_go_on_to_the_target() -> None:
    _, ada, bob = pair()
    asked = ada.sends_to(BOB, metadata={"traceId": "t-1", "priority": 0})
    bob.hears(
        "chat:line",
        metadata={
            "forwarded": True,
            "via": HUB,
            "originalMessageId": asked,
            "traceId": "t-1",
            "priority": 0,
        },
    )


def test_what_is_passed_on_has_the_lifetime_that_is_left() -> None:
    hub, ada, bob = pair()
    ada.sends_to(BOB, timestamp=hub.now_ms - 400, ttl=1_000)
    bob.hears("chat:line", ttl=600)
    ada.sends_to(BOB, timestamp=hub.now_ms - 1_000, ttl=1_000)
    bob.hears("chat:line", ttl=1)


def test_an_unknown_target_is_an_error_for_an_ask_and_silence_for_a_tell() -> None:
    hub, ada, _ = pair()
    asked = ada.sends_to(CYD)
    ada.hears("hub:unknown_actor", correlationId=asked, payload__actorAddress=CYD)
    hub.concludes("rejected", "unknown_destination")
    ada.sends_to(CYD, pattern="tell")
    ada.hears_nothing()
    hub.concludes("rejected", "unknown_destination")


def test_a_connected_actor_that_is_not_registered_is_unknown() -> None:
    _, _ada, bob = pair()
    bob.sends_to(ADA)
    bob.hears("hub:unknown_actor")


@pytest.mark.parametrize("pattern", ["ask", "tell"])
def test_no_message_passes_for_the_hubs_own(pattern: str) -> None:
    hub, ada, bob = pair()
    body = {"targetAddress": BOB, "message": note("hub:disconnect")}
    asked = ada.says("hub:send", body, pattern=pattern)
    ada.hears("hub:unauthorized", correlationId=asked, payload__action="send")
    hub.concludes("rejected", "unauthorized")
    bob.hears_nothing()


def test_a_message_for_an_absent_target_waits_until_it_is_back() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    first = ada.sends_to(BOB, 1, metadata={"traceId": "t"}, ttl=60_000)
    ada.hears(
        "hub:delivery_ack",
        correlationId=first,
        payload={"messageId": first, "deliveredAt": hub.now_ms, "status": "queued"},
    )
    hub.concludes("queued")
    ada.sends_to(BOB, 2, pattern="tell", ttl=60_000)
    hub.concludes("queued")
    assert hub.kinds() == ["parcel", "parcel", "registration"]
    hub.passes(10_000)
    bob = hub.client(BOB)
    heard = bob.hears("chat:line", payload=1, to=BOB, ttl=50_000, **{"from": ADA})
    assert heard["metadata"] == {
        "forwarded": True,
        "via": HUB,
        "originalMessageId": first,
        "traceId": "t",
    }
    bob.hears("chat:line", payload=2)
    assert hub.kinds() == ["registration"]
    hub.passes(60_000)
    ada.hears_nothing()


def test_what_waits_survives_a_crash() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    asked = ada.sends_to(BOB, {"big": 2**70, "text": "é"}, ttl=60_000)
    ada.hears("hub:delivery_ack", payload__status="queued")
    hub.crashes(after_ms=5_000)
    bob = hub.client(BOB)
    heard = bob.hears("chat:line", payload={"big": 2**70, "text": "é"}, ttl=55_000)
    assert heard["metadata"]["originalMessageId"] == asked
    hub.crashes()
    bob = hub.client(BOB)
    bob.hears_nothing()


def test_what_waits_goes_to_a_target_that_registers_anew() -> None:
    hub, ada, bob = pair()
    bob.says("hub:unregister", {"actorAddress": BOB})
    bob.registers(ttlSeconds=60)
    bob.leaves()
    ada.sends_to(BOB, 1, ttl=200_000)
    hub.passes(100_000)
    bob = hub.client(BOB)
    bob.hears_nothing()
    bob.registers()
    bob.hears("chat:line", payload=1)


def test_a_message_that_waits_too_long_is_reported_to_its_sender() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    asked = ada.sends_to(BOB, ttl=20_000)
    ada.hears("hub:delivery_ack", payload__status="queued")
    hub.passes(20_000)
    ada.hears_nothing()
    hub.passes(1)
    ada.hears(
        "hub:error",
        correlationId=asked,
        payload__code="timeout",
        payload__retryable=True,
        payload__details={"targetAddress": BOB},
    )
    assert hub.kinds() == ["registration"]


def test_a_told_message_that_waits_too_long_is_dropped_in_silence() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    ada.sends_to(BOB, pattern="tell", ttl=20_000)
    hub.passes(20_001)
    ada.hears_nothing()
    assert hub.kinds() == ["registration"]


def test_a_send_without_lifetime_waits_for_thirty_seconds() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    ada.sends_to(BOB)
    ada.hears("hub:delivery_ack", payload__status="queued")
    hub.passes(30_000)
    ada.hears_nothing()
    hub.passes(1)
    ada.hears("hub:error", payload__code="timeout")


def test_an_old_send_without_lifetime_does_not_wait() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    asked = ada.sends_to(BOB, timestamp=hub.now_ms - 30_001)
    ada.hears("hub:error", correlationId=asked, payload__code="message_expired")
    hub.concludes("expired")
    ada.sends_to(BOB, timestamp=hub.now_ms - 30_001, pattern="tell")
    ada.hears_nothing()
    hub.concludes("expired")


def test_a_sender_that_is_away_hears_of_the_failure_when_it_is_back() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    asked = ada.sends_to(BOB, ttl=20_000)
    ada.leaves()
    hub.passes(20_001)
    assert hub.kinds() == ["registration", "report"]
    hub.crashes()
    ada = hub.client(ADA)
    ada.hears("hub:error", correlationId=asked, payload__code="timeout")
    assert hub.kinds() == ["registration"]
    ada.leaves()
    hub.client(ADA).hears_nothing()


def test_a_message_that_ended_while_the_hub_was_down_is_reported() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    asked = ada.sends_to(BOB, ttl=20_000)
    hub.crashes(after_ms=30_000)
    bob, ada = hub.client(BOB), hub.client(ADA)
    bob.hears_nothing()
    ada.hears("hub:error", correlationId=asked, payload__code="timeout")


def test_a_report_is_kept_for_an_hour() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    ada.sends_to(BOB, ttl=20_000)
    ada.leaves()
    hub.passes(20_001)
    hub.passes(3_599_999)
    assert "report" in hub.kinds()
    hub.passes(1)
    assert "report" not in hub.kinds()
    hub.client(ADA).hears_nothing()


def test_of_too_many_reports_the_oldest_goes() -> None:
    hub, ada, bob = pair(max_reports=2)
    bob.leaves()
    asked = [ada.sends_to(BOB, ttl=20_000 + number) for number in range(3)]
    ada.leaves()
    hub.passes(30_000)
    assert hub.kinds() == ["registration", "report", "report"]
    ada = hub.client(ADA)
    assert [ada.hears("hub:error")["correlationId"] for _ in range(2)] == asked[1:]


def test_no_more_reports_are_kept_than_for_all_senders_together() -> None:
    hub, ada, bob = pair(max_all_queued=1)
    cyd = hub.client(CYD)
    bob.leaves()
    for one in (ada, cyd):
        one.sends_to(BOB, ttl=20_000)
        one.leaves()
        hub.passes(20_001)
    assert hub.kinds() == ["registration", "report"]
    hub.client(CYD).hears_nothing()
    hub.client(ADA).hears("hub:error")


def test_a_hundred_messages_wait_for_an_actor_and_nothing_makes_way() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    for number in range(100):
        ada.sends_to(BOB, number)
        ada.hears("hub:delivery_ack", payload__status="queued")
    asked = ada.sends_to(BOB, 100)
    ada.hears(
        "hub:error",
        correlationId=asked,
        payload__code="internal_error",
        payload__details__reason="queue_full",
        payload__retryable=True,
    )
    hub.concludes("rejected", "queue_full")
    ada.sends_to(BOB, 101, pattern="tell")
    ada.hears_nothing()
    hub.concludes("rejected", "queue_full")
    bob = hub.client(BOB)
    assert [bob.hears("chat:line")["payload"] for _ in range(100)] == list(range(100))
    bob.hears_nothing()


def test_what_waits_for_all_is_bounded_by_number_and_size() -> None:
    _, ada, bob = pair(max_all_queued=1)
    bob.leaves()
    ada.sends_to(BOB)
    ada.hears("hub:delivery_ack")
    ada.sends_to(BOB)
    ada.hears("hub:error", payload__details__reason="queue_full")
    hub, ada, bob = pair(max_queued_size=50_000)
    bob.leaves()
    ada.sends_to(BOB, "x" * 20_000)
    ada.hears("hub:delivery_ack", payload__status="queued")
    assert 20_000 < hub.session.gauges()["queued_bytes"] < 25_000
    ada.sends_to(BOB, "x" * 5_000)
    ada.hears("hub:error", payload__details__reason="queue_full")
    cyd = hub.client(CYD, peer="192.0.2.2:1")
    cyd.sends_to(BOB, "x" * 5_000)
    cyd.hears("hub:delivery_ack", payload__status="queued")


def test_a_message_waits_for_a_day_at_most() -> None:
    hub, ada, bob = pair(silence_ms=10**10)
    bob.registers(ttlSeconds=3_600)
    bob.leaves()
    asked = ada.sends_to(BOB, 1, ttl=365 * 86_400_000)
    ada.hears("hub:delivery_ack", payload__status="queued")
    hub.passes(86_400_000)
    assert hub.session.gauges()["queued"] == 1
    hub.passes(1)
    ada.hears("hub:error", correlationId=asked, payload__code="timeout")
    assert hub.session.gauges()["queued_bytes"] == 0


def test_a_sender_cannot_fill_the_queue_for_another() -> None:
    hub, ada, bob = pair(max_queued_size=10_000_000)
    bob.leaves()
    for number in range(20):
        ada.sends_to(BOB, "x" * 900_000, ttl=10**12)
        ada.heard.clear()
        hub.passes(number)
    assert 4_000_000 < hub.session.gauges()["queued_bytes"] < 5_000_000
    hub.concludes("rejected", "queue_full")
    cyd = hub.client(CYD, peer="192.0.2.2:1")
    cyd.sends_to(BOB, "x" * 900_000)
    cyd.hears("hub:delivery_ack", payload__status="queued")


def test_with_authentication_the_identity_has_the_share_not_the_address() -> None:
    hub = Transcript(auth=True, token_secrets=(b"s" * 32,), max_all_queued=2)
    bob = hub.client(BOB, authToken=token(hub, BOB))
    bob.registers()
    bob.leaves()
    ada = hub.client(ADA, authToken=token(hub, ADA))
    ada.sends_to(BOB)
    ada.hears("hub:delivery_ack", payload__status="queued")
    ada.leaves()
    ada = hub.client(ADA, authToken=token(hub, ADA), peer="192.0.2.2:1")
    ada.sends_to(BOB)
    ada.hears("hub:error", payload__details__reason="queue_full")
    cyd = hub.client(CYD, authToken=token(hub, CYD))
    cyd.sends_to(BOB)
    cyd.hears("hub:delivery_ack", payload__status="queued")


def test_shares_outlive_a_crash() -> None:
    hub, ada, bob = pair(max_all_queued=4)
    bob.leaves()
    for _ in range(2):
        ada.sends_to(BOB, ttl=60_000)
        ada.hears("hub:delivery_ack")
    hub.crashes()
    ada = hub.client("@(another/name)")
    ada.sends_to(BOB)
    ada.hears("hub:error", payload__details__reason="queue_full")
    hub.client(CYD, peer="192.0.2.2:1").sends_to(BOB)
    hub.concludes("queued")


def test_a_message_that_waits_is_not_queued_twice_after_a_crash() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    asked = ada.sends_to(BOB, 1, ttl=60_000)
    hub.crashes()
    ada = hub.client(ADA)
    ada.sends_to(BOB, 1, ttl=60_000, id=asked)
    ada.hears("hub:delivery_ack", payload__status="queued", payload__messageId=asked)
    bob = hub.client(BOB)
    bob.hears("chat:line")
    bob.hears_nothing()


def test_messages_for_a_paused_target_wait_until_it_is_resumed() -> None:
    _hub, ada, bob = pair()
    bob.lags(1_001)
    bob.hears("hub:pause")
    ada.sends_to(BOB, 1)
    ada.hears("hub:delivery_ack", payload__status="queued")
    bob.hears_nothing()
    bob.lags(0)
    bob.hears("hub:resume")
    bob.hears("chat:line", payload=1)


def test_a_paused_target_is_not_flushed_by_registering() -> None:
    _hub, ada, bob = pair()
    bob.lags(1_001)
    bob.hears("hub:pause")
    ada.sends_to(BOB, 1)
    bob.registers()
    bob.hears_nothing()


def test_what_a_sender_hears_is_in_its_own_encoding_and_the_target_in_its_own() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA, packed=True), hub.client(BOB)
    ada.registers()
    bob.registers()
    for one, other in ((ada, bob), (bob, ada)):
        asked = one.sends_to(other.address, {"n": [1, None, "é", 1.5]})
        other.hears("chat:line", payload={"n": [1, None, "é", 1.5]})
        one.hears("hub:delivery_ack", correlationId=asked)


def test_a_number_that_the_targets_encoding_has_not_got_is_an_error() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB, packed=True)
    bob.registers()
    asked = ada.sends_to(BOB, 2**70)
    heard = ada.hears(
        "hub:error",
        correlationId=asked,
        payload__code="internal_error",
        payload__details__reason="not_portable",
        payload__retryable=False,
    )
    assert heard["payload"]["message"].startswith("cannot be passed on: ")
    hub.concludes("rejected", "internal")
    ada.sends_to(BOB, 2**70, pattern="tell")
    ada.hears_nothing()
    bob.hears_nothing()


def test_a_parcel_that_the_targets_encoding_cannot_carry_is_given_up() -> None:
    hub, ada, bob = pair()
    bob.leaves()
    asked = ada.sends_to(BOB, 2**70)
    ada.hears("hub:delivery_ack", payload__status="queued")
    hub.client(BOB, packed=True).hears_nothing()
    ada.hears("hub:error", correlationId=asked, payload__code="timeout")


def test_what_would_be_too_large_when_passed_on_is_refused() -> None:
    hub, ada, bob = pair(max_message_size=1_000, address=f"@({'hub' * 60})")
    asked = ada.sends_to(BOB, "x" * 620)
    heard = ada.hears("hub:message_too_large", correlationId=asked, payload__maxSize=1_000)
    assert heard["payload"]["messageSize"] > 1_000
    hub.concludes("rejected", "too_large")
    bob.hears_nothing()
    ada.sends_to(BOB, "x" * 300)
    bob.hears("chat:line")
