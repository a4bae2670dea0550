"""A connection before and after its association."""

import pytest

from wireloom.protocols.cthun.broker.clients import Client, State, Step, owner
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Conclude
from wireloom.wire.states import StateError


def test_a_new_connection_is_nobody_and_gets_nothing() -> None:
    client = Client(7, "a.example.com", 5)
    assert (client.line, client.identity, client.active_ms) == (7, "a.example.com", 5)
    assert client.state is State.OPEN
    assert client.uri is None
    assert not client.ready
    assert not client.stalled


def test_an_associated_connection_names_its_client_in_every_outcome() -> None:
    client = Client(7, None, 5)
    client.associate("cth://a/agent")
    assert client.state is State.ASSOCIATED
    assert client.forwarded == Conclude(Outcome.FORWARDED, None, "cth://a/agent")


def test_a_share_belongs_to_a_proven_name_or_to_an_address() -> None:
    assert owner("alice", "192.0.2.1:80") == "name alice"
    assert owner(None, "192.0.2.1:80") == owner(None, "192.0.2.1:81") == "network 192.0.2.1"
    assert owner(None, "[2001:db8::1]:80") == owner(None, "[2001:db8::2]:80")
    assert owner("192.0.2.1", "") != owner(None, "192.0.2.1:80")


def test_a_connection_never_goes_back() -> None:
    client = Client(7, None, 5)
    client.associate("cth://a/agent")
    with pytest.raises(StateError):
        client.associate("cth://b/agent")
    client.ready = True
    client.advance(Step.CLOSE)
    assert client.state is State.CLOSING
    assert not client.ready
    with pytest.raises(StateError):
        client.advance(Step.CLOSE)
    client.advance(Step.LOSE)
    assert client.state is State.CLOSING
