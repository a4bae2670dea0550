"""What a request must have to become a WebSocket.

A web page may open a WebSocket to any address, also to one that only this machine reaches;
its browser says in `Origin` whose page it is. So a request with an origin is taken only if
that origin is listed, or a page of this machine. Names other than the machine's own in `Host`
are refused on loopback: a foreign name that leads here is how a page gets around the origin.
"""

from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

VERSION: Final = "13"
_BEARER: Final = "bearer "
_LOCAL_NAMES: Final = ("localhost", "ip6-localhost", "ip6-loopback")


class Refusal(NamedTuple):
    """The answer to a request that becomes no WebSocket."""

    status: HTTPStatus
    reason: str
    headers: Mapping[str, str] = {}


Fields = Callable[[str], list[str]]
"""The values of a field in a request's header, by its name in any case."""


class Gatekeeper:
    """Decides who may connect.

    Args:
        path: The only path there is.
        origins: Whose pages may connect besides those of this machine.
        is_local: Whether the endpoint can be reached from this machine only.
    """

    def __init__(self, path: str, *, origins: Collection[str] = (), is_local: bool = True) -> None:
        self._path = path
        self._origins = {origin.rstrip("/").lower() for origin in origins}
        self._is_local = is_local

    def refusal(self, path: str, fields: Fields) -> Refusal | None:
        """Why a request is refused; None if it is not."""
        if path.partition("?")[0] != self._path:
            return Refusal(HTTPStatus.NOT_FOUND, f"there is only {self._path} here")
        if not (_has(fields, "Upgrade", "websocket") and _has(fields, "Connection", "upgrade")):
            return Refusal(
                HTTPStatus.UPGRADE_REQUIRED, "this is a WebSocket", {"Upgrade": "websocket"}
            )
        if fields("Sec-WebSocket-Version") != [VERSION]:
            return Refusal(
                HTTPStatus.UPGRADE_REQUIRED,
                f"only version {VERSION} is spoken here",
                {"Upgrade": "websocket", "Sec-WebSocket-Version": VERSION},
            )
        return self._foreign(fields)

    def _foreign(self, fields: Fields) -> Refusal | None:
        hosts = fields("Host")
        if len(hosts) != 1:
            return Refusal(HTTPStatus.BAD_REQUEST, "a request names its host once")
        if self._is_local and not is_loopback(hostname(f"//{hosts[0]}")):
            return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "that is no name of this machine")
        origins = fields("Origin")
        if all(self._is_welcome(origin) for origin in origins):
            return None
        return Refusal(HTTPStatus.FORBIDDEN, "pages of that origin may not connect")

    def _is_welcome(self, origin: str) -> bool:
        is_ours = self._is_local and is_loopback(hostname(origin))
        return is_ours or origin.lower() in self._origins


def bearer(fields: Fields) -> str | None:
    """The token that came with a request, if one did."""
    for value in fields("Authorization"):
        if value[: len(_BEARER)].lower() == _BEARER:
            return value[len(_BEARER) :].strip()
    return None


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own, without asking anyone."""
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def hostname(url: str) -> str:
    """The host that a URL names; empty if it names none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _has(fields: Fields, name: str, token: str) -> bool:
    """Whether a field that is a list of words has the word."""
    values = ",".join(fields(name))
    return token in (word.strip().lower() for word in values.split(","))
