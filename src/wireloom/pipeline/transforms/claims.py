"""What proves the fate of a message: the claims that frames make, by the rows in `evidence`.

A sighting makes at most one claim. A claim says which message it is about, which fate it
proves, and who speaks (`voices`; null for a node of which the traffic does not tell who it is);
`ENTITLED` says whose word counts, by the claim's `rule`.
"""

from typing import Final

from wireloom.pipeline.transforms.evidence import rules
from wireloom.pipeline.transforms.evidence.rows import ENTITLEMENTS, Claim, Row, Rules, quoted


def _claim(row: Row) -> str:
    """What a row claims, as a struct in SQL; null if it proves nothing."""
    if not isinstance(row, Claim):
        return "null"
    fields = {
        "about": row.about,
        "proven": quoted(row.proves),
        "rule": quoted(row.by.entitled.name),
        "for_destination": row.to or "cast(null as string)",
        "reason": row.reason_sql,
        "evidence_kind": quoted(row.kind),
        "voices": f"cast({row.by.voices.sql} as array<string>)",
    }
    parts = [f"{quoted(name)}, {value}" for name, value in fields.items()]
    return f"named_struct({', '.join(parts)})"


def _first_row(one: Rules) -> str:
    """The claim of the first row that a frame meets."""
    cases = [f"when {row.when} then {_claim(row)}" for row in one.evidence]
    return f"case {' '.join(cases)} end"


_CASES: Final = " ".join(
    f"when {quoted(name)} then {_first_row(one)}" for name, one in rules().items()
)

_WHEN_ENTITLED: Final = " ".join(f"when {quoted(one.name)} then {one.sql}" for one in ENTITLEMENTS)
ENTITLED: Final = f"""
    (for_destination is null or for_destination <=> destination)
    and case rule {_WHEN_ENTITLED} end
"""
"""Whether a claim counts for a message and destination, in a row that has both."""

CLAIMS: Final = f"""
select protocol, about as message_id, proven, rule, for_destination, reason, evidence_kind,
       voices, sighting as evidence_frame, captured_at as decided_at
from (select /*+ broadcast(known) */ protocol, sighting, captured_at,
             inline(array(case protocol {_CASES} end))
      from {{sightings}}
      left join (select protocol, node, identities, serves from {{nodes}}) known
          using (protocol, node))
where about is not null
"""  # noqa: S608
"""All that proves something about some message.

`sightings` are frames, with `auth`. `nodes` say who the nodes are: hubs and brokers speak for
themselves, so what comes *in* there in their name is not believable. `inline` has Spark work out
each claim once; otherwise it does so to see whether there is one, and then again.
"""
