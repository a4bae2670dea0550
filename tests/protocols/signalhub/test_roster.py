"""Lines and actors."""

from wireloom.protocols.signalhub.dialects import PACKED
from wireloom.protocols.signalhub.roster import Actor, Connection, Roster, State
from wireloom.protocols.signalhub.settings import HubSettings
from wireloom.wire.session import Opened

SETTINGS = HubSettings(secret=b"s" * 16)


def test_a_connection_belongs_to_nobody_until_it_is_attached() -> None:
    roster = Roster(SETTINGS)
    connection = Connection(Opened(7, "peer"), SETTINGS, "conn-7", 1)
    assert (connection.state, connection.address) == (State.OPENED, "@(line/7)")
    assert connection.accepted.peer is None
    connection.speak(PACKED)
    actor = roster.attach(connection, "@(a)")
    assert actor is roster.actor("@(a)")
    assert actor.connection is connection
    assert (connection.state, connection.address) == (State.CONNECTED, "@(a)")
    assert connection.to == PACKED.write("@(a)")
    assert connection.accepted.peer == connection.forwarded.peer == "@(a)"


def test_only_an_actor_without_anything_is_released() -> None:
    roster = Roster(SETTINGS)
    actor = roster.actor("@(a)")
    actor.registrations.add("@(a)")
    roster.release(actor)
    assert roster.actors == {"@(a)": actor}
    actor.registrations.clear()
    actor.subscriptions["s"] = "t"
    assert not actor.is_idle
    actor.subscriptions.clear()
    roster.release(actor)
    roster.release(actor)
    assert roster.actors == {}


def test_releasing_someone_who_was_replaced_harms_nobody() -> None:
    roster = Roster(SETTINGS)
    roster.release(Actor("@(a)"))
    assert roster.actors == {}
