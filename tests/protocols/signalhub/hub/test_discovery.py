"""Registration and search, as transcripts."""

from typing import Any

import pytest

from protocols.signalhub.transcript import HUB, Client, Transcript, note
from wireloom.protocols.signalhub.tokens import Claims, create
from wireloom.wire.rates import Rate

ADA, BOB, CYD = "@(a/ada)", "@(b/bob)", "@(c/cyd)"


def found(client: Client, pattern: str, **more: Any) -> list[str]:
    """The addresses that a search gives."""
    client.asks("hub:discover", {"pattern": pattern, **more})
    actors = client.hears("hub:discovered")["payload"]["actors"]
    return [one["actorAddress"] for one in actors]


def test_a_registration_is_granted_for_five_minutes_if_nothing_is_said() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    granted = ada.registers()
    hub.concludes("accepted")
    assert granted["actorAddress"] == ADA
    assert granted["expiresAt"] == hub.now_ms + 300_000
    assert granted["version"] == 1
    assert hub.kinds() == ["registration"]


def test_a_registration_ends_with_its_time() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    ada.registers(ttlSeconds=60)
    hub.passes(50_000)
    bob.beats()
    hub.passes(9_999)
    bob.sends_to(ADA)
    bob.hears("hub:delivery_ack")
    hub.passes(1)
    bob.sends_to(ADA)
    bob.hears("hub:unknown_actor", payload__actorAddress=ADA)
    assert hub.kinds() == []


def test_a_registration_that_is_over_is_not_found_though_its_timer_is_late() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    token = ada.registers(ttlSeconds=60)["renewalToken"]
    hub.now_ms += 60_000
    bob.sends_to(ADA)
    bob.hears("hub:unknown_actor")
    ada.asks("hub:renew", {"renewalToken": token})
    ada.hears("hub:error", payload__code="unauthorized", payload__retryable=False)
    assert ada.registers()["version"] == 1


@pytest.mark.parametrize("seconds", [59, 3_601, 0])
def test_a_time_outside_the_limits_is_refused_not_clamped(seconds: int) -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    payload = {"actorAddress": ADA, "capabilities": ["x"], "metadata": {}, "ttlSeconds": seconds}
    asked = ada.asks("hub:register", payload)
    ada.hears("hub:error", correlationId=asked, payload__details__reason="invalid_message")
    hub.concludes("rejected", "malformed")


def test_registering_again_replaces_the_registration_and_counts() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    first = ada.registers()
    second = bob.registers(ADA)
    assert second["version"] == 2
    assert second["renewalToken"] != first["renewalToken"]
    cyd = hub.client(CYD)
    cyd.sends_to(ADA)
    bob.hears("chat:line", to=ADA)
    ada.hears_nothing()
    ada.asks("hub:renew", {"renewalToken": first["renewalToken"]})
    ada.hears("hub:error", payload__code="unauthorized")


def test_an_actor_that_is_away_is_forgotten_when_its_address_is_taken() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    ada.registers()
    ada.leaves()
    bob.registers(ADA)
    bob.asks("hub:list_actors", {})
    bob.hears("hub:actor_list", payload__total=1)


def test_renewal_tokens_cannot_be_told_from_each_other() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    tokens = {ada.registers()["renewalToken"] for _ in range(50)}
    assert len(tokens) == 50
    assert all(len(token) == 64 and int(token, 16) for token in tokens)


def test_renewal_tokens_follow_from_the_secret() -> None:
    granted = {
        Transcript(secret=secret).client(ADA).registers()["renewalToken"]
        for secret in (b"1" * 32, b"1" * 32, b"2" * 32)
    }
    assert len(granted) == 2


def test_a_renewal_grants_the_first_time_again_and_the_next_token() -> None:
    hub = Transcript(silence_ms=1_000_000)
    ada, bob = hub.client(ADA), hub.client(BOB)
    token = ada.registers(ttlSeconds=60)["renewalToken"]
    hub.passes(40_000)
    asked = ada.asks("hub:renew", {"renewalToken": token})
    renewed = ada.hears("hub:renewed", correlationId=asked, payload__expiresAt=hub.now_ms + 60_000)[
        "payload"
    ]
    assert renewed["renewalToken"] != token
    hub.passes(40_000)
    bob.beats()
    assert found(bob, ADA) == [ADA]
    ada.asks("hub:renew", {"renewalToken": token})
    ada.hears("hub:error", payload__code="unauthorized", payload__retryable=False)
    hub.concludes("rejected", "unauthorized")
    ada.asks("hub:renew", {"renewalToken": renewed["renewalToken"]})
    ada.hears("hub:renewed")
    bob.asks("hub:discover", {"pattern": ADA})
    (shown,) = bob.hears("hub:discovered")["payload"]["actors"]
    assert shown["version"] == 3


