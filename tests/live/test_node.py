"""The whole node, with independent clients: the hub, the broker, captures, restarts, the end."""

import asyncio
import os
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import time

import pytest
import uvloop
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from live.certificates import Authority
from live.echoes import SWITCHBOARD, TCP, UDP, SwitchboardSection
from live.parts import EchoSession, captured, port_of, until
from live.speakers import BROKER, BrokerSpeaker, at_broker, at_hub
from live.test_tls import client_context
from wireloom.capture.writer import CaptureWriter
from wireloom.live import tap as tapping
from wireloom.live.config import Config, NodeSection
from wireloom.live.dialling import Unreached
from wireloom.live.endpoint import AnyEndpoint, EndpointSection
from wireloom.live.endpoints.cthun import BrokerSection
from wireloom.live.endpoints.signalhub import Auth, HubSection
from wireloom.live.endpoints.uep12 import PeerSection
from wireloom.live.errors import ConfigError, NodeError
from wireloom.live.links.sections import Tls, UdpSection
from wireloom.live.node import Node
from wireloom.live.store import StoreError
from wireloom.protocols.cthun import codec as cthun
from wireloom.protocols.cthun.messages import TtlExpired
from wireloom.protocols.signalhub import tokens
from wireloom.wire.session import (
    Command,
    Dial,
    DialFailed,
    Event,
    Opened,
    Send,
    Store,
    Turn,
)

ADA, BOB = "@(a/ada)", "@(b/bob)"
ANN, BEN = "cth://ann.example.com/agent", "cth://ben.example.com/agent"
GREETING = "http://example.com/greeting"


def configured(folder: Path, **node: object) -> Config:
    section = NodeSection(
        name="n1",
        data=str(folder),
        metrics="127.0.0.1:0",
        stop_seconds=2,
        **node,  # type: ignore[arg-type]
    )
    hub, broker = HubSection(listen="127.0.0.1:0"), BrokerSection(listen="127.0.0.1:0")
    peer = PeerSection(listen="127.0.0.1:0")
    return Config(node=section, endpoints={"signalhub": hub, "cthun": broker, "uep12": peer})


class Running:
    """A node that runs, and where its endpoints are."""

    def __init__(self, node: Node, lines: Sequence[str]) -> None:
        self.node = node
        self.lines = lines
        where = dict(line.split(" ") for line in lines)
        self.hub = where.get("signalhub", "")
        self.broker = where.get("cthun", "")
        self.status = where.get("metrics", "").removesuffix("/metrics")

    async def page(self, path: str) -> tuple[int, str]:
        def fetch() -> tuple[int, str]:
            try:
                with urllib.request.urlopen(self.status + path, timeout=5) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, error.read().decode()

        return await asyncio.to_thread(fetch)


def run(
    config: Config,
    test: Callable[[Running], Awaitable[None]],
    endpoints: Sequence[AnyEndpoint] | None = None,
) -> None:
    """Runs a node until a test with it is done."""

    async def main() -> None:
        node = Node(config, endpoints)
        started: asyncio.Future[Sequence[str]] = asyncio.get_running_loop().create_future()
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            tasks.create_task(node.run(started.set_result))
            while not started.done():
                await asyncio.sleep(0.01)
            try:
                await test(Running(node, started.result()))
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

    uvloop.run(main())


@pytest.mark.parametrize("packed", [False, True])
def test_actors_talk_through_the_hub_and_every_frame_is_captured(
    tmp_path: Path, packed: bool
) -> None:
    async def test(node: Running) -> None:
        async with (
            at_hub(node.hub, ADA, packed=packed) as ada,
            at_hub(node.hub, BOB, packed=packed) as bob,
        ):
            await bob.register()
            assert (await ada.send(BOB, {"text": "hi"}))["status"] == "delivered"
            heard = await bob.hear("chat:line")
            assert (heard["from"], heard["payload"]) == (ADA, {"text": "hi"})
            await bob.ask("hub:subscribe", {"topic": "news"}, "hub:subscribed")
            news = {"topic": "news", "message": {"type": "n", "payload": 1}}
            await ada.ask("hub:publish", news, "hub:published", pattern="tell")
            await bob.hear("n")
            _, page = await node.page("/metrics")
            assert 'wireloom_connections{protocol="signalhub"} 2.0' in page
            assert 'outcome="forwarded",protocol="signalhub"' in page
            assert await node.page("/healthz") == (200, "ok\n")

    run(configured(tmp_path), test)
    frames = captured(tmp_path / "captures")
    assert {(frame.node, frame.protocol, frame.link) for frame in frames} == {
        ("n1", "signalhub", "ws")
    }
    assert all(frame.outcome for frame in frames if frame.direction == "in")
    forwarded = [frame for frame in frames if b"originalMessageId" in frame.raw]
    assert {(frame.direction, frame.peer) for frame in forwarded} == {("out", BOB)}


