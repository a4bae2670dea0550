"""Servers that a test speaks for, frame by frame."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from websockets.asyncio.server import Server, ServerConnection, serve

from wireloom.live.clients.client import Client
from wireloom.live.clients.errors import LostError
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.cthun import codec as cthun_codec
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    AssociateResponse,
    BrokerData,
    Envelope,
    Packet,
)
from wireloom.wire.client.backoff import Backoff

HUB = "@(test/hub)"
BEAT_SECONDS = 25.0


SOON = Backoff(first_seconds=0.01, most_seconds=0.05)


def quick(**more: Any) -> Tuning:
    """Patience of a test: reconnecting takes next to no time, chance is in the middle."""
    return Tuning(**{"backoff": SOON, "random": lambda: 0.5, "goodbye_seconds": 1, **more})


class Peer:
    """A client as the server sees it."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection

    async def hear(self, type_: str | None = None) -> dict[str, Any]:
        async with asyncio.timeout(5):
            heard: dict[str, Any] = json.loads(await self.connection.recv())
        assert type_ in (None, heard["type"]), heard
        return heard

    async def say(
        self, type_: str, payload: Any, answers: dict[str, Any] | None = None, **fields: Any
    ) -> None:
        document = {
            "type": type_,
            "id": str(uuid4()),
            "from": HUB,
            "to": "@(a/ada)",
            "pattern": "tell",
            "correlationId": None if answers is None else answers["id"],
            "timestamp": 0,
            "payload": payload,
            "metadata": {},
            "ttl": None,
            "signature": None,
            **fields,
        }
        await self.connection.send(json.dumps(document))

    async def welcome(self, heartbeat_ms: int = int(BEAT_SECONDS * 1000)) -> dict[str, Any]:
        asked = await self.hear("hub:connect")
        payload = {
            "sessionId": "s",
            "serverVersion": "0.1.0",
            "maxMessageSize": 1_048_576,
            "heartbeatInterval": heartbeat_ms,
            "capabilities": {
                "maxActorsPerInstance": 1,
                "supportsBackpressure": True,
                "supportedContentTypes": ["json"],
            },
        }
        await self.say("hub:connected", payload, asked)
        return asked

    async def take(self) -> Packet:
        """The next message of a client of the broker."""
        async with asyncio.timeout(5):
            raw = await self.connection.recv()
        assert isinstance(raw, bytes)
        return cthun_codec.decode(raw)

    async def tell(self, data: BrokerData) -> None:
        """Says something as a broker."""
        type_ = next(name for name, cls in BROKER_TYPES.items() if cls is type(data))
        await self.give(Packet(envelope=envelope(type_), data=data))

    async def give(self, packet: Packet) -> None:
        await self.connection.send(cthun_codec.encode(packet))

    async def associate(self) -> None:
        asked = await self.take()
        await self.tell(AssociateResponse(id=asked.envelope.id, success=True))


def fails_once(client: Client[Any], peer: Peer) -> None:
    """Has the client's connection take no frame any more, and end then."""
    channel = client._driver._channel
    assert channel is not None

    async def fail(raw: bytes, *, text: bool = False) -> None:
        peer.connection.transport.abort()
        raise LostError(None)

    channel.socket.send = fail  # type: ignore[method-assign]


def envelope(type_: str, sender: str = "cth:///server") -> Envelope:
    return Envelope(
        id=str(uuid4()),
        message_type=type_,
        expires="2099-01-01T00:00:00Z",
        targets=(),
        sender=sender,
    )


class Scripted:
    """A server whose clients come out of a queue."""

    def __init__(self) -> None:
        self._peers: asyncio.Queue[Peer] = asyncio.Queue()
        self.server: Server
        self.port = 0

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/"

    @property
    def waiting(self) -> int:
        return self._peers.qsize()

    async def accept(self) -> Peer:
        async with asyncio.timeout(5):
            return await self._peers.get()

    async def handle(self, connection: ServerConnection) -> None:
        self._peers.put_nowait(Peer(connection))
        await connection.wait_closed()


@asynccontextmanager
async def scripted() -> AsyncIterator[Scripted]:
    hub = Scripted()
    async with serve(hub.handle, "127.0.0.1", 0, compression=None, close_timeout=1) as server:
        hub.server = server
        hub.port = next(iter(server.sockets)).getsockname()[1]
        yield hub
