"""What the clients of all protocols have in common: they are opened, read from, and closed."""

from types import TracebackType
from typing import Generic, Self, TypeVar

from wireloom.live.clients.driver import ClientDriver
from wireloom.live.clients.errors import ClientError
from wireloom.live.clients.inbox import Inbox

M = TypeVar("M")


class Client(Generic[M]):
    """A client of some server; `M` are the messages that others send to it.

    Args:
        driver: Runs its session.
    """

    def __init__(self, driver: ClientDriver[M]) -> None:
        self._driver = driver

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

    @property
    def messages(self) -> Inbox[M]:
        """What others send to this client, as it comes. `async for` ends with the client."""
        return self._driver.messages

    @property
    def failures(self) -> Inbox[ClientError]:
        """What went wrong that nobody waits for; the latest are kept.

        It is about a message whose sender did not wait, or about what is made again after a
        reconnect. Errors of the server name the message in `about`.
        """
        return self._driver.failures

    async def open(self) -> None:
        """Connects. One attempt is made.

        Raises:
            ClientError: If it fails.
        """
        await self._driver.open()

    async def close(self) -> None:
        """Says goodbye and ends the connection. What came before can still be read."""
        await self._driver.close()
