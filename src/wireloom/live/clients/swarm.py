"""A peer of a UEP-12 swarm, for as long as a program runs.

    async with SwarmClient("127.0.0.1:5412") as swarm:
        await swarm.post(b"hello")
        async for message in swarm.messages:
            print(message.content.payload)

It is a peer like any other, with a socket of its own, and joins through one that it is told of. It
keeps the flow in memory, and nothing when it is closed.
"""

import asyncio
import secrets
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

from wireloom.live.clients.errors import (
    AnswerTimeoutError,
    ClosedError,
    UnreachableError,
    UnsendableError,
)
from wireloom.live.clients.inbox import Inbox
from wireloom.live.clients.tuning import Tuning
from wireloom.live.driver import Driver
from wireloom.live.errors import NodeError
from wireloom.live.links.connection import LinkLimits, address_of
from wireloom.live.links.udp import UdpLink
from wireloom.live.listening import bound_datagrams
from wireloom.live.sections import Address
from wireloom.performing.world import now_ms
from wireloom.protocols.uep12.codec import decode
from wireloom.protocols.uep12.constants import (
    DEFAULT_EPOCH_MS,
    DEFAULT_MAX_TTL,
    MAX_AHEAD_MS,
    MAX_MESSAGE_SIZE,
)
from wireloom.protocols.uep12.messages import Content
from wireloom.protocols.uep12.peer.requests import (
    Confirm,
    Confirmed,
    Met,
    Post,
    Posted,
    Received,
    Refused,
    Synced,
    Withdraw,
)
from wireloom.protocols.uep12.peer.session import PeerSession
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Store

PEER: Final = "127.0.0.1:5412"
"""Where `wireloom serve` has its peer."""

SWARM: Final = "swarm"
SECRET_SIZE: Final = 32
LINK: Final = "udp"
JOIN_SECONDS: Final = 3.0
"""How long a post waits for the flow whose messages it refers to; then it refers to what is there.
"""

MAX_UNREAD: Final = 100_000
"""Messages that wait to be read; the oldest make way."""

ASK_AGAIN_MS: Final = 1_000