def test_a_token_renews_for_its_owner_alone() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    token = ada.registers()["renewalToken"]
    bob.asks("hub:renew", {"renewalToken": token})
    bob.hears("hub:error", payload__code="unauthorized", payload__retryable=False)


def test_heartbeats_renew_what_was_registered_so() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    token = ada.registers(renew=True, ttlSeconds=60)["renewalToken"]
    ada.registers("@(a/other)", ttlSeconds=60)
    for _ in range(4):
        hub.passes(25_000)
        ada.beats()
    assert found(ada, "*") == [ADA]
    ada.asks("hub:renew", {"renewalToken": token})
    ada.hears("hub:renewed")


def test_many_heartbeats_renew_once_in_ten_seconds() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.registers(renew=True)
    for wait_ms, left_ms in ((9_999, 290_001), (1, 300_000), (5_000, 295_000)):
        hub.passes(wait_ms)
        ada.beats()
        ada.asks("hub:discover", {"pattern": ADA})
        (shown,) = ada.hears("hub:discovered")["payload"]["actors"]
        assert shown["expiresAt"] - hub.now_ms == left_ms


def test_a_registration_outlives_its_connection() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    ada.registers()
    ada.leaves()
    assert found(bob, "*") == [ADA]


def test_an_unregistered_actor_is_unknown() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    ada.registers()
    ada.says("hub:unregister", {"actorAddress": ADA})
    hub.concludes("accepted")
    ada.hears_nothing()
    bob.sends_to(ADA)
    bob.hears("hub:unknown_actor")
    assert hub.kinds() == []
    ada.says("hub:unregister", {"actorAddress": ADA})
    hub.concludes("accepted")


def test_nobody_unregisters_another() -> None:
    hub = Transcript()
    ada, bob = hub.client(ADA), hub.client(BOB)
    ada.registers()
    asked = bob.says("hub:unregister", {"actorAddress": ADA})
    bob.hears("hub:unauthorized", correlationId=asked, payload__action="unregister")
    hub.concludes("rejected", "unauthorized")
    assert found(bob, "*") == [ADA]


