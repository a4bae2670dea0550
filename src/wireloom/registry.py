"""The protocols by name: the five of this package, and further ones that are found beside it.

A further protocol is a folder of the namespace package `wireloom_protocols`, anywhere on
`sys.path`, with the same modules as the five (CONTRIBUTING.md lists them). A protocol's modules
are imported when it is first asked for, so that `import wireloom` stays light.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast
from typing import Protocol as Interface

from wireloom.wire.cursor import Span
from wireloom.wire.message import Message, Summary
from wireloom.wire.outcome import Auth
from wireloom.wire.recognition import Recognition

if TYPE_CHECKING:  # these bring pyarrow and libsodium along
    import pyarrow as pa

    from wireloom.wire.columns import MessageColumn
    from wireloom.wire.keys import SigningKey

BUILT_IN: Final = ("cthun", "dtn", "myriadmesh", "signalhub", "uep12")
FURTHER: Final = "wireloom_protocols"
"""The namespace package of further protocols."""


class Codec(Interface):
    """`codec` of every protocol."""

    def decode(self, raw: bytes, *, lenient: bool = False) -> Message:
        """The message in `raw`, or a WireError."""

    def encode(self, message: Message) -> bytes:
        """The bytes of `message`, or a WireError."""

    def spans(self, raw: bytes) -> list[Span]:
        """Where each field lies."""


class Constants(Interface):
    """`constants` of every protocol, as far as others need them."""

    HAS_PROOF: bool
    """Whether a frame carries a proof of its own, which is judged when it was captured."""


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


class Columns(Interface):
    """`columns` of a protocol: `wire.columns.CodecColumns` of those that have none."""

    COLUMN: "MessageColumn"
    """The protocol's struct."""

    def decode(self, raws: "pa.BinaryArray") -> "pa.RecordBatch":
        """A row for each frame, with the columns of `COLUMN.schema`."""


class Content(Interface):
    """`content` of a protocol: `wire.content` of those that have none."""

    def unchanging(
        self, raws: "pa.BinaryArray", decoded: "pa.RecordBatch"
    ) -> Iterable[bytes | memoryview]:
        """What does not change of each frame on its way."""


class Announcement(Interface):
    """`announcement` of the protocols whose frames bring public keys."""

    KEY: tuple[str, ...]
    """Where such a key stands in the protocol's column."""

    def owner(self, public_key: bytes) -> str:
        """Who the key belongs to, as the common record names a source."""


class Batches(Interface):
    """`batches` of the protocols that have frames within frames."""

    TYPE: str
    """The type of the messages that hold frames."""

    def frames(self, raw: bytes) -> list[bytes]:
        """The frames within such a message."""


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
        self.is_built_in = name in BUILT_IN
        self.package = f"wireloom.protocols.{name}" if self.is_built_in else f"{FURTHER}.{name}"
        """Where its modules are."""

    @property
    def endpoint_module(self) -> str:
        """What declares its endpoint; there need not be such a module."""
        name = self.name
        return f"wireloom.live.endpoints.{name}" if self.is_built_in else f"{self.package}.endpoint"

    @property
    def evidence_module(self) -> str:
        """What declares its fate rules; there need not be such a module."""
        where = "wireloom.pipeline.transforms.evidence"
        return f"{where}.{self.name}" if self.is_built_in else f"{self.package}.evidence"

    @cached_property
    def codec(self) -> Codec:
        """Encoding and decoding."""
        return cast("Codec", self._module("codec"))

    @cached_property
    def has_proof(self) -> bool:
        """Whether a frame carries a proof of its own."""
        return cast("Constants", self._module("constants")).HAS_PROOF

    @cached_property
    def integrity(self) -> Integrity:
        """Signatures, hashes, proofs of work."""
        return cast("Integrity", self._module("integrity"))

    def inner_auth(self, message: Message, keys: Collection[bytes]) -> Auth | None:
        """What a signature says that is inside a message, beside the frame's own; None if none is.

        Args:
            message: As decoded.
            keys: Public keys to check with.
        """
        return None if self._inner_auth is None else self._inner_auth(message, keys)

    @cached_property
    def _inner_auth(self) -> Callable[[Message, Collection[bytes]], Auth | None] | None:
        return getattr(self.integrity, "authenticate_inner", None)

    @cached_property
    def sound_auth(self) -> Callable[[bytes, bytes | None], Auth | None] | None:
        """Authenticates a frame that is known to decode by its source's key, or gives None.

        None where the protocol has no faster way than to decode the frame again.
        """
        return getattr(self.integrity, "authenticate_sound", None)

    @property
    def sign(self) -> "Callable[[Message, SigningKey], Message] | None":
        """Signs a message, or raises a WireError; None where the protocol has no signatures."""
        return getattr(self.integrity, "sign", None)

    @cached_property
    def record(self) -> Record:
        """The columns that all protocols share."""
        return cast("Record", self._module("record"))

    @cached_property
    def messages(self) -> Messages:
        """The message classes."""
        return cast("Messages", self._module("messages"))

    @cached_property
    def columns(self) -> Columns:
        """Many frames as Arrow columns."""
        own = self._optional("columns")
        if own is not None:
            return cast("Columns", own)
        default: Any = import_module("wireloom.wire.columns").CodecColumns
        classes = self.messages.TYPES.values()
        return cast(
            "Columns", default(self.name, classes, self.codec.decode, self.record.summarise)
        )

    @cached_property
    def recognition(self) -> Recognition:
        """How its frames are told from those of others."""
        module: Any = self._module("recognition")
        return cast("Recognition", module.RECOGNITION)

    @cached_property
    def content(self) -> Content:
        """What of a frame does not change on its way."""
        return cast("Content", self._optional("content") or import_module("wireloom.wire.content"))

    @cached_property
    def announcement(self) -> Announcement | None:
        """The public keys that frames bring; None where they bring none."""
        return cast("Announcement | None", self._optional("announcement"))

    @cached_property
    def batches(self) -> Batches | None:
        """Frames within frames; None where there are none."""
        return cast("Batches | None", self._optional("batches"))

    @cached_property
    def redaction(self) -> Redaction | None:
        """What hides tokens and names; None where frames hold neither as text."""
        return cast("Redaction | None", self._optional("redaction"))

    def _module(self, part: str) -> object:
        return import_module(f"{self.package}.{part}")

    def _optional(self, part: str) -> object | None:
        return self._module(part) if find_spec(f"{self.package}.{part}") else None


@cache
def protocol(name: str) -> WireProtocol:
    """The protocol called `name`.

    Raises:
        KeyError: If there is none.
    """
    if name not in NAMES:
        raise KeyError(name)
    return WireProtocol(name)


def every() -> Iterator[WireProtocol]:
    """All protocols, in the order of `NAMES`."""
    return map(protocol, NAMES)


def _further() -> list[str]:
    """The names of the protocols in the namespace package, if there is one.

    Raises:
        ImportError: If one has the name of another.
    """
    spec = find_spec(FURTHER)
    if spec is None:
        return []
    from pkgutil import iter_modules  # noqa: PLC0415 - every command would wait for it

    found = iter_modules(spec.submodule_search_locations)
    names = sorted(module.name for module in found if module.ispkg)
    twice = [name for name in names if name in BUILT_IN]
    if twice:
        raise ImportError(f"{FURTHER}.{twice[0]} has the name of a built-in protocol")
    return names


NAMES: Final = (*BUILT_IN, *_further())
"""All protocols: the five, then further ones in alphabetical order."""
