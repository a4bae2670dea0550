"""Lines and actors."""

from collections.abc import Callable

import pytest

from protocols.signalhub import transcript
from protocols.signalhub.transcript import HUB, Transcript, note
from wireloom.protocols.signalhub.hub.connections import (
    TRANSITIONS,
    Actor,
    Client,
    Clients,
    Input,
    State,
)
from wireloom.protocols.signalhub.hub.encodings import PACKED, wire_text
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.session import Opened
from wireloom.wire.states import StateError

SETTINGS = HubSettings(secret=b"s" * 16)


def test_a_connection_belongs_to_nobody_until_it_is_attached() -> None:
    clients = Clients(SETTINGS)
    client = Client(Opened(7, "peer"), SETTINGS, "conn-7", 1)
    assert (client.state, client.address) == (State.OPENED, "@(line/7)")
    assert client.accepted.peer is None
    client.speak(PACKED)
    actor = clients.attach(client, "@(a)")
    assert actor is clients.actor("@(a)")
    assert actor.client is client
    assert (client.state, client.address) == (State.CONNECTED, "@(a)")
    assert client.to == PACKED.write("@(a)")
    assert client.accepted.peer == client.forwarded.peer == "@(a)"


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("step", Input)
def test_a_connection_takes_the_steps_of_the_table_and_no_other(state: State, step: Input) -> None:
    client = Client(Opened(7, "peer"), SETTINGS, "conn-7", 1)
    client.state = state
    if step in TRANSITIONS[state]:
        client.advance(step)
        assert client.state is TRANSITIONS[state][step]
    else:
        with pytest.raises(StateError, match=f"{step.name} in state {state.name}"):
            client.advance(step)


def test_a_client_is_known_while_it_is_connected_paused_or_not() -> None:
    client = Client(Opened(7, "peer"), SETTINGS, "conn-7", 1)
    known = [client.is_known]
    for step in (Input.RECV_CONNECT, Input.SEND_PAUSE, Input.SEND_RESUME, Input.SEND_CLOSE):
        client.advance(step)
        known.append(client.is_known)
    assert known == [False, True, True, True, False]


def test_only_an_actor_without_anything_is_released() -> None:
    clients = Clients(SETTINGS)
    actor = clients.actor("@(a)")
    actor.enlist("@(a)", wire_text("@(a)"))
    clients.release(actor)
    assert clients.actors == {"@(a)": actor}
    actor.strike("@(a)")
    actor.subscriptions["s"] = "t"
    assert not actor.is_idle
    actor.subscriptions.clear()
    clients.release(actor)
    clients.release(actor)
    assert clients.actors == {}


def test_releasing_someone_who_was_replaced_harms_nobody() -> None:
    clients = Clients(SETTINGS)
    clients.release(Actor("@(a)"))
    assert clients.actors == {}


def test_an_actor_keeps_its_own_name_whatever_it_registers() -> None:
    actor = Actor("@(a)")
    for address in ("@(a)", "@(b)"):
        actor.enlist(address, wire_text(address))
    assert actor.names == {one: wire_text(one) for one in ("@(a)", "@(b)")}
    for address in ("@(a)", "@(b)"):
        actor.strike(address)
    assert (actor.names, actor.registrations) == ({"@(a)": wire_text("@(a)")}, set())


BOB, LINE, OWN = "@(b/bob)", "@(x/line)", "@(x/a)"
both = pytest.mark.parametrize("packed", [False, True])


def named(*, packed: bool = False) -> tuple[Transcript, transcript.Client, transcript.Client]:
    """A hub, a client that has registered another address than its own, and a registered one."""
    hub = Transcript(silence_ms=10_000_000)
    ada, bob = hub.client(LINE, packed=packed), hub.client(BOB)
    bob.registers(ttlSeconds=3_600)
    ada.registers(OWN, ttlSeconds=3_600)
    return hub, ada, bob


@both
def test_a_registered_actor_speaks_in_its_own_name_and_is_answered(packed: bool) -> None:
    hub = Transcript()
    ada, bob = hub.client(LINE, packed=packed), hub.client(BOB)
    bob.registers()
    wish = {"actorAddress": OWN, "capabilities": ["x"], "metadata": {}}
    ada.asks("hub:register", wish, **{"from": OWN})
    ada.hears("hub:registered", to=OWN)
    for metadata in ({}, {"traceId": "t"}):
        asked = ada.sends_to(BOB, metadata=metadata, **{"from": OWN})
        bob.hears("chat:line", **{"from": OWN})
        ada.hears("hub:delivery_ack", to=OWN, correlationId=asked)
    bob.sends_to(OWN)
    ada.hears("chat:line", to=OWN, **{"from": BOB})
    assert hub.conclusions[-1].peer == BOB


