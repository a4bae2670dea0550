"""What an application can set of its client of a hub."""

from wireloom.protocols.signalhub.constants import DEAD_AFTER_MS, ContentType
from wireloom.wire.client.backoff import Backoff
from wireloom.wire.settings import Settings


class ClientSettings(Settings, frozen=True, kw_only=True):
    """The settings of one client."""

    url: str
    """Where the hub is."""

    address: str
    """Who the client is, `@(…)`; a hub with authentication goes by the token instead."""

    token: str | None = None
    """What proves it; None where nobody has to log in."""

    content_type: ContentType = ContentType.JSON
    """How frames are written; the hub answers in the same way."""

    user_agent: str = "wireloom"
    """What program it is, for the hub's operator."""

    dead_after_ms: int = DEAD_AFTER_MS
    """Without an answer to a heartbeat for so long, the connection is dead."""

    backoff: Backoff = Backoff()
    """How long to wait before attempts to reconnect."""
