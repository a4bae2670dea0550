"""Whatever happens, every message that the broker took is delivered once or reported."""

from collections import Counter
from random import Random

import pytest
from msgspec.structs import replace

from protocols.cthun.transcript import TRUSTING, Client, Stage, uri_of
from support.damage import damaged
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.messages import InventoryRequest, Packet, TtlExpired
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Alive, Congested

NAMES = ("a", "b", "c", "d", "e")
SLOW = TRUSTING.stalled_size + 100
SMALL = replace(
    TRUSTING,
    burst_count=3,
    seen_count=1_000,
    held_count=40,
    held_size=100_000,
    slice_size=1_500,
    crowded_size=SLOW,
    max_connection_count=8,
    unread_size=3_000,
    idle_timeout_ms=40_000,
)
TAKEN = (Outcome.QUEUED, Outcome.FORWARDED)


class Life:
    """Clients that come, go, send, stall and lie, and a broker that crashes, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.stage = Stage(SMALL)
        self.owed: dict[str, set[str]] = {}
        self.got: Counter[tuple[str, str]] = Counter()
        self.reported: set[str] = set()
        self.sent: list[Packet] = []

    def step(self) -> None:
        roll = self.random.random()
        lines = [line for line in self.stage.clients.values() if line.is_open]
        if roll < 0.25 or not lines:
            self.come()
        elif roll < 0.75:
            self.send(self.random.choice(lines))
        elif roll < 0.80:
            self.babble(self.random.choice(lines))
        elif roll < 0.88:
            self.stall(self.random.choice(lines))
        elif roll < 0.93:
            self.collect()
            self.random.choice(lines).leaves()
        elif roll < 0.99:
            self.stage.passes(self.random.choice((0, 1, 400, 3_000, 20_000)))
        else:
            self.collect()
            self.stage.crashes()
            self.sent.clear()  # what was forwarded before a crash is not known after it
        self.collect()

    def come(self) -> None:
        line = self.stage.opens(self.random.choice(NAMES))
        if line.is_open:
            line.associates()

    def send(self, line: Client) -> None:
        to = self.random.choices([uri_of(name) for name in NAMES], k=self.random.randint(1, 3))
        ttl_ms = self.random.choice((0, 500, 5_000, 60_000))
        letter = self.stage.letter(line, to=to, ttl_ms=ttl_ms, data=self.random.randbytes(20))
        if self.sent and self.random.random() < 0.1:
            letter = self.random.choice(self.sent)
        line.sends(letter)
        if self.stage.conclusions[-1].outcome in TAKEN:
            assert letter.envelope.id not in self.owed
            self.owed[letter.envelope.id] = set(letter.envelope.targets)
            self.sent.append(letter)

    def babble(self, line: Client) -> None:
        frames = [encode(letter) for letter in self.sent[-5:]] or [b"x"]
        query = InventoryRequest(query=("cth://*/*",))
        request = self.stage.request(line, MessageType.INVENTORY_REQUEST, query)
        line.sends(request if self.random.random() < 0.3 else damaged(self.random, frames))

    def stall(self, line: Client) -> None:
        size = self.random.choice((0, 0, 100, SMALL.stalled_size))
        self.stage.happens(Congested(line.line, 0, size))
        self.stage.happens(Alive(line.line))

    def collect(self) -> None:
        """Looks at what clients got."""
        for line in self.stage.everyone.values():
            while line.inbox:
                packet, _ = line.inbox.popleft()
                if isinstance(packet.data, TtlExpired):
                    self.reported.add(packet.data.id)
                elif packet.envelope.id in self.owed:
                    self.got[packet.envelope.id, line.uri] += 1

    def end(self) -> None:
        """All time passes, and every sender comes back to hear of it."""
        self.stage.crashes()
        self.stage.passes(61_000)
        for name in NAMES:
            self.stage.opens(name).associates()
        self.stage.passes(1_000)
        self.collect()


@pytest.mark.parametrize("seed", range(12))
def test_the_books_balance_whatever_happens(seed: int) -> None:
    life = Life(seed)
    for _ in range(400):
        life.step()
        assert len(life.stage.stored) <= 2 * SMALL.held_count
    life.end()
    assert set(life.got.values()) <= {1}
    assert len(life.owed) > 50
    for id_, uris in life.owed.items():
        missed = {uri for uri in uris if not life.got[id_, uri]}
        assert not missed or id_ in life.reported
    assert life.stage.stored == {}
    gauges = life.stage.session.gauges()
    assert (gauges["queued"], gauges["queued_bytes"]) == (0, 0)
