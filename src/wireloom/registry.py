"""The five protocols by name.

A protocol's modules are imported when it is first asked for, so that `import wireloom`
stays light.
"""

from collections.abc import Callable, Collection
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast
from typing import Protocol as Interface

from wireloom.wire.cursor import Span
from wireloom.wire.message import Message, Summary
from wireloom.wire.outcome import Auth

if TYPE_CHECKING:
    from wireloom.wire.keys import SigningKey  # it brings libsodium along

NAMES: Final = ("cthun", "dtn", "myriadmesh", "signalhub", "uep12")


class Codec(Interface):
    """`codec` of every protocol."""

    def decode(self, raw: bytes, *, lenient: bool = False) -> Message:
        """The message in `raw`, or a WireError."""

    def encode(self, message: Message) -> bytes:
        """The bytes of `message`, or a WireError."""

    def spans(self, raw: bytes) -> list[Span]:
        """Where each field lies."""


class Integrity(Interface):
    """`integrity` of every protocol."""

    def authenticate(self, message: Message, raw: bytes, keys: Collection[bytes]) -> Auth:
        """What is known of a frame's authenticity."""


class Record(Interface):
    """`record` of every protocol."""

    def summarise(self, message: Message, raw: bytes) -> Summary:
        """The message in the columns that all protocols share."""

    def from_fields(self, type_: str, fields: object) -> Message:
        """The message with these plain fields, or a WireError."""


class Messages(Interface):
    """`messages` of every protocol."""

    TYPES: dict[str, type[Message]]
    """Every message type by the specification's own name."""

    PARTS: tuple[type[Message], ...]
    """Further classes that a reader of the field tables looks for."""


class Redaction(Interface):
    """`redaction` of the protocols whose frames name somebody, or let somebody in."""

    MARKS: tuple[bytes, ...]
    """A frame without any of these bytes stays as it is when it is redacted."""

    def redact(self, raw: bytes) -> bytes:
        """The frame, in the same length and form, without what lets somebody in."""

    def rename(self, raw: bytes, pseudonym: Callable[[bytes], bytes]) -> bytes:
        """The frame with pseudonyms in the place of names; each is as long as its name."""


class WireProtocol:
    """One protocol: its modules, each imported when first used."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def codec(self) -> Codec:
        """Encoding and decoding."""
        return cast("Codec", self._module("codec"))

    @property
    def integrity(self) -> Integrity:
        """Signatures, hashes, proofs of work."""
        return cast("Integrity", self._module("integrity"))

    def inner_auth(self, message: Message, keys: Collection[bytes]) -> Auth | None:
        """What a signature says that is inside a message, beside the frame's own; None if none is.

        Args:
            message: As decoded.
            keys: Public keys to check with.
        """
        check = getattr(self.integrity, "authenticate_inner", None)
        return None if check is None else cast("Auth | None", check(message, keys))

    @property
    def sign(self) -> "Callable[[Message, SigningKey], Message] | None":
        """Signs a message, or raises a WireError; None where the protocol has no signatures."""
        return getattr(self.integrity, "sign", None)

    @property
    def record(self) -> Record:
        """The columns that all protocols share."""
        return cast("Record", self._module("record"))

    @property
    def messages(self) -> Messages:
        """The message classes."""
        return cast("Messages", self._module("messages"))

    @property
    def redaction(self) -> Redaction | None:
        """What hides tokens and names; None where frames hold neither as text."""
        if self.name not in ("cthun", "signalhub"):
            return None
        return cast("Redaction", self._module("redaction"))

    @property
    def evidence_module(self) -> str:
        """The dotted name of its fate rules, which the pipeline imports; there may be none."""
        return f"wireloom.pipeline.transforms.evidence.{self.name}"

    def _module(self, part: str) -> object:
        return import_module(f"wireloom.protocols.{self.name}.{part}")


@cache
def protocol(name: str) -> WireProtocol:
    """The protocol called `name`.

    Raises:
        KeyError: If there is none.
    """
    if name not in NAMES:
        raise KeyError(name)
    return WireProtocol(name)
