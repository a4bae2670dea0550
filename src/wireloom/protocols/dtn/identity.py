"""Names that follow from keys and words: UIDs, tags, topics, short ids.

A UID is `wireloom.wire.keys.uid`: the SHA-256 of a public key.
"""

from base64 import b32encode
from collections.abc import Iterable
from hashlib import sha256

from wireloom.protocols.dtn.constants import (
    GROUP_PREFIX,
    SHORT_ID_BYTES,
    SHORT_ID_SIZE,
    TAG_PREFIX,
)
from wireloom.wire.keys import uid


def myc_tag(public_key: bytes) -> str:
    """The name that people see for the owner of a key: `myc:` and ten characters."""
    return TAG_PREFIX + _short(uid(public_key))


def myc_tag_star(public_keys: Iterable[bytes]) -> bytes:
    """The name of a cluster: one hash over its members' keys, in order of their hex.

    Bytes and their hex sort alike.
    """
    return sha256(b"".join(sorted(public_keys))).digest()


def topic_id(name: str) -> bytes:
    """The topic of a group or channel, such as `channel:mesh_local`."""
    return sha256(name.encode()).digest()


def short_id(name: str) -> str:
    """The ten characters that stand for a group or channel (R19)."""
    return _short(topic_id(name))


def group_id_string(name: str) -> str:
    """The id of a group that people call `name`."""
    return GROUP_PREFIX + name.lower().replace(" ", "-")


def _short(digest: bytes) -> str:
    return b32encode(digest[:SHORT_ID_BYTES]).decode()[:SHORT_ID_SIZE]
