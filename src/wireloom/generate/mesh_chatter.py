"""What keeps a mesh alive and has no fate: keys, heartbeats, tests, lookups, the ledger."""

from collections.abc import Sequence
from typing import Any, Final

from wireloom.generate.mesh import Mesh, Node
from wireloom.generate.scene import Kind
from wireloom.generate.timeline import MINUTE_US, SECOND_US, START_US
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    HASH_SIZE,
    AdapterType,
    Capability,
    Command,
    ExchangeType,
    LedgerQueryType,
    QueryType,
    TestType,
)
from wireloom.protocols.myriadmesh.integrity import block_hash, dht_key, merkle_root
from wireloom.protocols.myriadmesh.lookups import encode_node
from wireloom.protocols.myriadmesh.messages import (
    Adapter,
    Control,
    DhtQuery,
    DhtResponse,
    DhtStore,
    Discovery,
    Heartbeat,
    KeyExchange,
    LedgerBlock,
    LedgerQuery,
    NodeResult,
    Payload,
    RouteRequest,
    RouteResponse,
    TestRequest,
    TestResponse,
)
from wireloom.protocols.myriadmesh.sealing import confirmation, session_keys
from wireloom.wire.ciphers import x25519_public
from wireloom.wire.outcome import Outcome, Reason

STALE_MS: Final = 20 * 60_000
"""How old a frame is that comes out of nowhere: more than receivers allow."""

NO_BLOCK: Final = bytes(HASH_SIZE)
"""What stands before the first block."""


