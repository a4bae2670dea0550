"""What proves the fate of a message: the claims that frames make, by the rows in `evidence`.

A sighting makes at most one claim. A claim says which message it is about, which fate it
proves, and who speaks (`voices`; null for a node of which the traffic does not tell who it is);
`ENTITLED` says whose word counts, by the claim's `rule`.
"""

from typing import Final

from wireloom.pipeline.transforms.evidence import rules
from wireloom.pipeline.transforms.evidence.rows import Claim, Row, Rules, quoted

_NO_TEXT: Final = "cast(null as string)"


def _claim(row: Row) -> str:
    """What a row claims, as a struct in SQL; null if it proves nothing."""
    if not isinstance(row, Claim):
        return "null"
    fields = {
        "about": row.about,
        "proven": quoted(row.proves),
        "rule": quoted(row.by.rule),
        "for_destination": row.to or _NO_TEXT,
        "reason": _NO_TEXT if row.reason is None else row.reason_sql,
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

_IS_DESTINATION: Final = (
    "coalesce(array_contains(voices, destination), false) "
    "or coalesce(array_contains(voices, sha2(unhex(destination), 256)), false)"
)
ENTITLED: Final = f"""
    (for_destination is null or for_destination <=> destination) and case rule
        when 'anyone' then true
        when 'destination' then {_IS_DESTINATION}
        when 'addressee' then destination is not null and (voices is null or {_IS_DESTINATION})
        when 'recipient' then voices is null or cast in ('topic', 'cluster') or {_IS_DESTINATION}
        when 'hearer' then voices is null or {_IS_DESTINATION}
            or (destination is null and not coalesce(array_contains(voices, source), false))
        when 'source' then coalesce(array_contains(voices, source), false) end
"""
"""Whether a claim counts for a message and destination, in a row that has both.

A destination may be named by its key or by its hash. A hearer of a broadcast is anyone but its
sender; who receives for a topic or a cluster is whoever is entitled to. No relay says `delivered`
or `acked`, so a node that does speaks for the destination unless it is known to be somebody else.
"""


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
