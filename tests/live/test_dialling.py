"""Reaching out to peers, on real sockets: sessions dial each other over TCP and UDP."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvloop

from live.parts import EchoSession, listening, port_of, running, until
from wireloom.live.dialling import Dialling, Unreached
from wireloom.live.driver import Driver
from wireloom.live.links.connection import LinkLimits
from wireloom.live.links.tcp import TcpLink
from wireloom.live.links.udp import UdpLink
from wireloom.wire.session import (
    Abandon,
    Closed,
    Command,
    Dial,
    DialFailed,
    Event,
    FrameReceived,
    Opened,
    Requested,
    Send,
)

KINDS = ["tcp", "udp"]


class Caller(EchoSession):
    """Does what it is asked for; keeps what it hears to itself."""

    def wants(self, event: Event, now_ms: int) -> Sequence[Command]:
        if isinstance(event, Requested):
            assert isinstance(event.request, list)
            return event.request
        said = super().wants(event, now_ms)
        return [] if isinstance(event, FrameReceived) else said


class Place:
    """A driver with both links; the session can be dialled by either."""

    def __init__(self, driver: Driver, session: EchoSession, limits: LinkLimits) -> None:
        self.driver = driver
        self.session = session
        self.tcp, self.udp = TcpLink(driver, limits=limits), UdpLink(driver, limits=limits)
        self.dials: dict[str, Dial] = {}
        """How others dial this one."""

    async def listen(self) -> None:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0)
        tcp = listening()
        await self.tcp.listen(tcp)
        await self.udp.listen(udp)
        self.driver.add_link("tcp", self.tcp)
        self.driver.add_link("udp", self.udp)
        self.dials = {
            name: Dial(name, f"127.0.0.1:{port_of(bound)}")
            for name, bound in (("tcp", tcp), ("udp", udp))
        }

    def wants(self, *commands: Command) -> None:
        self.driver.request(list(commands))

    async def hears(self, kind: type[Any], count: int = 1) -> list[Any]:
        await until(lambda: len(self.session.seen(kind)) >= count)
        return self.session.seen(kind)


@asynccontextmanager
async def place(folder: Path, session: EchoSession, **limits: Any) -> AsyncIterator[Place]:
    folder.mkdir()
    async with running(session, folder) as driver:
        made = Place(driver, session, LinkLimits(**limits))
        await made.listen()
        try:
            yield made
        finally:
            await driver.stop(1)
            made.tcp.stop()
            made.udp.stop()
            await asyncio.sleep(0.01)


def meet(folder: Path, test: Callable[[Place, Place], Awaitable[None]], **limits: Any) -> None:
    """A caller and one that answers; limits are the caller's."""

    async def main() -> None:
        bob_place = place(folder / "b", EchoSession())
        ada_place = place(folder / "a", Caller(), **limits)
        async with asyncio.timeout(20), bob_place as bob, ada_place as ada:
            await test(ada, bob)

    uvloop.run(main())


@pytest.mark.parametrize("link", KINDS)
def test_a_session_dials_a_peer_and_talks_to_it(tmp_path: Path, link: str) -> None:
    async def test(ada: Place, bob: Place) -> None:
        dial = bob.dials[link]
        ada.wants(dial)
        assert await ada.hears(Opened) == [Opened(1, dial.address, dial=dial, link=link)]
        ada.wants(Send(1, b"hello"))
        assert await ada.hears(FrameReceived) == [FrameReceived(1, b"hello")]
        (met,) = bob.session.seen(Opened)
        assert met.dial is None
        ada.wants(dial, dial)
        ada.wants(Send(1, b"again"))
        await ada.hears(FrameReceived, 2)
        assert len(ada.session.seen(Opened)) == 1

    meet(tmp_path, test)


def test_two_sessions_dial_each_other_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with place(tmp_path / "a", Caller()) as ada, place(tmp_path / "b", Caller()) as bob:
            ada.wants(bob.dials["tcp"])
            bob.wants(ada.dials["tcp"])
            for one, other in ((ada, bob), (bob, ada)):
                await one.hears(Opened, 2)
                dial = other.dials["tcp"]
                (line,) = [event.line for event in one.session.seen(Opened) if event.dial == dial]
                one.wants(Send(line, b"hello"))
                await other.hears(FrameReceived)

    uvloop.run(main())


