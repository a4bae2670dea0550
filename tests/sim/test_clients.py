"""What clients hold against the books when something arrives."""

import pytest

from sim import plays
from wireloom.sim.clients import Client
from wireloom.sim.play import Play


@pytest.fixture
def play() -> Play:
    play = Play(plays.hub(faults={}), 1)
    while not any(one.arrived for one in play.ledger.messages.values() if one.targets):
        play.world.pass_time(100)
    return play


def arrived(play: Play) -> tuple[Client, str, str]:
    message = next(one for one in play.ledger.messages.values() if one.targets and one.arrived)
    client = next(part for part in play.parts if part.name == message.targets[0])
    assert isinstance(client, Client)
    return client, message.content, message.sender


def test_a_second_copy_is_noticed_unless_the_server_died(play: Play) -> None:
    client, text, sender = arrived(play)
    client.server.crashes.append(play.now_ns)
    client.takes(text, sender)
    assert not play.found
    client.takes(text, sender)
    assert [broken.invariant for broken in play.found] == ["once"]


def test_what_was_never_sent_or_by_somebody_else_is_noticed(play: Play) -> None:
    client, text, sender = arrived(play)
    client.takes("~" + "0" * 36 + "~", sender)
    client.takes(text, client.name)
    assert [broken.invariant for broken in play.found] == ["authentic", "authentic"]


def test_a_client_whose_server_is_down_tries_again() -> None:
    play = Play(plays.hub(faults={}, seconds=200), 1)
    server, client = play.parts[:2]
    assert isinstance(client, Client)
    play.end(server, kept=0, is_silent=False)
    play.world.pass_time(20_000)
    assert client.up_since_ns is None
    play.begin(server)
    play.world.pass_time(20_000)
    assert client.up_since_ns is not None
