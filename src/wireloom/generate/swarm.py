"""Two UEP-12 swarms of six peers each: messages that refer to each other, pulls and lists.

Proofs of work are expensive, so all messages of the swarms are planned and proven first, and
told to the peers when their time comes. Each message has a role: what is to happen to it.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from msgspec.structs import replace

from wireloom.generate.proofs import prover
from wireloom.generate.scene import Scene
from wireloom.generate.timeline import END_US, QUIET_MS, START_US
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.constants import HASH_SIZE
from wireloom.protocols.uep12.integrity import epoch_diff, expires_ms, msg_hash
from wireloom.protocols.uep12.messages import Content, Reference

PEERS: Final = 6
ROUND: Final = 8
"""So many messages are proven at once; they refer to earlier rounds only."""

MAX_TTL_EPOCH: Final = 480
"""What the swarms allow: longer than a corpus lasts, by either epoch."""

MINUTE_MS: Final = 60_000


class Swarm(NamedTuple):
    """One swarm."""

    name: str
    epoch_ms: int
    peers: tuple[str, ...]


SWARMS: Final = tuple(
    Swarm(name, epoch_ms, tuple(f"{name}-{number:02d}" for number in range(1, PEERS + 1)))
    for name, epoch_ms in (("swarm-a", 60_000), ("swarm-b", 120_000))
)


class Role(Enum):
    """What is to happen to a message."""

    ORDINARY = "reaches everyone"
    SHORT = "lives one epoch, and two peers never get it"
    LATE = "one peer gets it when it is over"
    AHEAD = "its composer's clock is ahead: refused, and by some taken later"
    GREEDY = "asks for more epochs than the swarm allows"
    PATIENT = "lives beyond the end, and two peers have not got it yet"
    MISORDERED = "refers to a message that is younger"
    DANGLING = "refers to a message that exists nowhere"


WEIGHTS: Final = (12, 2, 2, 1, 1, 2, 1, 2)
"""How often each role occurs."""


class PlannedMessage(NamedTuple):
    """A message that waits for its time."""

    at: int
    swarm: Swarm
    role: Role
    content: Content
    raw: bytes
    hash: bytes


def planned(
    scene: Scene, count: int, progress: Callable[[int], None] = lambda _: None
) -> list[PlannedMessage]:
    """All messages of the swarms in order of time, with their proofs of work.

    Args:
        scene: Whose chance decides.
        count: How many.
        progress: Told how many are proven.
    """
    known: dict[str, list[PlannedMessage]] = {swarm.name: [] for swarm in SWARMS}
    made: list[PlannedMessage] = []
    step = (END_US - QUIET_MS * 1000 - START_US) // (count + 1)
    with prover(count) as search:
        for numbers in _rounds(count):
            drafts = [_draft(scene, n, START_US + (n + 1) * step, known) for n in numbers]
            starts = [scene.rng.getrandbits(48) for _ in drafts]
            proven = search([draft[3] for draft in drafts], starts)
            for (at, swarm, role, _), content in zip(drafts, proven, strict=True):
                raw = encode(content)
                one = PlannedMessage(at, swarm, role, content, raw, msg_hash(raw))
                made.append(one)
                known[swarm.name].append(one)
            progress(len(made))
    return made


def _rounds(count: int) -> Iterator[range]:
    """The numbers of messages by rounds: small ones at first, so that there is what to refer to."""
    first = 0
    while first < count:
        size = 2 if first < len(Role) else ROUND
        yield range(first, min(first + size, count))
        first += size


def _draft(
    scene: Scene, number: int, at: int, known: dict[str, list[PlannedMessage]]
) -> tuple[int, Swarm, Role, Content]:
    """A message without its proof; each role has its turn first, in both swarms."""
    rng = scene.rng
    roles = list(Role)
    role = roles[number] if number < len(roles) else rng.choices(roles, WEIGHTS)[0]
    swarm = SWARMS[number // 2 % 2] if number < len(roles) else rng.choice(SWARMS)
    made_ms = at // 1000
    if role is Role.AHEAD:
        made_ms += 5 * MINUTE_MS
    elders = [one for one in known[swarm.name][-6:] if one.content.timestamp < made_ms]
    referred = rng.sample(elders, min(len(elders), rng.randint(1, 3)))
    if role is Role.MISORDERED and referred:
        made_ms = min(one.content.timestamp for one in referred) - 1000
    ttl = _TTLS.get(role, rng.randint(5, 120))
    draft = Content(pow_nonce=0, timestamp=made_ms, ttl_epoch=ttl, payload=_said(scene, number))
    return at, swarm, role, _referring(scene, draft, swarm, role, referred)


def _referring(
    scene: Scene, draft: Content, swarm: Swarm, role: Role, referred: Sequence[PlannedMessage]
) -> Content:
    epoch_ms = swarm.epoch_ms
    expiry = expires_ms(draft, epoch_ms=epoch_ms)
    references = []
    for one in referred:
        theirs = expires_ms(one.content, epoch_ms=epoch_ms)
        diff = epoch_diff(expiry, theirs, epoch_ms=epoch_ms)
        references.append(Reference(msg_hash=one.hash, epoch_diff=diff))
    if role is Role.DANGLING:
        references.append(Reference(msg_hash=scene.rng.randbytes(HASH_SIZE), epoch_diff=0))
    return replace(draft, references=tuple(references))


def _said(scene: Scene, number: int) -> bytes:
    return b"message %d " % number + scene.rng.randbytes(scene.rng.randint(20, 80))


_TTLS: Final = {
    Role.SHORT: 1,
    Role.LATE: 2,
    Role.AHEAD: 60,
    Role.GREEDY: 2 * MAX_TTL_EPOCH,
    Role.PATIENT: MAX_TTL_EPOCH,
    Role.MISORDERED: MAX_TTL_EPOCH,
}
