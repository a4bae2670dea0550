"""A hub that begins with what another one left."""

from protocols.signalhub import transcript
from protocols.signalhub.transcript import BEGIN_MS, SECRET, Transcript
from support.commands import commands_at_start
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Forget, Store

ADA, BOB = "@(a/ada)", "@(b/bob)"


def test_registrations_are_as_acknowledged_after_a_crash() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    granted = ada.registers(ttlSeconds=600)
    hub.crashes(after_ms=10_000)
    bob = hub.client(BOB)
    bob.asks("hub:list_actors", {})
    (shown,) = bob.hears("hub:actor_list")["payload"]["actors"]
    assert (shown["expiresAt"], shown["version"]) == (granted["expiresAt"], 1)
    ada = hub.client(ADA)
    ada.asks("hub:renew", {"renewalToken": granted["renewalToken"]})
    ada.hears("hub:renewed", payload__expiresAt=hub.now_ms + 600_000)


def test_a_renewal_is_as_acknowledged_after_a_crash() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    token = ada.registers()["renewalToken"]
    ada.asks("hub:renew", {"renewalToken": token})
    renewed = ada.hears("hub:renewed")["payload"]
    hub.crashes()
    ada = hub.client(ADA)
    ada.asks("hub:renew", {"renewalToken": token})
    ada.hears("hub:error", payload__code="unauthorized")
    ada.asks("hub:renew", {"renewalToken": renewed["renewalToken"]})
    ada.hears("hub:renewed")


def test_a_restored_registration_still_ends() -> None:
    hub = Transcript()
    hub.client(ADA).registers(ttlSeconds=60)
    hub.crashes(after_ms=30_000)
    hub.passes(29_999)
    assert hub.kinds() == ["registration"]
    hub.passes(1)
    assert hub.kinds() == []


def test_what_ended_while_the_hub_was_away_is_forgotten() -> None:
    hub = Transcript()
    ada = hub.client(ADA)
    ada.registers(ttlSeconds=60)
    ada.subscribes("t", durable=True)
    hub.crashes(after_ms=60_000)
    assert hub.kinds() == []
    assert hub.session.gauges()["subscriptions"] == 0


def test_subscriptions_of_an_actor_without_registration_wait_a_day_again() -> None:
    hub = Transcript()
    hub.client(ADA).subscribes("t", durable=True)
    hub.crashes(after_ms=40_000_000)
    hub.passes(86_399_999)
    assert hub.kinds() == ["subscription"]
    hub.passes(1)
    assert hub.kinds() == []


def test_records_that_cannot_be_read_are_set_aside_and_counted() -> None:
    session = HubSession(HubSettings(secret=SECRET), Ids("boot"))
    kinds = ("registration", "subscription", "parcel", "report", "something")
    records = [Store(kind, "key", b"\xc1") for kind in kinds]
    kept = [Store("hub-unreadable", f"{kind} key", b"\xc1") for kind in kinds]
    commands = commands_at_start(session, records, BEGIN_MS)
    assert [one for one in commands if isinstance(one, Store)] == kept
    assert [one for one in commands if isinstance(one, Forget)] == [
        Forget(kind, "key") for kind in kinds
    ]
    assert session.gauges()["unreadable_records"] == 5
    again = HubSession(HubSettings(secret=SECRET), Ids("boot"))
    assert commands_at_start(again, kept, BEGIN_MS) == []
    assert again.gauges()["unreadable_records"] == 5


def test_no_flipped_bit_of_any_record_stops_the_start_or_costs_another_one() -> None:
    hub = Transcript(silence_ms=10_000_000)
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.registers(ttlSeconds=600)
    bob.subscribes("t", durable=True)
    bob.leaves()
    for number in range(2):
        ada.sends_to(BOB, {"number": number}, ttl=600_000)
    for spoilt in hub.stored:
        for bit in range(8 * len(hub.stored[spoilt])):
            records = dict(hub.stored)
            value = bytearray(records[spoilt])
            value[bit // 8] ^= 1 << bit % 8
            records[spoilt] = bytes(value)
            session = HubSession(HubSettings(secret=SECRET), Ids("boot"))
            commands_at_start(
                session, [Store(*key, value) for key, value in records.items()], hub.now_ms
            )
            gauges = session.gauges()
            assert gauges["queued"] >= 2 - (spoilt[0] == "parcel")
            assert gauges["registrations"] == 1 or spoilt[0] == "registration"


def test_a_message_that_is_no_json_is_set_aside_and_the_next_arrives() -> None:
    # Not on sockets, where nobody can spoil what is stored.
    hub = transcript.Transcript(silence_ms=10_000_000)
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.registers()
    bob.leaves()
    for number in range(2):
        ada.sends_to(BOB, {"number": number}, ttl=600_000)
    first, _ = (key for key in hub.stored if key[0] == "parcel")
    hub.stored[first] = hub.stored[first].replace(b'{"number":0}', b'{"number"!0}')
    hub.crashes()
    bob = hub.client(BOB, packed=True)
    assert bob.hears("chat:line")["payload"] == {"number": 1}
    assert hub.session.gauges()["unreadable_records"] == 1


def test_a_first_life_has_nothing_to_do() -> None:
    assert (
        commands_at_start(HubSession(HubSettings(secret=SECRET), Ids("boot")), (), BEGIN_MS) == []
    )


def test_more_reports_than_are_kept_are_forgotten() -> None:
    hub = Transcript(silence_ms=10_000_000)
    ada, bob = hub.client(ADA), hub.client(BOB)
    bob.registers()
    bob.leaves()
    for _ in range(2):
        ada.sends_to(BOB, ttl=1_000)
    ada.leaves()
    hub.passes(2_000)
    assert hub.kinds() == ["registration", "report", "report"]
    hub.settings = HubSettings(secret=SECRET, max_reports=1)
    hub.crashes()
    assert hub.kinds() == ["registration", "report"]
    timers = [one for one in hub.timers if isinstance(one, tuple) and one[0] == "reports"]
    assert timers == [("reports", ADA)]
    assert isinstance(hub.timers[timers[0]], int)
