"""The rows that fate rules are made of.

A protocol declares `RULES`: which of its messages are accountable, what proves a fate, and what its
frames tell about the nodes. Conditions and values are SQL over the columns of `frames`, with
`auth`, and with `identities` and `serves` of the node that captured the frame. `claims` and
`accountable` build their queries from these rows, docs/pipeline.md its tables, and the columns
that `fates` looks at are those that the rows name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from wireloom.wire.outcome import Fate, Reason


class Term(NamedTuple):
    """A value in SQL, and in words for the docs."""

    sql: str
    words: str


class Voices(NamedTuple):
    """Who speaks in a claim."""

    sql: str
    """The names that the speaker is known by, an array; null if it may be anyone."""

    words: str
    may_be_anyone: bool = False


NODE: Final = Voices(
    "if(direction = 'in' and coalesce(size(identities), 0) <= 0, null, identities)",
    "the node",
    may_be_anyone=True,
)
"""The node that captured a frame. One that received it and composed nothing may be anyone."""

KNOWN_NODE: Final = Voices("identities", "the node")
"""The node that captured a frame, by what was composed there."""


class Entitlement(NamedTuple):
    """What a speaker has to be to a message for its word to count."""

    name: str
    sql: str
    """Over a row with the claim's `voices` and the message's `source`, `destination`, `cast`."""

    words: str


_IS_DESTINATION: Final = (
    "coalesce(array_contains(voices, destination), false) "
    "or coalesce(array_contains(voices, sha2(unhex(destination), 256)), false)"
)
"""A destination may be named by its key or by its hash."""

_ANYONE: Final = Entitlement("anyone", "true", "anyone")
_SOURCE: Final = Entitlement(
    "source", "coalesce(array_contains(voices, source), false)", "the sender"
)
_DESTINATION: Final = Entitlement("destination", _IS_DESTINATION, "the destination")
_ADDRESSEE: Final = Entitlement(
    "addressee",
    f"destination is not null and (voices is null or {_IS_DESTINATION})",
    "the destination of a message that names one",
)
_RECIPIENT: Final = Entitlement(
    "recipient",
    f"voices is null or cast in ('topic', 'cluster') or {_IS_DESTINATION}",
    "the destination, of a topic or cluster anyone",
)
_HEARER: Final = Entitlement(
    "hearer",
    f"voices is null or {_IS_DESTINATION} "
    "or (destination is null and not coalesce(array_contains(voices, source), false))",
    "the destination, of a broadcast anyone but the sender",
)
ENTITLEMENTS: Final = (_ANYONE, _SOURCE, _DESTINATION, _ADDRESSEE, _RECIPIENT, _HEARER)
"""No relay says `delivered` or `acked`, so a node that does speaks for the destination unless it
is known to be somebody else. Who receives for a topic or a cluster is whoever is entitled to."""


class Speaker(NamedTuple):
    """Whose word a claim is."""

    entitled: Entitlement
    voices: Voices


ANYONE: Final = Speaker(_ANYONE, Voices("array()", "the frame"))
"""The frame itself is enough."""


def source(voice: str | Voices) -> Speaker:
    """Counts if the speaker sent the message."""
    return Speaker(_SOURCE, _voices(voice))


def destination(voice: str | Voices) -> Speaker:
    """Counts if the speaker is the destination."""
    return Speaker(_DESTINATION, _voices(voice))


def addressee(voice: str | Voices) -> Speaker:
    """Counts if the message names a destination, and the speaker is it."""
    return Speaker(_ADDRESSEE, _voices(voice))


def recipient(voice: str | Voices) -> Speaker:
    """Counts if the speaker is the destination, or that is a topic or a cluster."""
    return Speaker(_RECIPIENT, _voices(voice))


def hearer(voice: str | Voices) -> Speaker:
    """Counts if the speaker is the destination, or heard a broadcast that it did not send."""
    return Speaker(_HEARER, _voices(voice))


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

    reason: Reason | Term | None = None
    """Why the message was rejected."""

    kind: str = "wire"
    """`wire` for a message, `witness` for a node's word."""

    words: str
    """What it is, for the docs."""

    @property
    def reason_sql(self) -> str:
        """The reason in SQL."""
        if self.reason is None:
            return "cast(null as string)"
        return self.reason.sql if isinstance(self.reason, Term) else quoted(self.reason)


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
    reason: Reason | Term | None = None,
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


NODES_REASON: Final = Term("outcome_reason", "the node's")


def coded(code: str, reasons: Mapping[str, Reason], *, otherwise: str | None = None) -> Term:
    """The reason that a code stands for; `otherwise` is SQL for that of other codes."""
    cases = " ".join(f"when {quoted(one)} then {quoted(reason)}" for one, reason in reasons.items())
    words = ", ".join(f"{one} → `{reason}`" for one, reason in reasons.items())
    if otherwise is None:
        return Term(f"case {code} {cases} end", words)
    return Term(f"case {code} {cases} else {otherwise} end", f"{words}, else as the code says")


def quoted(text: str) -> str:
    """A text as it stands in SQL; there is no quote in it."""
    return f"'{text}'"


def listed(*texts: str) -> str:
    """Texts for `in (…)`."""
    return ", ".join(quoted(text) for text in texts)


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
class Accountable:
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

    accountable: Accountable
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
        yield from (self.accountable.when, *self.accountable.gathered.values())
        if self.accountable.app_type is not None:
            yield self.accountable.app_type
        if self.accountable.reports is not None:
            yield from (self.accountable.reports.when, self.accountable.reports.about)
        for row in self.evidence:
            yield row.when
            if isinstance(row, Claim):
                yield from (row.about, row.by.voices.sql, row.to or "", row.reason_sql)
