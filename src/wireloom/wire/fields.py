"""Field types with their limits.

A field's type says its range; msgspec checks it where a message comes from JSON,
MessagePack or CBOR, the cursor where it comes from a fixed layout. `extra["size"]` is what
the field tables in the docs print.

msgspec takes no bound above 2**63 - 1. `U64` therefore has none of its own: the encodings
that carry it end at 2**64 - 1 by themselves.
"""

from typing import Annotated, Final

from msgspec import Meta

MAX_NESTING: Final = 64
"""How deep lists and maps may stand in each other: no message of the five needs ten, and a
bound that does not depend on the interpreter's stack refuses the same input everywhere."""

UUID_SHAPE: Final = b"00000000-0000-0000-0000-000000000000"
UUID_DIGITS: Final = bytes.maketrans(b"123456789abcdefABCDEF", b"0" * 21)
"""Bytes that translate to the shape are a UUID as text, in either case: to see that takes half the
time of a pattern."""

U8 = Annotated[int, Meta(ge=0, le=0xFF, extra={"size": "1 B"})]
U16 = Annotated[int, Meta(ge=0, le=0xFFFF, extra={"size": "2 B"})]
U32 = Annotated[int, Meta(ge=0, le=0xFFFF_FFFF, extra={"size": "4 B"})]
U64 = Annotated[int, Meta(ge=0, extra={"size": "8 B"})]
I16 = Annotated[int, Meta(ge=-0x8000, le=0x7FFF, extra={"size": "2 B, signed"})]

Millis = Annotated[int, Meta(ge=0, le=0x7FFF_FFFF_FFFF_FFFF, extra={"size": "8 B, ms"})]
"""Milliseconds since 1970, UTC, or a duration in milliseconds."""

Millis48 = Annotated[int, Meta(ge=0, le=0xFFFF_FFFF_FFFF, extra={"size": "6 B, ms"})]
"""Milliseconds since 1970 in six bytes."""

Bytes4 = Annotated[bytes, Meta(min_length=4, max_length=4, extra={"size": "4 B"})]
Bytes8 = Annotated[bytes, Meta(min_length=8, max_length=8, extra={"size": "8 B"})]
Bytes12 = Annotated[bytes, Meta(min_length=12, max_length=12, extra={"size": "12 B"})]
Bytes16 = Annotated[bytes, Meta(min_length=16, max_length=16, extra={"size": "16 B"})]
Bytes24 = Annotated[bytes, Meta(min_length=24, max_length=24, extra={"size": "24 B"})]
Bytes32 = Annotated[bytes, Meta(min_length=32, max_length=32, extra={"size": "32 B"})]
Bytes64 = Annotated[bytes, Meta(min_length=64, max_length=64, extra={"size": "64 B"})]