class SwarmClient:
    """A peer that joins through another one.

    All waiting ends with a `ClientError`; see `errors` for its kinds.

    Args:
        peer: Where the other peer is, `host:port`.
        epoch_ms: The swarm's unit of lifetimes.
        max_ttl: How many of them the swarm allows.
        tuning: Time and patience.
    """

    def __init__(
        self,
        peer: str = PEER,
        *,
        epoch_ms: int = DEFAULT_EPOCH_MS,
        max_ttl: int = DEFAULT_MAX_TTL,
        tuning: Tuning = Tuning(),  # noqa: B008, it is frozen
    ) -> None:
        self.peer = peer
        self.messages: Inbox[Received] = Inbox(MAX_UNREAD)
        """What is new in the flow, whoever wrote it. `async for` ends with the client."""
        self._tuning = tuning
        membership = Membership(
            name=SWARM, link=LINK, epoch_ms=epoch_ms, max_ttl=max_ttl, peers=(peer,)
        )
        settings = PeerSettings(
            memberships=(membership,),
            secret=secrets.token_bytes(SECRET_SIZE),
            ticket_ms=ASK_AGAIN_MS,
            pull_ms=ASK_AGAIN_MS,
        )
        self._session = PeerSession(settings, Ids(secrets.token_hex(16)))
        self._driver: Driver | None = None
        self._link: UdpLink | None = None
        self._met = asyncio.Event()
        self._synced = asyncio.Event()
        self._waiting: dict[object, asyncio.Future[Any]] = {}

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Joins, as soon as the other peer answers.

        Raises:
            UnreachableError: If it does not.
        """
        self._driver = Driver("uep12", self._session, store=_Nothing(), clock=self._tuning.clock)
        self._driver.deliver = self._take
        limits = LinkLimits(max_frame_size=MAX_MESSAGE_SIZE)
        self._link = UdpLink(self._driver, limits=limits)
        self._driver.add_link(LINK, self._link)
        try:
            host, _ = address_of(self.peer)
            own = Address("::" if ":" in host else "0.0.0.0", 0)  # noqa: S104, as all clients
            await self._link.listen(bound_datagrams(own, LINK))
            self._driver.start()
            async with asyncio.timeout(self._tuning.dial_seconds):
                await self._met.wait()
        except (NodeError, ValueError) as error:
            await self.close()
            raise UnreachableError(str(error)) from None
        except TimeoutError:
            await self.close()
            raise UnreachableError(f"no peer of a swarm answers at {self.peer}") from None

    async def close(self) -> None:
        """Leaves. What came before can still be read."""
        driver, link, self._driver = self._driver, self._link, None
        if driver is not None and link is not None:
            link.stop()
            await driver.stop(self._tuning.goodbye_seconds)
        self.messages.end()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ClosedError())

    async def synced(self, seconds: float = 60) -> None:
        """Waits until the other peer's whole flow is here.

        Raises:
            AnswerTimeoutError: If it is not in time.
        """
        await _within(seconds, self._synced.wait(), "the whole flow has not come")

    def flow(self) -> list[Received]:
        """The messages that are here and have not expired, oldest first."""
        at_ms = now_ms(self._tuning.clock)
        stored = self._session.swarms[SWARM].flow.between(0, at_ms + MAX_AHEAD_MS, at_ms)
        messages = [(msg_hash, decode(one.raw)) for msg_hash, one in stored]
        return [
            Received(SWARM, msg_hash, message)
            for msg_hash, message in messages
            if isinstance(message, Content)
        ]

    async def post(self, payload: bytes, *, ttl_epochs: int = 60, seconds: float = 60) -> bytes:
        """Posts a message, and waits until another peer has shown that it has it; gives its hash.

        Args:
            payload: The application's bytes.
            ttl_epochs: How many epochs it lives. With 0 it is pushed only, and nobody can show
                that it came.
            seconds: How long to wait, for the work and for the other peer.

        Raises:
            UnsendableError: If it cannot be posted.
            AnswerTimeoutError: If no peer has shown in time that it has it.
        """
        if not self._synced.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(JOIN_SECONDS):
                    await self._synced.wait()
        post = Post(id=uuid4().hex, payload=payload, ttl_epoch=ttl_epochs)
        waits = self._posted(post, is_confirmed=ttl_epochs > 0)
        msg_hash: bytes = await _within(seconds, waits, "no peer has shown that it has the message")
        return msg_hash

    async def _posted(self, post: Post, *, is_confirmed: bool) -> bytes:
        try:
            msg_hash: bytes = await self._ask(post.id, post)
        except asyncio.CancelledError:
            if self._driver is not None:
                self._driver.request(Withdraw(post.id))
            raise
        if is_confirmed:
            await self._ask(msg_hash, Confirm(msg_hash=msg_hash))
        return msg_hash

    async def _ask(self, about: object, request: object) -> Any:
        """What the session answers."""
        if self._driver is None:
            raise ClosedError
        answer = self._waiting[about] = asyncio.get_running_loop().create_future()
        try:
            self._driver.request(request)
            return await answer
        finally:
            del self._waiting[about]

    def _take(self, item: object) -> None:
        """Hands on what the session tells the application."""
        match item:
            case Received():
                self.messages.put_latest(item)
            case Met():
                self._met.set()
            case Synced():
                self._synced.set()
            case Posted(post_id, msg_hash):
                self._settle(post_id, msg_hash)
            case Confirmed(msg_hash):
                self._settle(msg_hash, None)
            case Refused(post_id, why):
                self._settle(post_id, UnsendableError(why))

    def _settle(self, about: object, answer: object) -> None:
        waiting = self._waiting.get(about)
        if waiting is None or waiting.done():
            return
        if isinstance(answer, Exception):
            waiting.set_exception(answer)
        else:
            waiting.set_result(answer)


class _Nothing:
    """Keeps nothing: whoever leaves a swarm has it again when it joins."""

    def put(self, key: tuple[str, str, str], value: bytes | None) -> int:
        del key, value
        return 0

    def load(self, protocol: str) -> Iterable[Store]:
        del protocol
        return ()

    def commit(self) -> None:
        pass


async def _within(seconds: float, waits: Any, what: str) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await waits
    except TimeoutError:
        raise AnswerTimeoutError(f"{what} within {seconds:g} s") from None
