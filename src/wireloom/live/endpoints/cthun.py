"""The Cthun broker: a WebSocket link, and certificates or trust for those who connect."""

from typing import Final

from wireloom.live.endpoint import Context, Endpoint
from wireloom.live.links.sections import WebSocketSection
from wireloom.live.sections import Limits
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Session


class BrokerSection(WebSocketSection, frozen=True):
    """The Cthun broker."""

    listen: str = "127.0.0.1:8142"
    path: str = "/cthun"
    limits: Limits = {}
    """The session's settings by name."""

    def lack(self) -> str:
        """TLS, or the authority that vouches for clients."""
        is_vouched = bool(self.tls and self.tls.client_authority)
        return super().lack() or ("" if is_vouched else "tls.client_authority")


def _trust_sender(section: BrokerSection, context: Context) -> bool:
    """Without TLS, clients are who they say they are."""
    del context
    return section.tls is None


def _session(settings: BrokerSettings, ids: Ids) -> Session:
    from wireloom.protocols.cthun.broker.session import BrokerSession  # too much for `serve --help`

    return BrokerSession(settings, ids)


ENDPOINT: Final = Endpoint(
    name="cthun",
    title="the Cthun broker",
    section=BrokerSection,
    settings=BrokerSettings,
    derived={"trust_sender": _trust_sender},
    session=_session,
)
