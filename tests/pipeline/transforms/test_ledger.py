from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from support.spark import seen
from support.tables import rows
from wireloom.capture.frame import CapturedFrame
from wireloom.pipeline.transforms.ledger import TABLE, hashes, ledger
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.constants import BROADCAST_ID, Flags
from wireloom.protocols.myriadmesh.integrity import block_hash, merkle_root, node_id, sign
from wireloom.protocols.myriadmesh.messages import Frame, LedgerBlock
from wireloom.protocols.myriadmesh.sealing import seal_frame
from wireloom.wire.keys import SigningKey
from wireloom.wire.outcome import Direction

NOW_MS = 1_700_000_000_000
ANN, BOB, EVE = (SigningKey(bytes([n]) * 32) for n in (1, 2, 3))


def block(height: int, previous: bytes, *entries: bytes) -> LedgerBlock:
    return LedgerBlock(
        block_height=height,
        previous_hash=previous,
        merkle_root=merkle_root(entries),
        entries=entries,
    )


def after(before: LedgerBlock, *entries: bytes, by: int = 1) -> LedgerBlock:
    return block(before.block_height + by, block_hash(before), *entries)


def frame(payload: LedgerBlock, key: SigningKey = ANN, number: int = 1) -> Frame:
    return Frame(
        flags=Flags.BROADCAST,
        message_type=payload.message_type,
        priority=160,
        ttl=10,
        message_id=bytes([number]) * 16,
        source_node_id=node_id(key.public),
        dest_node_id=BROADCAST_ID,
        timestamp=NOW_MS,
        payload=payload,
    )


def signed(payload: LedgerBlock, key: SigningKey = ANN, number: int = 1) -> bytes:
    return encode(sign(frame(payload, key, number), key))


def sighting(raw: bytes, *, at: int = 0, node: str = "n1") -> CapturedFrame:
    return CapturedFrame(
        captured_at=(NOW_MS + at) * 1000,
        node=node,
        protocol="myriadmesh",
        link="udp",
        direction=Direction.IN,
        raw=raw,
    )


GENESIS = block(0, bytes(32), b"genesis")
ONE = after(GENESIS, b"a", b"b", b"c")
TWO, OTHER_TWO = after(ONE, b"two"), after(ONE, b"other two")
LEAP = after(TWO, b"leap", by=3)
ORPHAN = block(9, b"\x0c" * 32)
FALSE_ROOT = replace(after(TWO, b"three"), merkle_root=b"\x0d" * 32)
UNKNOWN = after(FALSE_ROOT, b"whose?")
UNSIGNED = after(ONE, b"a rival that nobody signed")
FORGED = after(FALSE_ROOT, b"forged")
SEALED = after(FALSE_ROOT, b"sealed")
TO_ONE = replace(frame(SEALED), flags=Flags(0), dest_node_id=b"\x03" * 32)

FRAMES = [
    sighting(signed(GENESIS), at=1),
    sighting(signed(GENESIS), at=2, node="n2"),
    sighting(signed(GENESIS, BOB, 2), at=3),
    sighting(signed(ONE), at=4),
    sighting(signed(TWO), at=5),
    sighting(signed(OTHER_TWO, BOB), at=6),
    sighting(signed(LEAP), at=7),
    sighting(signed(ORPHAN), at=8),
    sighting(signed(FALSE_ROOT), at=9),
    sighting(signed(UNKNOWN, EVE), at=10),
    sighting(encode(frame(UNSIGNED)), at=11),
    sighting(signed(FORGED)[:-1] + b"\x00", at=12),
    sighting(encode(sign(seal_frame(TO_ONE, b"k" * 32), ANN)), at=13),
]
KEYS = [ANN.public, BOB.public]

Ledger = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> Ledger:
    return _by_hash(rows(TABLE, ledger(seen(spark, FRAMES, KEYS))))


def _by_hash(found: list[dict[str, Any]]) -> Ledger:
    return {row["block_hash"]: row for row in found}


def _row(found: Ledger, wanted: LedgerBlock) -> dict[str, Any]:
    return found[block_hash(wanted).hex()]


def test_blocks_are_linked_or_it_is_said_why_not(found: Ledger) -> None:
    blocks = (GENESIS, ONE, TWO, OTHER_TWO, LEAP, ORPHAN, FALSE_ROOT, UNKNOWN, UNSIGNED)
    assert [_row(found, one)["state"] for one in blocks] == [
        "linked",
        "linked",
        "fork",
        "fork",
        "gap",
        "orphan",
        "linked",
        "unverified",
        "unverified",
    ]
    assert len(found) == len(blocks)


def test_an_unverified_block_makes_no_fork(found: Ledger) -> None:
    assert _row(found, TWO)["rivals"] == 1
    assert _row(found, ONE)["rivals"] == 0
    assert _row(found, UNSIGNED)["rivals"] is None


def test_missing_heights_are_counted(found: Ledger) -> None:
    below = [_row(found, one)["missing_below"] for one in (GENESIS, TWO, LEAP, ORPHAN, UNKNOWN)]
    assert below == [0, 0, 1, 3, None]


def test_the_merkle_root_is_checked(found: Ledger) -> None:
    assert _row(found, ONE)["merkle_ok"]
    assert _row(found, ORPHAN)["merkle_ok"]
    assert not _row(found, FALSE_ROOT)["merkle_ok"]
    assert _row(found, ONE)["entry_count"] == 3


def test_a_block_is_one_row_whoever_publishes_it(found: Ledger) -> None:
    row = _row(found, GENESIS)
    assert row["sources"] == sorted(node_id(key.public).hex() for key in (ANN, BOB))
    assert (row["sightings"], row["nodes"]) == (3, 2)


def test_the_order_of_arrival_does_not_matter(spark: SparkSession, found: Ledger) -> None:
    assert _by_hash(rows(TABLE, ledger(seen(spark, FRAMES[::-1], KEYS)))) == found


def test_hashes_are_made_from_hex() -> None:
    columns = [
        [1],
        [ONE.previous_hash.hex()],
        ["0d" * 32],
        [[entry.hex() for entry in ONE.entries]],
    ]
    (found,) = hashes(*[pa.array(column) for column in columns]).to_pylist()
    assert found["block_hash"] == block_hash(replace(ONE, merkle_root=b"\x0d" * 32)).hex()
    assert found["root"] == ONE.merkle_root.hex()


def test_no_entries_make_the_hash_of_nothing() -> None:
    assert merkle_root([]) == blake2b().digest()[:32]


def test_one_entry_makes_its_hash() -> None:
    assert merkle_root([b"a"]) == blake2b(b"a").digest()[:32]


def test_neighbours_are_hashed_together_and_the_last_with_itself() -> None:
    a, b, c = (blake2b(entry).digest() for entry in (b"a", b"b", b"c"))
    ab, cc = blake2b(a + b).digest(), blake2b(c + c).digest()
    assert merkle_root([b"a", b"b", b"c"]) == blake2b(ab + cc).digest()[:32]
    assert merkle_root([b"a", b"b"]) == ab[:32]