def test_clients_talk_through_the_broker(tmp_path: Path) -> None:
    async def test(node: Running) -> None:
        async with at_broker(node.broker, ANN) as ann, at_broker(node.broker, BEN) as ben:
            sent = await ann.say(GREETING, [BEN], b"hello")
            envelope, data = await ben.hear()
            assert (envelope["id"], envelope["sender"], data) == (sent, ANN, b"hello")
            query = b'{"query":["cth://*/agent"]}'
            await ann.say("http://puppetlabs.com/inventory_request", [BROKER], query)
            assert (await ann.hear())[1] == b'{"uris":["%s","%s"]}' % (ANN.encode(), BEN.encode())

    run(configured(tmp_path), test)
    out = [frame for frame in captured(tmp_path / "captures") if b"hello" in frame.raw]
    assert {(frame.direction, frame.peer) for frame in out} == {("in", ANN), ("out", BEN)}


def test_an_expiry_is_captured_although_its_sender_has_gone(tmp_path: Path) -> None:
    sent: list[str] = []

    async def test(node: Running) -> None:
        async with at_broker(node.broker, ANN) as ann:
            sent.append(await ann.say(GREETING, [BEN], b"hello", ttl=2))
            await ann.say(GREETING, [ANN], b"to me")  # when it is back, the first was taken
            await ann.hear()
        await asyncio.sleep(2.5)

    run(configured(tmp_path), test)
    (frame,) = (frame for frame in captured(tmp_path / "captures") if frame.direction == "local")
    packet = cthun.decode(frame.raw)
    assert packet.data == TtlExpired(id=sent[0])
    assert (frame.protocol, frame.peer, packet.envelope.targets) == ("cthun", ANN, (ANN,))


