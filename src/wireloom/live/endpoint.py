"""What an endpoint declares of itself: all that a node needs to know of a protocol to serve it.

An endpoint is one module that assigns an `Endpoint` to `ENDPOINT` (see `live/endpoints/`). The
configuration, the node, `wireloom serve` and the docs read these declarations and nothing else.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from wireloom.capture.private import LinkRefusedError, opener
from wireloom.live import secret_files
from wireloom.live.errors import ConfigError, NodeError
from wireloom.live.links.sections import LinkSection
from wireloom.live.secret_files import SecretFileError
from wireloom.wire.ids import Ids
from wireloom.wire.session import Session

LIMITS: Final = "limits"
"""The key of a session's settings in the table of its endpoint."""

SECRET_SIZE: Final = 32


class Context(NamedTuple):
    """What the endpoints of one node share."""

    data: Path
    """Where the node keeps what it must not lose."""

    boot: str
    """A text that no other life of the process has."""

    def secret(self) -> bytes:
        """What this node and no one else knows, in this life and the next.

        Raises:
            NodeError: If it cannot be read or made.
        """
        path = self.data / "secret"
        try:
            found = _read_or_make(path)
        except SecretFileError as error:
            raise NodeError(f"{error}") from None
        except LinkRefusedError as error:
            raise NodeError(f"{error.strerror}") from None
        except OSError as error:
            raise NodeError(f"{path} cannot be used: {error.strerror}") from None
        if len(found) < SECRET_SIZE:
            raise NodeError(f"{path} is damaged; remove it, and clients have to register again")
        return found


class EndpointSection(Protocol):
    """An endpoint's table in the file: a `Section` with its links, its own keys, and its limits."""

    __struct_fields__: ClassVar[tuple[str, ...]]

    @property
    def limits(self) -> Mapping[str, object]:
        """The session's settings by name."""


class SessionSettings(Protocol):
    """The settings of a session, as far as its links need them."""

    __struct_fields__: ClassVar[tuple[str, ...]]

    @property
    def max_message_size(self) -> int:
        """The most bytes that a frame may have."""


class Place(NamedTuple):
    """One link of an endpoint, as it is configured."""

    keys: tuple[str, ...]
    """Its table in the file."""

    section: LinkSection

    @property
    def name(self) -> str:
        """Its table as the file writes it."""
        return ".".join(self.keys)

    @property
    def link(self) -> str:
        """The link's name among those of its endpoint: sessions dial through it by this."""
        return self.keys[-1] if len(self.keys) > 1 else self.section.KIND


S = TypeVar("S", bound=EndpointSection)
T = TypeVar("T", bound=SessionSettings)


def only_link(section: Any) -> Mapping[str, LinkSection]:
    """The links of an endpoint that has one: its table is the link's section."""
    return {"": section}


@dataclass(frozen=True, kw_only=True)
class Endpoint(Generic[S, T]):
    """One protocol's endpoint. All of it is declared before anything is configured or started."""

    name: str
    """The protocol's name: the endpoint's table in the file, and what its frames are captured as.
    """

    title: str
    """What it is called in sentences: `the Signal Hub`."""

    section: type[S]
    """What an operator sets; every key has a default."""

    settings: type[T]
    """What its session can be set to."""

    derived: Mapping[str, Callable[[S, Context], object]]
    """The settings that follow from other keys or from the node, and how. All others are limits."""

    session: Callable[[T, Ids], Session]
    """Makes its session; imports what only a running session needs."""

    links: Callable[[S], Mapping[str, LinkSection]] = only_link
    """The sections of its links by their table below the endpoint's own."""

    def limits(self) -> tuple[str, ...]:
        """The settings of its session that an operator sets by name."""
        return tuple(key for key in self.settings.__struct_fields__ if key not in self.derived)

    def settings_of(self, section: S, context: Context) -> T:
        """The settings of its session.

        Raises:
            ConfigError: If a setting cannot be what it is.
            NodeError: If something that they follow from cannot be had.
        """
        name, known = f"{self.name}.{LIMITS}", self.limits()
        derived = {key: make(section, context) for key, make in self.derived.items()}
        for key in section.limits:
            if key not in known:
                raise ConfigError(f"{name} has no {key}")
        try:
            return msgspec.convert({**section.limits, **derived}, self.settings)
        except msgspec.ValidationError as error:
            raise ConfigError(f"{name} is wrong: {error}") from None

    def places(self, section: S | None = None) -> list[Place]:
        """Its links, as they are configured or as they are by default."""
        links = self.links(self.section() if section is None else section)
        return [
            Place((self.name, *table.split(".")) if table else (self.name,), link)
            for table, link in links.items()
        ]


AnyEndpoint = Endpoint[Any, Any]
"""An endpoint of whichever protocol."""


def _read_or_make(path: Path) -> bytes:
    """The bytes of a file that only its owner can write; it is made if it is missing."""
    if path.exists():
        secret_files.check_guarded(path)
    else:
        made = path.with_suffix(".new")
        with open(made, "wb", opener=opener) as file:
            file.write(secrets.token_bytes(SECRET_SIZE))
        made.rename(path)
    with open(path, "rb", opener=opener) as file:
        return file.read()
