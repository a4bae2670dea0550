"""Reaching out to peers: attempts in flight, with a bound, a time and an outcome for each."""

import asyncio
import errno
from collections.abc import Callable
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

from wireloom.live.links.connection import LinkLimits
from wireloom.wire.session import Dial


class Unreached(StrEnum):
    """Why a peer could not be reached."""

    REFUSED = "refused"
    TIMED_OUT = "timed out"
    UNREACHABLE = "unreachable"
    CONNECTED = "already connected"
    BAD_ADDRESS = "bad address"
    NO_LINK = "no such link"
    MANY_DIALS = "too many dials"
    MANY_CONNECTIONS = "too many connections"


_REASONS: Final = {
    errno.ECONNREFUSED: Unreached.REFUSED,
    errno.ETIMEDOUT: Unreached.TIMED_OUT,
    errno.EISCONN: Unreached.CONNECTED,
    errno.EMFILE: Unreached.MANY_CONNECTIONS,
    errno.ENFILE: Unreached.MANY_CONNECTIONS,
}


@runtime_checkable
class Dialer(Protocol):
    """A link that can reach out."""

    limits: LinkLimits

    async def dial(self, dial: Dial) -> None:
        """Makes a connection that knows its dial, and tells the host of it.

        Raises:
            OSError: If the peer cannot be reached.
            ValueError: If the dial's address is none.
        """
        ...


class Dialling:
    """The attempts of one driver.

    Each begins and ends in a later turn of the loop, so that a session that dials again whenever
    it fails does not keep the loop from anything else.

    Args:
        failed: Told of a peer that could not be reached, and why.
    """

    def __init__(self, failed: Callable[[Dial, str], None]) -> None:
        self._failed = failed
        self._attempts: dict[Dial, asyncio.Task[None]] = {}
        self.links: Final[dict[str, Dialer]] = {}
        """The links by the names that dials have."""

    def __len__(self) -> int:
        """How many attempts are under way."""
        return len(self._attempts)

    def begin(self, dial: Dial) -> None:
        """Begins an attempt."""
        loop = asyncio.get_running_loop()
        link = self.links.get(dial.link)
        if link is None:
            loop.call_soon(self._failed, dial, Unreached.NO_LINK)
        elif len(self._attempts) >= link.limits.max_dials:
            loop.call_soon(self._failed, dial, Unreached.MANY_DIALS)
        else:
            self._attempts[dial] = loop.create_task(self._attempt(link, dial))

    def abandon(self, dial: Dial) -> None:
        """Ends an attempt without a word."""
        task = self._attempts.pop(dial, None)
        if task is not None:
            task.cancel()

    def stop(self) -> None:
        """Ends all attempts, and makes no further ones."""
        self.links.clear()
        for dial in tuple(self._attempts):
            self.abandon(dial)

    async def _attempt(self, link: Dialer, dial: Dial) -> None:
        failure: OSError | ValueError | None = None
        try:
            async with asyncio.timeout(link.limits.dial_seconds):
                await link.dial(dial)
        except (OSError, ValueError) as error:
            failure = error
        self._attempts.pop(dial, None)
        if failure is not None:
            self._failed(dial, _reason(failure))


def _reason(error: OSError | ValueError) -> Unreached:
    if isinstance(error, ValueError):
        return Unreached.BAD_ADDRESS
    if isinstance(error, TimeoutError):
        return Unreached.TIMED_OUT
    return _REASONS.get(error.errno or 0, Unreached.UNREACHABLE)
