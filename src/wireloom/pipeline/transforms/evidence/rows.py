"""The rows that fate rules are made of.

A protocol declares `RULES`: which of its messages are owed a fate, what proves one, and what its
frames tell about the nodes. Conditions and values are SQL over the columns of `frames`, with
`auth`, and with `identities` and `serves` of the node that captured the frame. `claims` and
`accountable` build their queries from these rows, docs/pipeline.md its tables, and the columns
that following reads are those that the rows name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from wireloom.wire.outcome import Fate, Reason


class Voices(NamedTuple):
    """Who speaks in a claim."""

    sql: str
    """The names that the speaker is known by, an array; null if it may be anyone."""

    words: str


NODE: Final = Voices(
    "if(direction = 'in' and coalesce(size(identities), 0) <= 0, null, identities)", "the node"
)
"""The node that captured a frame. One that received it and composed nothing may be anyone."""

KNOWN_NODE: Final = Voices("identities", "the node, if it is known who it is")
"""The node that captured a frame, by what was composed there."""


class Speaker(NamedTuple):
    """Whose word a claim is, and what the speaker has to be to the message for it to count."""

    rule: str
    voices: Voices


_NOBODY: Final = Voices("array()", "")
ANYONE: Final = Speaker("anyone", _NOBODY)
"""The frame itself is enough."""


def source(voice: str | Voices) -> Speaker:
    """Who sent the message."""
    return Speaker("source", _voices(voice))


def destination(voice: str | Voices) -> Speaker:
    """The destination, by its key or by its hash."""
    return Speaker("destination", _voices(voice))


def recipient(voice: str | Voices) -> Speaker:
    """The destination; whoever is entitled to, for a topic or a cluster."""
    return Speaker("recipient", _voices(voice))


def addressee(voice: str | Voices) -> Speaker:
    """The destination of a message that has one."""
    return Speaker("addressee", _voices(voice))


def hearer(voice: str | Voices) -> Speaker:
    """The destination; of a broadcast, anyone but its sender."""
    return Speaker("hearer", _voices(voice))


def _voices(voice: str | Voices) -> Voices:
    return voice if isinstance(voice, Voices) else Voices(f"array({voice})", f"`{voice}`")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A frame that proves something about a message."""

    when: str
    """The frames that claim it, unless an earlier row has taken them."""

    about: str
    """The column with the message's id."""

    proves: Fate
    by: Speaker = ANYONE
    to: str | None = None
    """The column with the destination that it is about; None for all of the message."""

    reason: Reason | str | None = None
    """Why the message was rejected; a text is SQL."""

    kind: str = "wire"
    """`wire` for a message, `witness` for a node's word."""

    words: str
    """What it is, for the docs."""

    @property
    def reason_sql(self) -> str:
        """The reason in SQL."""
        if self.reason is None:
            return "null"
        return quoted(self.reason) if isinstance(self.reason, Reason) else self.reason


@dataclass(frozen=True, kw_only=True)
class Silence:
    """Frames that prove nothing, whatever later rows say."""

    when: str
    words: str


Row = Claim | Silence


def witness(
    *,
    when: str,
    proves: Fate,
    words: str,
    by: Speaker = ANYONE,
    to: str | None = None,
    reason: Reason | str | None = None,
) -> Claim:
    """What the node that captured a message says became of it."""
    return Claim(
        when=when,
        about="message_id",
        proves=proves,
        by=by,
        to=to,
        reason=reason,
        kind="witness",
        words=words,
    )


TO_SERVER: Final = Silence(
    when="coalesce(serves, false) and direction = 'in'",
    words="what a client sends to a server in the server's name",
)
"""Servers speak for themselves, so what comes in there in their name is not believed."""


def coded(code: str, reasons: Mapping[str, Reason], *, otherwise: str = "null") -> str:
    """The reason that a code stands for, in SQL."""
    cases = " ".join(f"when {quoted(one)} then {quoted(reason)}" for one, reason in reasons.items())
    return f"case {code} {cases} else {otherwise} end"


def quoted(text: str) -> str:
    """A text as it stands in SQL; there is no quote in it."""
    return f"'{text}'"


def listed(*texts: str) -> str:
    """Texts for `in (…)`."""
    return ", ".join(quoted(text) for text in texts)


class Term(NamedTuple):
    """A value in SQL, and in words for the docs."""

    sql: str
    words: str


ONE: Final = "array(if(cast in ('broadcast', 'topic'), null, destination))"
"""The one destination, or nobody that could be named."""

EXPIRES: Final = Term("expires_ms", "when it expires")


def created_plus(ms: str, words: str) -> Term:
    """A deadline some time after a message was made; times from outside may be any number."""
    return Term(f"cast(created_ms as decimal(20, 0)) + {ms}", words)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Frames that tell something about a message and are not copies of it."""

    when: str
    about: str
    """The column with the message's id."""


@dataclass(frozen=True, kw_only=True)
class Owed:
    """The messages that somebody meant to be delivered; all others have no fate."""

    when: str
    words: str

    destinations: Term
    """An array, one row of `fates` for each. It sees the common columns of the message's first
    sighting, `composer` (the node that made it), `members` (the nodes of its swarm), and what
    `gathered` gives, as `protocol.name`."""

    deadline: Term
    """In ms since 1970. It sees what `destinations` sees, but for `composer` and `members`."""

    gathered: Mapping[str, str] = field(default_factory=dict)
    """Aggregates over the frames of a message, and over the reports about it. They run over
    those of all protocols: other frames should give null."""

    reports: Report | None = None
    app_type: str | None = None
    """The application's own type of what the message carries."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The fate rules of a protocol, and what its frames tell about the nodes."""

    owed: Owed
    evidence: tuple[Row, ...]
    """A frame makes the claim of the first row that it meets, and no other."""

    greetings: tuple[str, ...] = ()
    """The message types that a client connects to a server with."""

    composers: bool = False
    """Whether what is composed at a node tells who the node is."""

    swarms: bool = False
    """Whether messages are for everyone in their swarm."""

    def looks_at(self) -> Iterator[str]:
        """All SQL that is worked out for each frame."""
        yield from (self.owed.when, *self.owed.gathered.values())
        if self.owed.app_type is not None:
            yield self.owed.app_type
        if self.owed.reports is not None:
            yield from (self.owed.reports.when, self.owed.reports.about)
        for row in self.evidence:
            yield row.when
            if isinstance(row, Claim):
                yield from (row.about, row.by.voices.sql, row.to or "", row.reason_sql)
