"""The captures of peers on real sockets: what the tables say of their swarm is so."""

import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import time

import pytest
from pyspark.sql import SparkSession

from live.parts import until
from live.peers import EPOCH_MS, Node, play
from support.corpus import fates
from support.swarms import NOW_MS, content, hash_of
from wireloom.lake import Lake
from wireloom.live.links.connection import address_of
from wireloom.pipeline.run import run
from wireloom.pipeline.spark import Started
from wireloom.pipeline.store import TableStore
from wireloom.protocols.uep12.constants import MTU
from wireloom.protocols.uep12.packets import mask, split
from wireloom.protocols.uep12.peer.requests import Post, Posted
from wireloom.report.books import STATES, books

RUBBISH = b"rubbish"


class Told:
    """What was said to three peers of a swarm, and where its tables are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.peers: list[str] = []
        self.posted: dict[str, str] = {}
        """Hashes of what peers posted, and by which."""

        at = int(time() * 1_000) - NOW_MS - 1_000
        self.masked = content("masked", at=at)
        self.large = content("x" * (2 * MTU), at=at)
        self.orphan = content("orphan", b"nonesuch", at=at)
        self.idle = content("idle", at=at, proven=False)
        self.late = content("late", at=at - 20 * EPOCH_MS)

    @property
    def strange(self) -> set[str]:
        """Hashes of what no peer posted and all shall have."""
        return {hash_of(raw) for raw in (self.masked, self.large, self.orphan)}

    async def tell(self, add: Callable[..., Awaitable[Node]]) -> None:
        """Has a chain of three peers hear it all."""
        ada = await add()
        bob = await add(ada)
        nodes = [ada, bob, await add(bob)]
        await until(lambda: bob.count("proven_peers") == 2)
        for number, node in enumerate(nodes):
            payload = b"y" * (4_000 if number else 10)
            node.driver.request(Post(id=str(number), payload=payload, ttl_epoch=10))
        await until(lambda: all(node.count("total") == 3 for node in nodes), 30)
        self._shout(bob)
        await until(lambda: all(node.count("total") == 6 for node in nodes), 30)
        self.peers = [node.address for node in nodes]
        self.posted = {
            item.msg_hash.hex(): node.address
            for node in nodes
            for item in node.items
            if isinstance(item, Posted)
        }

    def _shout(self, node: Node) -> None:
        """Somebody whom nobody knows sends what is good and what is not."""
        packets = [mask(self.masked, h=3, d=9), self.idle, self.late, self.orphan, RUBBISH]
        packets += [*split(self.large), split(content("z" * 2 * MTU))[0]]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for packet in packets:
                stranger.sendto(packet, address_of(node.address))

    @property
    def tables(self) -> Path:
        return self.folder / "tables"

    def rows(self, sql: str, *values: str) -> Sequence[dict[str, object]]:
        return Lake(self.tables).rows(sql, *values)


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Three peers that heard it, and the pipeline's tables of their captures."""
    told = Told(tmp_path_factory.mktemp("swarm"))
    nodes, captures = told.folder / "nodes", told.folder / "captures"
    nodes.mkdir()
    captures.mkdir()
    play(told.tell, nodes)
    for folder in nodes.iterdir():
        for segment in (folder / "captures").glob("*.arrow"):
            segment.rename(captures / segment.name)
    run(Started(spark), captures, TableStore(told.tables))
    return told


def test_each_message_is_delivered_to_all_who_did_not_post_it(told: Told) -> None:
    assert len(told.posted) == 3
    first = told.peers[1]  # who passes on first what nobody's captures compose counts as composer
    composers = {**dict.fromkeys(told.strange, first), **told.posted}
    expected = {
        (hashed, peer): "delivered"
        for hashed, composer in composers.items()
        for peer in told.peers
        if peer != composer
    }
    late = {(hash_of(told.late), peer): "lost" for peer in told.peers if peer != first}
    found = {key[1:]: state for key, (state, _) in fates(told.tables).items()}
    assert found == {**expected, **late}


def test_the_books_of_a_swarm_balance(told: Told) -> None:
    ((_, entry),) = books(Lake(told.tables)).items()
    assert entry["sent"] == sum(entry[state] for state in STATES) == 6 + 6 + 2


def test_everybody_has_all_messages_that_are_good(told: Told) -> None:
    rows = told.rows("SELECT message_id, holders, pow_ok, epoch_ms FROM swarm_messages")
    good = {str(row["message_id"]): row["holders"] for row in rows if row["pow_ok"]}
    holders = sorted(told.peers)
    expected = dict.fromkeys(told.strange | told.posted.keys(), holders)
    assert good == {**expected, hash_of(told.late): []}
    assert {row["epoch_ms"] for row in rows} == {EPOCH_MS}


def test_what_nobody_has_is_missing_everywhere(told: Told) -> None:
    rows = told.rows("SELECT swarm, node, messages, status FROM swarms")
    assert {row["node"] for row in rows} == {*told.peers, None}
    assert {(row["swarm"], row["messages"], row["status"]) for row in rows} == {
        ("tea", 6, "1 missing")
    }
    missing = told.rows("SELECT node, message_id FROM swarm_missing")
    assert {row["message_id"] for row in missing} == {b"nonesuch".hex()}


def test_work_that_was_not_done_is_a_violation(told: Told) -> None:
    (row,) = told.rows("SELECT message_id, kind, first_node FROM swarm_violations")
    assert row == {
        "message_id": hash_of(told.idle),
        "kind": "bad_work",
        "first_node": told.peers[1],
    }


def test_only_what_is_no_message_is_in_quarantine(told: Told) -> None:
    (row,) = told.rows("SELECT raw, outcome, reason FROM quarantine")
    assert row == {"raw": RUBBISH, "outcome": "rejected", "reason": "malformed"}


def test_peers_refuse_what_the_pipeline_refuses(told: Told) -> None:
    assert told.rows("SELECT * FROM disagreements") == []


def test_a_message_in_fragments_is_seen_once_where_it_came_and_where_it_left(told: Told) -> None:
    rows = told.rows(
        "SELECT direction FROM frames WHERE node = ? AND message_id = ?",
        told.peers[1],
        hash_of(told.large),
    )
    assert Counter(row["direction"] for row in rows) == {"in": 1, "out": 2}
