"""The switchboard on TCP."""

from typing import Final

from wireloom.live.endpoint import Endpoint
from wireloom.live.links.sections import TcpSection
from wireloom.live.sections import Limits
from wireloom_protocols.tiny.constants import PORT
from wireloom_protocols.tiny.session import TinySession
from wireloom_protocols.tiny.settings import TinySettings


class TinySection(TcpSection, frozen=True):
    """The switchboard."""

    listen: str = f"127.0.0.1:{PORT}"
    limits: Limits = {}
    """The session's settings by name."""


ENDPOINT: Final = Endpoint(
    name="tiny",
    title="the switchboard of Tiny",
    section=TinySection,
    settings=TinySettings,
    derived={},
    session=TinySession,
)