@both
def test_many_hear_the_name_that_speaks(packed: bool) -> None:
    _, ada, bob = named(packed=packed)
    asked = ada.asks("hub:subscribe", {"topic": "t"}, **{"from": OWN})
    ada.hears("hub:subscribed", to=OWN, correlationId=asked)
    bob.subscribes("t")
    ada.says("hub:publish", {"topic": "t", "message": note()}, **{"from": OWN})
    bob.hears("chat:line", **{"from": OWN})
    ada.hears("chat:line", to=LINE, **{"from": OWN})  # the subscription is the client's (R42)
    ada.hears("hub:published", to=OWN)
    ada.says("hub:broadcast", {"message": note()}, **{"from": OWN})
    ada.hears("chat:line", to=OWN)
    ada.hears("hub:broadcast_ack", to=OWN)
    bob.hears("chat:line", **{"from": OWN})


def test_a_broadcast_leaves_out_the_name_that_speaks_or_all_of_the_client() -> None:
    _, ada, bob = named()
    ada.registers("@(x/b)")
    body = {"message": note(), "excludeSelf": True}
    ada.says("hub:broadcast", body, **{"from": OWN})
    ada.hears("chat:line", to="@(x/b)")
    ada.hears("hub:broadcast_ack", payload__deliveredCount=2)
    ada.says("hub:broadcast", body)
    ada.hears("hub:broadcast_ack", to=LINE, payload__deliveredCount=1)
    bob.hears("chat:line", **{"from": OWN})
    bob.hears("chat:line", **{"from": LINE})


def _taken(hub: Transcript, ada: transcript.Client) -> None:
    hub.client("@(z/thief)").registers(OWN)
    del ada


def _left(hub: Transcript, ada: transcript.Client) -> None:
    ada.says("hub:unregister", {"actorAddress": OWN})
    del hub


@pytest.mark.parametrize("end", [_taken, _left])
def test_a_name_ends_with_its_registration(
    end: Callable[[Transcript, transcript.Client], None],
) -> None:
    hub, ada, bob = named()
    end(hub, ada)
    asked = ada.sends_to(BOB, **{"from": OWN})
    bob.hears("chat:line", **{"from": LINE})
    ada.hears("hub:delivery_ack", to=LINE, correlationId=asked)


def test_a_name_ends_in_time() -> None:
    hub, ada, bob = named()
    ada.registers("@(x/brief)", ttlSeconds=60)
    hub.passes(60_000)
    ada.sends_to(BOB, **{"from": "@(x/brief)"})
    bob.hears("chat:line", **{"from": LINE})


@pytest.mark.parametrize("claimed", [BOB, "@(no/body)", HUB, "@(line/1)"])
def test_nobody_speaks_in_the_name_of_another(claimed: str) -> None:
    _, ada, bob = named()
    asked = ada.sends_to(BOB, **{"from": claimed})
    bob.hears("chat:line", **{"from": LINE})
    ada.hears("hub:delivery_ack", to=LINE, correlationId=asked)
    ada.sends_to("@(un/known)", **{"from": claimed})
    ada.hears("hub:unknown_actor", to=LINE)


def test_refusals_go_to_the_name_that_asked() -> None:
    hub, ada, _ = named()
    own = {"from": OWN}
    ada.sends_to("@(un/known)", **own)
    ada.hears("hub:unknown_actor", to=OWN)
    ada.asks("hub:renew", {"renewalToken": "x"}, **own)
    assert ada.heard.popleft().to == OWN
    ada.says("hub:pause", {"reason": "x"}, **own)
    ada.hears("hub:unauthorized", to=OWN)
    ada.sends_to(BOB, ttl=1, timestamp=hub.now_ms - 10, **own)
    ada.hears("hub:error", to=OWN, payload__code="message_expired")
    ada.says("hub:heartbeat", {"timestamp": 1}, **own)
    ada.hears("hub:heartbeat_ack", to=OWN)


@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.parametrize("gone", [False, True])
def test_a_failure_finds_the_client_and_names_who_asked(crash: bool, gone: bool) -> None:
    hub, ada, bob = named()
    bob.leaves()
    first = ada.sends_to(BOB, ttl=1_000, **{"from": OWN})
    ada.hears("hub:delivery_ack", to=OWN, payload__status="queued")
    if gone:
        ada.says("hub:unregister", {"actorAddress": OWN})
    hub.passes(2_000)
    ada.hears("hub:error", to=OWN, correlationId=first, payload__code="timeout")
    second = ada.sends_to(BOB, ttl=1_000, **{"from": LINE if gone else OWN})
    ada.leaves()
    hub.passes(2_000)
    if crash:
        hub.crashes()
    back = hub.stranger(LINE)
    back.registered.add(OWN)
    back.connects()
    back.hears("hub:connected")
    back.hears("hub:error", to=LINE if gone else OWN, correlationId=second)
    assert "report" not in hub.kinds()


def test_what_waited_comes_from_the_name_that_sent_it_also_after_a_crash() -> None:
    hub, ada, bob = named()
    bob.leaves()
    asked = ada.sends_to(BOB, **{"from": OWN})
    ada.hears("hub:delivery_ack", to=OWN)
    ada.sends_to(BOB, id=asked, **{"from": OWN})
    ada.hears("hub:delivery_ack", to=OWN)
    hub.concludes("duplicate")
    hub.crashes()
    hub.client(BOB).hears("chat:line", metadata__originalMessageId=asked, **{"from": OWN})
