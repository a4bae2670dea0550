"""What an application can set of its client of a broker."""

from wireloom.wire.client.backoff import Backoff
from wireloom.wire.settings import Settings


class ClientSettings(Settings, frozen=True, kw_only=True):
    """The settings of one client."""

    url: str
    """Where the broker is."""

    uri: str
    """Who the client is, `cth://<common name>/<type>`."""

    backoff: Backoff = Backoff()
    """How long to wait before attempts to reconnect."""