class Chatter:
    """Small talk between the nodes of a mesh."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._rng = mesh.rng
        self._beats = 0
        self._height = 0
        self._head = NO_BLOCK
        self._before = NO_BLOCK

    def kinds(self) -> Sequence[Kind]:
        """Every kind of small talk."""
        return (
            (8, self.heartbeat),
            (1, self.stale_heartbeat),
            (4, self.ping),
            (1, self.alive),
            (1, self.status),
            (2, self.exchange_keys),
            (3, self.look_up),
            (1, self.store),
            (2, self.ask_route),
            (2, self.block),
            (1, self.fork),
            (1, self.orphan),
            (1, self.ask_block),
        )

    def introduce(self, at: int) -> None:
        """Every node tells its key, its abilities and how to reach it."""
        for number, node in enumerate(self._mesh.nodes):
            discovery = Discovery(
                public_key=node.key.public,
                capabilities=Capability.RELAY | Capability.CACHE | Capability.VERSION_1,
                adapters=_adapters(node, number),
            )
            begin = at + number * SECOND_US // 10
            raw = self._mesh.signed(
                self._mesh.draft(node, discovery, BROADCAST_ID, begin), node.key
            )
            self._mesh.spread(raw, node, begin, outcome=Outcome.ACCEPTED, count=2)

    def heartbeat(self, at: int) -> None:
        """A node lives; every third heartbeat is not signed, as none needs to be."""
        node = self._rng.choice(self._mesh.nodes)
        draft = self._mesh.draft(node, self._pulse(at), BROADCAST_ID, at)
        raw = encode(draft) if self._beats % 3 == 0 else self._mesh.signed(draft, node.key)
        self._mesh.spread(raw, node, at, outcome=Outcome.ACCEPTED, count=2)

    def stale_heartbeat(self, at: int) -> None:
        """A heartbeat that is much too old."""
        node, receiver = self._mesh.pair()
        draft = self._mesh.draft(node, self._pulse(at), receiver.id, at, skew_ms=-STALE_MS)
        verdict: dict[str, Any] = {"outcome": Outcome.REJECTED, "reason": Reason.STALE}
        self._mesh.carry(self._mesh.signed(draft, node.key), [node, receiver], at, **verdict)

    def ping(self, at: int) -> None:
        """A measured echo."""
        test_id, payload = self._rng.randbytes(8), self._rng.randbytes(32)
        kind = self._rng.choice(list(TestType))
        asked = TestRequest(test_type=kind, test_id=test_id, test_payload=payload)
        self._ask(at, asked, TestResponse(test_id=test_id, echo_payload=payload))

    def alive(self, at: int) -> None:
        """Whether a node is there."""
        mark = self._rng.randbytes(4)
        self._ask(
            at,
            Control(command=Command.PING, parameters=mark),
            Control(command=Command.PONG, parameters=mark),
        )

    def status(self, at: int) -> None:
        """A node tells its neighbour of routes and of itself."""
        source, destination = self._mesh.pair()
        for command in (Command.ROUTE_UPDATE, Command.NODE_STATUS):
            told = Control(command=command, parameters=self._rng.randbytes(8))
            at = self._send(at, source, destination, told)

    def exchange_keys(self, at: int) -> None:
        """Two nodes agree on keys, and change them soon after."""
        one, other = self._mesh.pair()
        nonce = self._rng.randbytes(24)
        private, theirs = self._rng.randbytes(32), x25519_public(self._rng.randbytes(32))
        keys = session_keys(private, theirs, own_id=one.id, peer_id=other.id)
        steps = (
            (one, other, ExchangeType.INITIATE, x25519_public(private)),
            (other, one, ExchangeType.RESPOND, theirs),
            (one, other, ExchangeType.CONFIRM, confirmation(keys.tx_key)),
            (one, other, ExchangeType.ROTATE, x25519_public(self._rng.randbytes(32))),
        )
        for source, destination, kind, key in steps:
            said = KeyExchange(exchange_type=kind, ephemeral_public_key=key, nonce=nonce)
            at = self._send(at, source, destination, said)

    def look_up(self, at: int) -> None:
        """A node is looked for in the table, and found."""
        number = self._rng.randrange(len(self._mesh.nodes))
        sought = self._mesh.nodes[number]
        found = encode_node(NodeResult(node_id=sought.id, adapters=_adapters(sought, number)))
        query = DhtQuery(query_type=QueryType.FIND_NODE, key=dht_key("node", sought.id))
        self._ask(at, query, DhtResponse(results=(found,)))

    def store(self, at: int) -> None:
        """Something is put into the table."""
        source, destination = self._mesh.pair()
        value = self._rng.randbytes(24)
        key = dht_key("cache", source.id)
        self._send(at, source, destination, DhtStore(key=key, value=value, ttl=3600))

    def ask_route(self, at: int) -> None:
        """A route is asked for, and told."""
        goal, hop = self._mesh.pair()
        told = RouteResponse(
            dest_node_id=goal.id,
            next_hop=hop.id,
            hops=self._rng.randint(1, 4),
            cost=self._rng.randint(10, 500),
        )
        self._ask(at, RouteRequest(dest_node_id=goal.id), told)

    def block(self, at: int) -> None:
        """The next block of the ledger."""
        self._before, self._head = self._head, self._publish(at, self._height, self._head)
        self._height += 1

    def fork(self, at: int) -> None:
        """A second block on the same place as the last one."""
        self._publish(at, max(0, self._height - 1), self._before)

    def orphan(self, at: int) -> None:
        """A block whose predecessor nobody has seen."""
        self._publish(at, self._height + 5, self._rng.randbytes(HASH_SIZE))

    def ask_block(self, at: int) -> None:
        """A block is asked for, by height or by hash."""
        source, destination = self._mesh.pair()
        by_height = LedgerQuery(query_type=LedgerQueryType.BY_HEIGHT, block_height=self._height)
        by_hash = LedgerQuery(query_type=LedgerQueryType.BY_HASH, block_hash=self._head)
        self._send(at, source, destination, self._rng.choice((by_height, by_hash)))

    def _publish(self, at: int, height: int, previous: bytes) -> bytes:
        entries = tuple(self._rng.randbytes(16) for _ in range(self._rng.randint(1, 4)))
        made = LedgerBlock(
            block_height=height,
            previous_hash=previous,
            merkle_root=merkle_root(entries),
            entries=entries,
        )
        source = self._rng.choice(self._mesh.nodes)
        raw = self._mesh.signed(self._mesh.draft(source, made, BROADCAST_ID, at), source.key)
        self._mesh.spread(raw, source, at, outcome=Outcome.ACCEPTED, count=2)
        return block_hash(made)

    def _pulse(self, at: int) -> Heartbeat:
        self._beats += 1
        return Heartbeat(
            sequence_number=self._beats,
            uptime=(at - START_US + MINUTE_US) // SECOND_US,
            load_average=self._rng.randrange(400) / 100,
        )

    def _ask(self, at: int, question: Payload, answer: Payload) -> None:
        one, other = self._mesh.pair()
        at = self._send(at, one, other, question)
        self._send(at, other, one, answer)

    def _send(self, at: int, source: Node, destination: Node, payload: Payload) -> int:
        raw = self._mesh.signed(self._mesh.draft(source, payload, destination.id, at), source.key)
        return self._mesh.carry(raw, [source, destination], at, outcome=Outcome.ACCEPTED).at


def _adapters(node: Node, number: int) -> tuple[Adapter, ...]:
    if node.radio:
        return (Adapter(adapter_type=AdapterType.LORAWAN.value, address=f"lora:{number:08x}"),)
    address = f"ipv4:192.0.2.{number + 1}:4001"
    return (Adapter(adapter_type=AdapterType.ETHERNET.value, address=address),)
