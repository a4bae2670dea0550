"""Nodes of a mesh and of a store-and-forward network, and frames as they captured them."""

from typing import Any, NamedTuple

from msgspec.structs import replace

from wireloom.capture.frame import CapturedFrame
from wireloom.protocols.dtn import codec as dtn_codec
from wireloom.protocols.dtn import integrity as dtn
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.messages import Bundle, ControlMessage, Data
from wireloom.protocols.myriadmesh import codec as mesh_codec
from wireloom.protocols.myriadmesh import integrity as mesh
from wireloom.protocols.myriadmesh.constants import BROADCAST_ID, ContentType, Flags
from wireloom.protocols.myriadmesh.messages import Data as MeshData
from wireloom.protocols.myriadmesh.messages import Frame, Payload
from wireloom.wire.keys import SigningKey, uid
from wireloom.wire.outcome import Direction

NOW_MS = 1_767_225_600_000
TEXT = MeshData(content_type=ContentType.TEXT, data=b"hello")


class Node(NamedTuple):
    """One node, in either network."""

    name: str
    key: SigningKey

    @property
    def uid(self) -> bytes:
        """Its name in the store-and-forward network."""
        return uid(self.key.public)

    @property
    def id(self) -> bytes:
        """Its name in the mesh."""
        return mesh.node_id(self.key.public)


ANN, BOB, CID, DAN = (
    Node(name, SigningKey(bytes([number]) * 32))
    for number, name in enumerate(("ann", "bob", "cid", "dan"), start=1)
)
KEYS = [node.key.public for node in (ANN, BOB, CID, DAN)]


def frame(
    number: int, source: Node, to: Node | None, payload: Payload, at: int = 0, **more: Any
) -> bytes:
    """A signed mesh frame with the id `number`, for everyone if it is for nobody."""
    everyone = Flags.BROADCAST if to is None else Flags(0)
    made = Frame(
        flags=more.get("flags", Flags(0)) | everyone,
        message_type=payload.message_type,
        priority=160,
        ttl=more.get("ttl", 10),
        message_id=number.to_bytes(16, "big"),
        source_node_id=source.id,
        dest_node_id=BROADCAST_ID if to is None else to.id,
        timestamp=NOW_MS + at,
        payload=payload,
    )
    return mesh_codec.encode(mesh.sign(made, source.key))


def forged(raw: bytes) -> bytes:
    """A mesh frame with a signature that does not hold."""
    return raw[:-1] + bytes([raw[-1] ^ 1])


def mesh_id(number: int) -> str:
    """The id of a mesh frame as tables show it."""
    return number.to_bytes(16, "big").hex()


def bundle(
    source: Node, payload: ControlMessage | bytes, to: tuple[Destination, bytes], at: int = 0
) -> Bundle:
    """A signed bundle; bytes are application data."""
    said = Data(ciphertext=payload) if isinstance(payload, bytes) else payload
    return dtn.compose(said, source.key, to, created_at=NOW_MS + at, ttl_sec=60)


def carried(made: Bundle, *path: Node) -> bytes:
    """The bytes of a bundle that passed these nodes."""
    route = tuple(node.key.public for node in path)
    return dtn_codec.encode(replace(made, header=replace(made.header, route_path=route)))


def bundle_id(made: Bundle) -> bytes:
    """The identity of a bundle."""
    return dtn.bundle_id(made.header, made.payload_bytes())


def captured(
    protocol: str | None, raw: bytes, at: int, node: Node | str, direction: str = "in", **more: Any
) -> CapturedFrame:
    """A frame captured `at` ms after `NOW_MS`; `peer` may be a node."""
    peer = more.pop("peer", None)
    return CapturedFrame(
        captured_at=(NOW_MS + at) * 1000,
        node=node.name if isinstance(node, Node) else node,
        protocol=protocol,
        link=more.pop("link", "udp"),
        direction=Direction(direction),
        raw=raw,
        peer=peer.name if isinstance(peer, Node) else peer,
        **more,
    )
