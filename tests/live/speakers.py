"""Clients of the hub and of the broker, on the `websockets` package and by hand."""

import itertools
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import msgpack
from websockets.asyncio.client import ClientConnection, connect

HUB = "@(cloudflare/signal-hub)"
BROKER = "cth:///server"


class HubSpeaker:
    """An actor at the hub; JSON, or MessagePack if it is `packed`."""

    def __init__(self, connection: ClientConnection, address: str, *, packed: bool) -> None:
        self.connection = connection
        self.address = address
        self.packed = packed

    async def say(self, type_: str, payload: Any, **fields: Any) -> str:
        document = {
            "type": type_,
            "id": str(uuid4()),
            "from": self.address,
            "to": HUB,
            "pattern": "ask",
            "correlationId": None,
            "timestamp": time.time_ns() // 1_000_000,
            "payload": payload,
            "metadata": {},
            "ttl": None,
            "signature": None,
            **fields,
        }
        raw = msgpack.packb(document) if self.packed else json.dumps(document)
        await self.connection.send(raw)
        return str(document["id"])

    async def hear(self, type_: str) -> Any:
        raw = await self.connection.recv()
        heard = msgpack.unpackb(raw) if self.packed else json.loads(raw)
        assert heard["type"] == type_, heard
        return heard

    async def ask(self, type_: str, payload: Any, answer: str, **fields: Any) -> Any:
        asked = await self.say(type_, payload, **fields)
        heard = await self.hear(answer)
        assert heard["correlationId"] == asked
        return heard["payload"]

    async def register(self) -> Any:
        payload = {"actorAddress": self.address, "capabilities": ["x"], "metadata": {}}
        return await self.ask("hub:register", payload, "hub:registered")

    async def send(self, target: str, payload: Any, answer: str = "hub:delivery_ack") -> Any:
        message = {"type": "chat:line", "payload": payload}
        body = {"targetAddress": target, "message": message}
        return await self.ask("hub:send", body, answer, ttl=60_000)


@asynccontextmanager
async def at_hub(
    url: str, address: str, *, packed: bool = False, token: str | None = None, **more: Any
) -> AsyncIterator[HubSpeaker]:
    """An actor that has connected."""
    async with connect(url, **more) as connection:
        speaker = HubSpeaker(connection, address, packed=packed)
        wish: dict[str, Any] = {"protocolVersion": "0.1.0", "capabilities": ["send"]}
        if token is not None:
            wish["authToken"] = token
        await speaker.say("hub:connect", None, metadata=wish)
        await speaker.hear("hub:connected")
        yield speaker


class BrokerSpeaker:
    """A client of the broker; its messages are built byte by byte."""

    def __init__(self, connection: ClientConnection, uri: str) -> None:
        self.connection = connection
        self.uri = uri

    async def say(self, type_: str, targets: list[str], data: bytes = b"", ttl: int = 30) -> str:
        expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ttl))
        envelope = {
            "id": str(uuid4()),
            "message_type": type_,
            "expires": expires,
            "targets": targets,
            "sender": self.uri,
        }
        await self.connection.send(
            b"\x01" + chunk(1, json.dumps(envelope).encode()) + chunk(2, data)
        )
        return envelope["id"]  # type: ignore[return-value]

    async def hear(self) -> tuple[Any, bytes]:
        """The next message: its envelope and its data."""
        raw = await self.connection.recv()
        assert isinstance(raw, bytes)
        chunks = taken(raw)
        return json.loads(chunks[1]), chunks.get(2, b"")


@asynccontextmanager
async def at_broker(url: str, uri: str, **more: Any) -> AsyncIterator[BrokerSpeaker]:
    """A client that has associated."""
    async with connect(url, **more) as connection:
        speaker = BrokerSpeaker(connection, uri)
        asked = await speaker.say("http://puppetlabs.com/associate_request", [BROKER])
        envelope, data = await speaker.hear()
        assert envelope["message_type"] == "http://puppetlabs.com/associate_response"
        assert json.loads(data) == {"id": asked, "success": True}
        yield speaker


def chunk(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + len(content).to_bytes(4, "big") + content


def taken(raw: bytes) -> dict[int, bytes]:
    """The first chunk of each kind."""
    assert raw[0] == 1
    chunks: dict[int, bytes] = {}
    at = 1
    for _ in itertools.count():
        if at == len(raw):
            return chunks
        size = int.from_bytes(raw[at + 1 : at + 5], "big")
        chunks.setdefault(raw[at] & 0x0F, raw[at + 5 : at + 5 + size])
        at += 5 + size
    raise AssertionError
