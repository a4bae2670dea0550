"""What every table of the configuration is, and how an address is written in one."""

from ipaddress import ip_address
from typing import Any, Final, NamedTuple

from msgspec import Struct

from wireloom.live.errors import ConfigError
from wireloom.live.links.handshake import is_loopback

Limits = dict[str, Any]
"""The settings of a session by name, as the file has them: only the session knows their types."""

_MAX_PORT: Final = 65_535


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file."""


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def take_address(text: str, name: str) -> Address:
    """An address as it is written in the file.

    Raises:
        ConfigError: If the text is none.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and int(port) <= _MAX_PORT):
        raise ConfigError(f"{name} = {text!r} is no address; write it like 127.0.0.1:8787")
    if ":" in host:
        try:
            ip_address(host)
        except ValueError:
            raise ConfigError(f"{name} = {text!r} is no address") from None
    return Address(host, int(port))
