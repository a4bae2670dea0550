"""MyriadMesh traffic for measurements: frames that are signed, and seen at several nodes."""

from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from wireloom.protocols.myriadmesh import codec, messages
from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    AckType,
    Command,
    ContentType,
    Flags,
    QueryType,
    TestType,
)
from wireloom.protocols.myriadmesh.integrity import node_id, relay, sign
from wireloom.wire.keys import SigningKey

NODES: Final = 50
SIGHTINGS: Final = 5
SPREAD: Final = 200
"""How many other frames come between two sightings of one."""

NOW_MS: Final = 1_760_000_000_000

Made = tuple[messages.Payload, Flags, str]


class Sighting(NamedTuple):
    """A frame as one node saw it."""

    node: int
    raw: bytes


def node_keys() -> list[SigningKey]:
    """The keys of all nodes."""
    return [SigningKey(Random(number).randbytes(32)) for number in range(NODES)]


def frames(random: Random, count: int) -> list[bytes]:
    """Distinct frames: mostly data, mostly sealed, with what goes along with it.

    Every node announces its key once, at some time: any part has its share of these frames,
    which the column kernels leave to the codec.
    """
    nodes = node_keys()
    ids = [node_id(key.public) for key in nodes]
    makers = random.choices(
        (_sealed, _data, _heartbeat, _ack, _ping, _query, _test),
        weights=(45, 15, 15, 15, 3, 3, 4),
        k=count - NODES,
    )
    announced = [codec.encode(sign(_discovery(random, key), key)) for key in nodes]
    made = []
    for maker in makers:
        sender = random.randrange(NODES)
        frame = _frame(random, ids[sender], random.choice(ids), *maker(random))
        made.append(codec.encode(sign(frame, nodes[sender])))
    for raw in announced:
        made.insert(random.randrange(len(made) + 1), raw)
    return made


def seen(random: Random, distinct: list[bytes], sightings: int) -> Iterator[Sighting]:
    """Each frame at some nodes, at about the same time, with a hop less after each relay.

    A frame is seen where it is sent and where it is received: two sightings have the same bytes.
    """
    times = []
    for place, raw in enumerate(distinct):
        carried = raw
        for number in range(sightings):
            if number and not number % 2:
                carried = relay(carried)
            times.append((place + random.random() * SPREAD, carried))
    for _, raw in sorted(times):
        yield Sighting(random.randrange(NODES), raw)


def _frame(
    random: Random,
    source: bytes,
    destination: bytes,
    payload: messages.Payload,
    flags: Flags,
    type_: str,
) -> messages.Frame:
    return messages.Frame(
        flags=flags,
        message_type=messages.TYPES[type_].message_type,  # type: ignore[attr-defined]
        priority=random.choice((32, 96, 160, 160, 208, 240)),
        ttl=random.randint(4, 10),
        message_id=random.randbytes(16),
        source_node_id=source,
        dest_node_id=destination,
        timestamp=NOW_MS + random.randrange(3_600_000),
        payload=payload,
    )


def _discovery(random: Random, key: SigningKey) -> messages.Frame:
    announced = messages.Discovery(public_key=key.public)
    return _frame(
        random, node_id(key.public), BROADCAST_ID, announced, Flags.BROADCAST, "DISCOVERY"
    )


def _sealed(random: Random) -> Made:
    sealed = messages.Sealed(ciphertext=random.randbytes(random.randint(37, 137)))
    return sealed, Flags.ENCRYPTED, "DATA"


def _data(random: Random) -> Made:
    data = random.randbytes(random.randint(20, 120))
    return messages.Data(content_type=ContentType.TEXT, data=data), Flags(0), "DATA"


def _heartbeat(random: Random) -> Made:
    beat = messages.Heartbeat(
        sequence_number=random.getrandbits(16), uptime=random.getrandbits(20), load_average=0.5
    )
    return beat, Flags(0), "HEARTBEAT"


def _ack(random: Random) -> Made:
    ack = messages.Ack(original_message_id=random.randbytes(16), ack_type=AckType.DELIVERED)
    return ack, Flags.ACK, "CONTROL"


def _ping(random: Random) -> Made:
    ping = messages.Control(command=Command.PING, parameters=random.randbytes(8))
    return ping, Flags(0), "CONTROL"


def _query(random: Random) -> Made:
    query = messages.DhtQuery(query_type=QueryType.FIND_NODE, key=random.randbytes(32))
    return query, Flags(0), "DHT_QUERY"


def _test(random: Random) -> Made:
    test = messages.TestRequest(
        test_type=TestType.PING, test_id=random.randbytes(8), test_payload=random.randbytes(32)
    )
    return test, Flags(0), "TEST_REQUEST"