def test_with_authentication_only_the_own_address_and_those_below_it_are_registered() -> None:
    hub = Transcript(auth=True, token_secrets=(b"s" * 32,))
    claims = Claims(sub="u", actor_id="a/ada", iss="signal-hub", iat=hub.now_ms // 1000)
    ada = hub.client(ADA, authToken=create(claims, key=b"s" * 32))
    ada.registers()
    ada.registers("@(a/ada/window-1)")
    for address in (BOB, "@(a/adam)", "@(a/ada/)x)"[:-2] + "/"):
        payload = {"actorAddress": address, "capabilities": ["x"], "metadata": {}}
        ada.asks("hub:register", payload)
        ada.heard.popleft()
        assert hub.conclusions[-1].outcome == "rejected"


def test_the_address_of_the_hub_is_nobodys() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    payload = {"actorAddress": HUB, "capabilities": ["x"], "metadata": {}}
    ada.asks("hub:register", payload)
    ada.hears("hub:unauthorized", payload__action="register")


def test_an_actor_registers_a_hundred_addresses_and_no_more() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    for number in range(100):
        ada.registers(f"@(a/{number})")
    payload = {"actorAddress": "@(a/100)", "capabilities": ["x"], "metadata": {}}
    asked = ada.asks("hub:register", payload)
    ada.hears(
        "hub:error",
        correlationId=asked,
        payload__code="internal_error",
        payload__details__reason="limit_reached",
        payload__retryable=True,
    )
    hub.concludes("rejected", "queue_full")
    ada.registers("@(a/99)")


def test_a_full_hub_registers_no_new_address_but_the_old_ones_again() -> None:
    hub = Transcript(max_actors=1)
    ada, bob = hub.client(ADA), hub.client(BOB)
    ada.registers()
    bob.asks("hub:register", {"actorAddress": BOB, "capabilities": ["x"], "metadata": {}})
    bob.hears("hub:error", payload__details__reason="limit_reached")
    assert ada.registers()["version"] == 2


def test_a_large_registration_is_refused() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    payload = {"actorAddress": ADA, "capabilities": ["x"], "metadata": {"about": "x" * 8_192}}
    asked = ada.asks("hub:register", payload)
    ada.hears("hub:message_too_large", correlationId=asked, payload__maxSize=1_048_576)
    hub.concludes("rejected", "too_large")
    ada.registers(metadata={"about": "x" * 7_900})


def test_a_page_of_the_largest_registrations_fits_into_a_frame() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    for number in range(100):
        ada.registers(f"@(a/{number})", metadata={"about": "\0" * 1_300})
    ada.asks("hub:list_actors", {})
    assert len(ada.hears("hub:actor_list")["payload"]["actors"]) == 100


def test_registrations_are_limited_in_a_minute() -> None:
    hub = Transcript(register_rate=Rate(5, 60_000))
    ada = hub.client(ADA)
    for _ in range(5):
        ada.registers()
    payload = {"actorAddress": ADA, "capabilities": ["x"], "metadata": {}}
    asked = ada.asks("hub:register", payload)
    ada.hears("hub:rate_limited", correlationId=asked, payload={"retryAfter": 12_000})
    hub.concludes("rejected", "rate_limited")
    hub.passes(12_000)
    ada.registers()


def test_discovery_finds_by_pattern_sorted_and_shows_no_token() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    for address in ("@(b/w-2)", "@(b/w-10)", "@(b/x)", "@(c/w-1)"):
        ada.registers(address, metadata={"n": 1})
    assert found(ada, "@(b/w-*)") == ["@(b/w-10)", "@(b/w-2)"]
    assert found(ada, "@(*/w-1*)") == ["@(b/w-10)", "@(c/w-1)"]
    assert found(ada, "@(*)") == ["@(b/w-10)", "@(b/w-2)", "@(b/x)", "@(c/w-1)"]
    assert found(ada, "@(b/x)") == ["@(b/x)"]
    assert found(ada, "@(b/y)") == []
    asked = ada.asks("hub:discover", {"pattern": "@(b/x)"})
    heard = ada.hears("hub:discovered", correlationId=asked, payload__hasMore=False)
    assert heard["payload"]["actors"] == [
        {
            "actorAddress": "@(b/x)",
            "capabilities": ["render"],
            "metadata": {"n": 1},
            "connectionId": heard["payload"]["actors"][0]["connectionId"],
            "registeredAt": hub.now_ms,
            "expiresAt": hub.now_ms + 300_000,
            "version": 1,
        }
    ]


def test_discovery_says_whether_there_are_more() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    for number in range(3):
        ada.registers(f"@(a/{number})")
    ada.asks("hub:discover", {"pattern": "*", "limit": 2})
    assert len(ada.hears("hub:discovered", payload__hasMore=True)["payload"]["actors"]) == 2
    ada.asks("hub:discover", {"pattern": "*", "limit": 3})
    ada.hears("hub:discovered", payload__hasMore=False)
    ada.asks("hub:discover", {"pattern": "*", "limit": 101})
    ada.hears("hub:error", payload__details__reason="invalid_message")


def test_searches_are_limited_in_a_second() -> None:
    hub = Transcript(discover_rate=Rate(2, 1_000))
    ada = hub.client(ADA)
    for _ in range(2):
        found(ada, "*")
    ada.asks("hub:discover", {"pattern": "*"})
    ada.hears("hub:rate_limited", payload={"retryAfter": 500})
    ada.asks("hub:list_actors", {})
    ada.hears("hub:rate_limited", payload={"retryAfter": 500})


def test_a_list_is_paged() -> None:
    hub = Transcript(max_registrations=1_000)
    ada = hub.client(ADA)
    for number in range(101):
        ada.registers(f"@(a/{number:03d})")
    asked = ada.asks("hub:list_actors", {})
    page = {"total": 101, "offset": 0, "limit": 100, "hasMore": True}
    heard = ada.hears("hub:actor_list", correlationId=asked)["payload"]
    assert len(heard.pop("actors")) == 100
    assert heard == page
    ada.asks("hub:list_actors", {"offset": 100, "limit": 1})
    last = ada.hears("hub:actor_list", payload__hasMore=False)["payload"]["actors"]
    assert [one["actorAddress"] for one in last] == ["@(a/100)"]
    ada.asks("hub:list_actors", {"offset": 2**62})
    ada.hears("hub:actor_list", payload__actors=[], payload__hasMore=False)


def test_an_absent_actor_without_registration_loses_its_subscriptions() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.registers(ttlSeconds=60)
    ada.subscribes("news", durable=True)
    ada.leaves()
    hub.passes(59_999)
    assert hub.kinds() == ["registration", "subscription"]
    hub.passes(1)
    assert hub.kinds() == []
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.says("hub:publish", {"topic": "news", "message": note()})
    bob.hears("hub:published", payload__subscriberCount=0)


def test_a_connected_actor_keeps_its_subscriptions_without_registration() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.registers(ttlSeconds=60)
    ada.subscribes("news")
    hub.passes(50_000)
    ada.beats()
    hub.passes(50_000)
    ada.says("hub:publish", {"topic": "news", "message": note()})
    ada.hears("chat:line")
    ada.hears("hub:published", payload__subscriberCount=1)