@pytest.mark.parametrize("link", KINDS)
def test_an_abandoned_connection_ends_and_can_be_dialled_again(tmp_path: Path, link: str) -> None:
    async def test(ada: Place, bob: Place) -> None:
        dial = bob.dials[link]
        ada.wants(dial)
        await ada.hears(Opened)
        unanswered = b"bad"
        ada.wants(Send(1, unanswered), Abandon(dial.link, dial.address))
        assert await ada.hears(Closed) == [Closed(1, 1000)]
        assert await bob.hears(FrameReceived) == [FrameReceived(1, unanswered)]
        ada.wants(dial)
        assert (await ada.hears(Opened, 2))[-1].dial == dial

    meet(tmp_path, test)


def test_an_abandoned_attempt_is_not_heard_of(tmp_path: Path) -> None:
    async def test(ada: Place, bob: Place) -> None:
        for link in KINDS:
            ada.wants(bob.dials[link], Abandon(link, bob.dials[link].address))
        ada.wants(bob.dials["tcp"])
        await asyncio.sleep(0)
        ada.wants(Abandon("tcp", bob.dials["tcp"].address))
        await asyncio.sleep(0.1)
        assert ada.session.events == []

    meet(tmp_path, test)


def test_a_peer_that_vanishes_is_closed_and_can_be_dialled_again(tmp_path: Path) -> None:
    async def test(ada: Place, bob: Place) -> None:
        dial = bob.dials["tcp"]
        ada.wants(dial)
        await ada.hears(Opened)
        await bob.hears(Opened)
        bob.tcp.stop()
        for reader in tuple(bob.tcp.readers):
            reader.connection.abort()
        await ada.hears(Closed)
        ada.wants(dial)
        assert await ada.hears(DialFailed) == [DialFailed(dial, Unreached.REFUSED)]

    meet(tmp_path, test)


def test_a_silent_peer_on_udp_is_closed(tmp_path: Path) -> None:
    async def test(ada: Place, bob: Place) -> None:
        ada.wants(bob.dials["udp"])
        await ada.hears(Opened)
        assert await ada.hears(Closed) == [Closed(1, 1001)]

    meet(tmp_path, test, ping_seconds=0.02)


def nobody() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        return f"127.0.0.1:{port_of(made)}"


@pytest.mark.parametrize(
    ("link", "address", "reason"),
    [
        ("tcp", "", Unreached.BAD_ADDRESS),
        ("tcp", "localhost", Unreached.BAD_ADDRESS),
        ("udp", "localhost:99999999999999999999", Unreached.BAD_ADDRESS),
        ("udp", "::1:80", Unreached.BAD_ADDRESS),
        ("tcp", "nobody.invalid:1", Unreached.UNREACHABLE),
        ("udp", "nobody.invalid:1", Unreached.UNREACHABLE),
        ("serial", "ttyS0", Unreached.NO_LINK),
        ("tcp", f"{'x' * 300}.example:1", Unreached.UNREACHABLE),
    ],
)
def test_a_dial_that_leads_nowhere_fails(
    tmp_path: Path, link: str, address: str, reason: str
) -> None:
    async def test(ada: Place, bob: Place) -> None:
        ada.wants(Dial(link, address))
        (failed,) = await ada.hears(DialFailed)
        assert failed.dial == Dial(link, address)
        assert failed.reason in {reason, Unreached.BAD_ADDRESS}

    meet(tmp_path, test)


def test_a_refused_port_is_refused(tmp_path: Path) -> None:
    async def test(ada: Place, bob: Place) -> None:
        ada.wants(Dial("tcp", nobody()))
        (failed,) = await ada.hears(DialFailed)
        assert failed.reason == Unreached.REFUSED

    meet(tmp_path, test)


