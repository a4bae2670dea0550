"""A hub's client whose hub a test speaks for, without sockets."""

from typing import Any

import msgspec

from support.clients import Script
from wireloom.protocols.signalhub.client.session import HubClientSession
from wireloom.protocols.signalhub.client.settings import ClientSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Conclude

ADA = "@(a/ada)"
HUB = "@(test/hub)"


def uid(name: str) -> str:
    """A message id with a name in it."""
    return f"00000000-0000-4000-8000-{name.encode().hex():0>12}"


class HubScript(Script):
    """A client of a hub, and what the hub says to it."""

    def __init__(self, **settings: Any) -> None:
        settings = {"url": "ws://hub", "address": ADA, **settings}
        self.client = HubClientSession(ClientSettings(**settings), Ids("client"), lambda: 0.5)
        super().__init__(self.client)

    def asked(self, type_: str) -> dict[str, Any]:
        """The oldest frame that left and was not spoken of."""
        document: dict[str, Any] = msgspec.json.decode(self.sent.popleft())
        assert document["type"] == type_
        return document

    def says(
        self, type_: str, payload: Any, answers: dict[str, Any] | None = None, **fields: Any
    ) -> Conclude:
        """The hub says something."""
        document = {
            "type": type_,
            "id": "11111111-1111-4111-8111-111111111111",
            "from": HUB,
            "to": ADA,
            "pattern": "tell",
            "correlationId": None if answers is None else answers["id"],
            "timestamp": 0,
            "payload": payload,
            "metadata": {},
            "ttl": None,
            "signature": None,
            **fields,
        }
        return self.hears(msgspec.json.encode(document), text=True)

    def welcomes(self, **fields: Any) -> dict[str, Any]:
        """The hub takes the client; gives what it had said."""
        wish = self.asked("hub:connect")
        payload = {
            "sessionId": "s",
            "serverVersion": "0.1.0",
            "maxMessageSize": 1_048_576,
            "heartbeatInterval": 25_000,
            "capabilities": {
                "maxActorsPerInstance": 1,
                "supportsBackpressure": True,
                "supportedContentTypes": ["json"],
            },
        }
        self.says("hub:connected", payload, wish, **fields)
        return wish

    def comes_back(self) -> None:
        """The connection that was lost is replaced."""
        self.passes(self.pause_ms())
        self.reaches()
        self.welcomes()


def connected(**settings: Any) -> HubScript:
    """A client that the hub has taken."""
    play = HubScript(**settings)
    play.opens()
    play.welcomes()
    return play