def test_nothing_is_lost_that_comes_for_someone_who_is_just_leaving(tmp_path: Path) -> None:
    sent: list[str] = []
    heard: list[str] = []

    async def listen(ben: BrokerSpeaker) -> None:
        with suppress(ConnectionClosed):
            while True:
                heard.append((await ben.hear())[0]["id"])

    async def test(node: Running) -> None:
        async with at_broker(node.broker, ANN) as ann:
            for round_ in range(40):
                async with at_broker(node.broker, BEN) as ben:
                    # The node shares this loop: it is a few steps further in each round.
                    leaving = asyncio.ensure_future(ben.connection.close())
                    for _ in range(round_ // 4):
                        await asyncio.sleep(0)
                    sent.append(await ann.say(GREETING, [BEN], b"hello"))
                    await leaving
                    await listen(ben)
            async with at_broker(node.broker, BEN) as ben:
                await asyncio.wait({asyncio.ensure_future(listen(ben))}, timeout=0.2)

    run(configured(tmp_path), test)
    assert sorted(heard) == sorted(sent)


def test_what_is_held_for_someone_survives_a_restart(tmp_path: Path) -> None:
    async def before(node: Running) -> None:
        async with at_hub(node.hub, BOB) as bob:
            await bob.register()
        async with at_hub(node.hub, ADA) as ada:
            assert (await ada.send(BOB, "while you were out"))["status"] == "queued"
        async with at_broker(node.broker, ANN) as ann:
            await ann.say(GREETING, [BEN], b"for later")
            await asyncio.sleep(0.1)

    async def after(node: Running) -> None:
        async with at_hub(node.hub, BOB) as bob:
            assert (await bob.hear("chat:line"))["payload"] == "while you were out"
        async with at_broker(node.broker, BEN) as ben:
            assert (await ben.hear())[1] == b"for later"

    run(configured(tmp_path), before)
    run(configured(tmp_path), after)


def test_clients_are_told_of_the_end(tmp_path: Path) -> None:
    said: list[str] = []

    async def test(node: Running) -> None:
        async def listen() -> None:
            async with at_hub(node.hub, ADA) as ada:
                said.append((await ada.hear("hub:disconnect"))["payload"]["reason"])
                with pytest.raises(ConnectionClosed):
                    await ada.connection.recv()

        listening.append(asyncio.ensure_future(listen()))
        await until(lambda: node.node._meters["signalhub"].received)

    listening: list[asyncio.Future[None]] = []
    run(configured(tmp_path, capture=False), test)
    assert said == ["server_shutdown"]
    assert not (tmp_path / "captures").exists()


def test_certificates_and_tokens(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "tls")
    certificate, key = map(str, authority.issue("server"))
    shared = tmp_path / "secret.txt"
    shared.write_text("s" * 32)
    tls = Tls(certificate=certificate, key=key, client_authority=str(authority.path))
    config = Config(
        node=configured(tmp_path).node,
        endpoints={
            "signalhub": HubSection(
                listen="127.0.0.1:0", tls=tls, auth=Auth(secret_file=str(shared))
            ),
            "cthun": BrokerSection(listen="127.0.0.1:0", tls=tls),
            "uep12": PeerSection(listen=""),
        },
    )

    async def test(node: Running) -> None:
        named, nameless = client_context(authority, "ann.example.com"), client_context(authority)
        async with at_broker(node.broker, ANN, ssl=named):
            pass
        async with connect(node.broker, ssl=nameless) as client:
            with pytest.raises(ConnectionClosed) as closed:
                await client.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4003
        claims = tokens.Claims(sub="u", actor_id="a/ada", iss="signal-hub", iat=int(time()) - 5)
        token = tokens.create(claims, key=b"s" * 32)
        async with at_hub(node.hub, "@(x/y)", token=token, ssl=nameless):
            pass

    run(config, test)


def test_endpoints_that_are_off(tmp_path: Path) -> None:
    node = NodeSection(name="n1", data=str(tmp_path), metrics="", stop_seconds=1)
    hub, broker = HubSection(listen=""), BrokerSection(listen="127.0.0.1:0")
    off = PeerSection(listen="")
    config = Config(node=node, endpoints={"signalhub": hub, "cthun": broker, "uep12": off})

    async def test(running: Running) -> None:
        assert [line.split(" ")[0] for line in running.lines] == ["cthun"]

    run(config, test)


def test_a_log_that_takes_nothing_makes_the_node_ill_and_deaf_but_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tapping, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(tapping, "MAX_ROWS", 2)
    write = CaptureWriter.write
    broken = True

    def refuse(writer: CaptureWriter, batch: object) -> None:
        if broken:
            raise OSError(28, "No space left on device")
        write(writer, batch)

    monkeypatch.setattr(CaptureWriter, "write", refuse)

    async def test(node: Running) -> None:
        nonlocal broken
        async with at_hub(node.hub, ADA) as ada:
            for _ in range(3):
                await ada.say("hub:heartbeat", {"timestamp": 0}, pattern="tell")
                await ada.hear("hub:heartbeat_ack")
            tap = node.node._tap
            assert tap is not None
            await until(lambda: tap.is_overloaded)
            assert await node.page("/healthz") == (
                503,
                "frames cannot be captured: No space left on device\n",
            )
            asked = asyncio.ensure_future(ada.register())
            await asyncio.sleep(0.1)
            assert not asked.done()
            broken = False
            await asked
            assert (await node.page("/healthz"))[0] == 200

    run(configured(tmp_path), test)
    assert len(captured(tmp_path / "captures")) >= 10


def test_a_node_ships_what_it_captured_and_says_why_it_cannot(tmp_path: Path) -> None:
    there = tmp_path / "there"

    async def test(node: Running) -> None:
        async with at_hub(node.hub, ADA) as ada:
            await ada.say("hub:heartbeat", {"timestamp": 0}, pattern="tell")
            await ada.hear("hub:heartbeat_ack")

    run(configured(tmp_path / "a", ship=str(there)), test)
    shipped = captured(there)
    assert shipped == captured(tmp_path / "a" / "captures") != []

    async def second(node: Running) -> None:
        shipper = node.node._shipper
        assert shipper is not None
        await until(lambda: shipper.failure is not None)
        status, page = await node.page("/healthz")
        assert (status, page.count("\n")) == (200, 1)
        assert page.startswith(f"ok, but segments are not shipped: {there}: the name ")
        assert "wireloom_ship_failing 1.0" in (await node.page("/metrics"))[1]

    run(configured(tmp_path / "b", ship=str(there)), second)
    assert captured(there) == shipped


@pytest.mark.parametrize("size", [1_100_000, 1_900_000, 5_000_000])
def test_a_frame_above_the_limit_is_answered_with_its_size(tmp_path: Path, size: int) -> None:
    async def test(node: Running) -> None:
        async with at_hub(node.hub, ADA) as ada:
            await ada.say("hub:heartbeat", "x" * size)
            heard = await ada.hear("hub:message_too_large")
            assert heard["payload"]["messageSize"] > size
            with pytest.raises(ConnectionClosed) as closed:
                await ada.connection.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009

    run(configured(tmp_path), test)
    assert max(len(one.raw) for one in captured(tmp_path / "captures")) < 10_000


def test_a_store_that_fails_ends_the_node(tmp_path: Path) -> None:
    async def test(node: Running) -> None:
        node.node._fail(StoreError("store.db cannot be written: disk full"))
        await until(lambda: node.node._is_stopping)
        assert (await node.page("/healthz"))[1] in {"stopping\n", "ok\n"}

    with pytest.raises(ExceptionGroup) as failed:
        run(configured(tmp_path), test)
    assert failed.group_contains(NodeError, match="disk full")


def failing(config: Config) -> str:
    async def main() -> None:
        await Node(config).run(lambda _: None)

    with pytest.raises((NodeError, ConfigError)) as failed:
        uvloop.run(main())
    return str(failed.value)


def test_a_node_that_cannot_start_says_why(tmp_path: Path) -> None:
    off: dict[str, EndpointSection] = {
        "signalhub": HubSection(listen=""),
        "cthun": BrokerSection(listen=""),
        "uep12": PeerSection(listen=""),
    }

    def changed(**sections: HubSection | BrokerSection) -> Config:
        return Config(node=configured(tmp_path).node, endpoints={**off, **sections})

    async def test(running: Running) -> None:
        port = running.hub.split(":")[2].removesuffix("/hub")
        told = await asyncio.to_thread(failing, configured(tmp_path))
        assert "another process is using" in told or "locked" in told
        other = configured(tmp_path / "other")
        taken = HubSection(listen=f"127.0.0.1:{port}")
        config = Config(node=other.node, endpoints={"signalhub": taken})
        assert "the port is in use" in await asyncio.to_thread(failing, config)

    run(configured(tmp_path), test)
    tls = Tls(certificate="missing.pem", key="missing.key")
    told = failing(changed(cthun=BrokerSection(listen="127.0.0.1:0", tls=tls)))
    assert told == "cthun.tls: missing.pem cannot be read: No such file or directory"
    told = failing(changed(signalhub=HubSection(listen="127.0.0.1:0", limits={"x": 1})))
    assert told == "signalhub.limits has no x"
    (tmp_path / "file").write_text("")
    assert "file" in failing(configured(tmp_path / "file"))
    nameless = NodeSection(name="", data=str(tmp_path), metrics="")
    assert "frames cannot be captured" in failing(Config(node=nameless))


async def exchanged(url: str, *frames: bytes) -> list[bytes]:
    """What comes back for frames, over TCP or UDP, and after the connection's end."""
    kind, _, where = url.partition("://")
    host, _, port = where.partition(":")
    if kind == "tcp":
        reader, writer = await asyncio.open_connection(host, int(port))
        for frame in frames:
            writer.write(len(frame).to_bytes(4, "big") + frame)
        heard = [await reader.readexactly(4 + len(frame)) for frame in frames]
        writer.close()
        return [one[4:] for one in heard]
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.setblocking(False)
        await loop.sock_connect(line, (host, int(port)))
        for frame in frames:
            await loop.sock_sendall(line, frame)
        return [await loop.sock_recv(line, 65_536) for _ in frames]


def test_endpoints_on_tcp_and_udp_are_served_captured_and_stopped(tmp_path: Path) -> None:
    async def test(node: Running) -> None:
        where = dict(line.split(" ") for line in node.lines)
        assert list(where) == ["tcpecho", "udpecho", "metrics"]
        assert await exchanged(where["tcpecho"], b"by tcp", b"keep it") == [b"by tcp", b"keep it"]
        assert await exchanged(where["udpecho"], b"by udp") == [b"by udp"]
        _, page = await node.page("/metrics")
        assert 'wireloom_connections_opened_total{protocol="udpecho"} 1.0' in page

    config = Config(node=configured(tmp_path).node)
    run(config, test, [TCP, UDP])
    frames = captured(tmp_path / "captures")
    assert {(one.protocol, one.link, one.direction, one.raw) for one in frames} == {
        (protocol, kind, direction, raw)
        for protocol, kind, raw in (
            ("tcpecho", "tcp", b"by tcp"),
            ("tcpecho", "tcp", b"keep it"),
            ("udpecho", "udp", b"by udp"),
        )
        for direction in ("in", "out")
    } | {("udpecho", "udp", "out", b"goodbye")}
    run(config, test, [TCP, UDP])  # what was kept is there, and the ports are free again


def test_an_endpoint_with_two_links_serves_one_session_on_both(tmp_path: Path) -> None:
    async def test(node: Running) -> None:
        where = dict(line.split(" ") for line in node.lines)
        assert list(where) == ["switchboard.tcp", "switchboard.udp", "metrics"]
        for url in (where["switchboard.tcp"], where["switchboard.udp"]):
            assert await exchanged(url, b"hello") == [b"hello"]
        assert node.node._meters["switchboard"].opened == 2

    run(Config(node=configured(tmp_path).node), test, [SWITCHBOARD])
    links = {(one.protocol, one.link) for one in captured(tmp_path / "captures")}
    assert links == {("switchboard", "tcp"), ("switchboard", "udp")}


def test_one_of_two_links_may_be_off(tmp_path: Path) -> None:
    section = SwitchboardSection(udp=UdpSection(listen=""))

    async def test(node: Running) -> None:
        assert [line.split(" ")[0] for line in node.lines] == ["switchboard.tcp", "metrics"]

    node = configured(tmp_path).node
    run(Config(node=node, endpoints={"switchboard": section}), test, [SWITCHBOARD])


class Calling(EchoSession):
    """Dials when its life begins, and greets whom it reaches."""

    def __init__(self, *dials: Dial) -> None:
        super().__init__()
        self.dials = dials

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        turn.commands += self.dials

    def wants(self, event: Event, now_ms: int) -> Sequence[Command]:
        self.events.append(event)
        return [Send(event.line, b"hello")] if isinstance(event, Opened) else []


def test_a_session_dials_through_the_links_of_its_endpoint(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.create_server(("127.0.0.1", 0)) as closed,
    ):
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(5)
        dials = {kind: dialled(kind, bound) for kind, bound in (("tcp", tcp), ("udp", udp))}
        nobody = dialled("tcp", closed)
        closed.close()
        caller = Calling(*dials.values(), nobody, dialled("ws", tcp))

        async def test(node: Running) -> None:
            await until(lambda: len(caller.events) == 4)
            assert {event.dial for event in caller.seen(Opened)} == set(dials.values())
            assert {(failed.dial.link, failed.reason) for failed in caller.seen(DialFailed)} == {
                ("tcp", Unreached.REFUSED),
                ("ws", Unreached.NO_LINK),
            }

        calling = replace(SWITCHBOARD, session=lambda settings, ids: caller)
        run(Config(node=configured(tmp_path).node), test, [calling])
        assert udp.recv(100) == b"hello"
        with tcp.accept()[0] as taken:
            assert taken.recv(100) == bytes([0, 0, 0, 5]) + b"hello"


def dialled(link: str, bound: socket.socket) -> Dial:
    return Dial(link, f"127.0.0.1:{port_of(bound)}")