def test_a_peer_that_spoke_first_on_udp_is_not_opened_twice(tmp_path: Path) -> None:
    async def test(ada: Place, bob: Place) -> None:
        ada.wants(bob.dials["udp"])
        await ada.hears(Opened)
        ada.wants(Send(1, b"hello"))
        await bob.hears(Opened)
        bob.driver.dial(ada.dials["udp"])
        await until(lambda: not bob.driver._dialling)
        assert len(bob.session.seen(Opened)) == 1

    meet(tmp_path, test)


def test_connections_to_peers_are_bounded(tmp_path: Path) -> None:
    async def test(ada: Place, bob: Place) -> None:
        ada.wants(bob.dials["tcp"])
        await ada.hears(Opened)
        ada.wants(Dial("tcp", nobody()))
        (failed,) = await ada.hears(DialFailed)
        assert failed.reason == Unreached.MANY_CONNECTIONS

    meet(tmp_path, test, max_connections=1)


def test_a_storm_of_dials_is_bounded_and_each_is_answered(tmp_path: Path) -> None:
    async def test(ada: Place, bob: Place) -> None:
        ada.wants(*(Dial("tcp", f"127.0.0.1:{port}") for port in range(1, 1_001)))
        assert len(ada.driver._dialling) == 8
        await until(lambda: _answered(ada) == 1_000)
        reasons = {event.reason for event in ada.session.seen(DialFailed)}
        assert Unreached.MANY_DIALS in reasons
        assert len(ada.driver._dialling) == 0

    meet(tmp_path, test, max_dials=8)


def _answered(one: Place) -> int:
    return len(one.session.seen(DialFailed)) + len(one.session.seen(Opened))


def test_a_session_that_dials_again_at_once_does_not_stop_the_loop(tmp_path: Path) -> None:
    class Stubborn(Caller):
        def wants(self, event: Event, now_ms: int) -> Sequence[Command]:
            said = super().wants(event, now_ms)
            return [event.dial] if isinstance(event, DialFailed) else said

    async def main() -> None:
        async with place(tmp_path / "a", Stubborn()) as ada:
            ada.wants(Dial("none", "x"), Dial("tcp", "bad"))
            await ada.hears(DialFailed, 20)

    uvloop.run(main())


class Deaf:
    """A link whose dials take for ever."""

    def __init__(self, **limits: Any) -> None:
        self.limits = LinkLimits(**limits)
        self.begun: list[Dial] = []

    async def dial(self, dial: Dial) -> None:
        self.begun.append(dial)
        await asyncio.Event().wait()


def test_a_dial_has_its_time() -> None:
    failures: list[tuple[Dial, str]] = []

    async def main() -> None:
        dialling = Dialling(lambda *failure: failures.append(failure))
        dialling.links["deaf"] = Deaf(dial_seconds=0.01)
        dialling.begin(Dial("deaf", "x"))
        await until(lambda: failures)
        assert len(dialling) == 0

    uvloop.run(main())
    assert failures == [(Dial("deaf", "x"), Unreached.TIMED_OUT)]


def test_a_stop_ends_all_attempts_and_begins_no_other() -> None:
    failures: list[tuple[Dial, str]] = []

    async def main() -> None:
        dialling = Dialling(lambda *failure: failures.append(failure))
        link = dialling.links["deaf"] = Deaf()
        dialling.begin(Dial("deaf", "x"))
        await asyncio.sleep(0)
        dialling.stop()
        dialling.abandon(Dial("deaf", "x"))
        dialling.begin(Dial("deaf", "y"))
        await asyncio.sleep(0.01)
        assert link.begun == [Dial("deaf", "x")]

    uvloop.run(main())
    assert failures == [(Dial("deaf", "y"), Unreached.NO_LINK)]


def test_errors_of_the_system_become_a_few_words() -> None:
    class Broken(Deaf):
        async def dial(self, dial: Dial) -> None:
            raise OSError(int(dial.address), "as you like")

    failures: list[str] = []

    async def main() -> None:
        dialling = Dialling(lambda _, why: failures.append(why))
        dialling.links["x"] = Broken()
        for number in (errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.EISCONN, errno.EMFILE):
            dialling.begin(Dial("x", str(number)))
        await until(lambda: len(failures) == 4)

    uvloop.run(main())
    words = ["timed out", "unreachable", "already connected", "too many connections"]
    assert failures == words
