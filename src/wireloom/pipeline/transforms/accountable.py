"""The messages that somebody meant to be delivered, and to whom, by the rows in `evidence`.

Chatter that keeps a protocol alive has no fate. A message of which every copy is proven
false has none either: nobody who is entitled to it sent it.
"""

from collections.abc import Callable
from typing import Final

from wireloom.pipeline.transforms.evidence import rules
from wireloom.pipeline.transforms.evidence.rows import Accountable, quoted

FAR_MS: Final = 2**62
"""A deadline that no capture passes: lifetimes from outside may be any number."""

_ACCOUNTABLE: Final = {name: one.accountable for name, one in rules().items()}


def _any(condition: Callable[[Accountable], str | None]) -> str:
    """Whether a row meets what its protocol declares."""
    found = {name: condition(one) for name, one in _ACCOUNTABLE.items()}
    cases = [f"(protocol = {quoted(name)} and ({sql}))" for name, sql in found.items() if sql]
    return " or ".join(cases)


def _case(value: Callable[[Accountable], str]) -> str:
    """What its protocol declares for a row."""
    cases = [f"when {quoted(name)} then {value(one)}" for name, one in _ACCOUNTABLE.items()]
    return f"case protocol {' '.join(cases)} end"


HAS_FATE: Final = _any(lambda one: one.when)
"""Whether a frame is of a message that has a fate."""

_REPORT: Final = _any(lambda one: one.reports.when if one.reports else None)
"""Whether a frame is a report about such a message."""

_ABOUT: Final = " ".join(
    f"when {quoted(name)} then {one.reports.about}"
    for name, one in _ACCOUNTABLE.items()
    if one.reports
)
_APP_TYPES: Final = " ".join(
    f"when (protocol = {quoted(name)} and ({one.when})) then {one.app_type}"
    for name, one in _ACCOUNTABLE.items()
    if one.app_type
)
APP_TYPE: Final = f"case {_APP_TYPES} end"
"""The application's own type of what a message carries."""


def _gathered(name: str, one: Accountable) -> str:
    """What is gathered of a message, in a struct that is named as its protocol."""
    facts = ", ".join(f"{sql} as {fact}" for fact, sql in one.gathered.items())
    return f"struct({facts}) as {name}"


_GATHERED: Final = ", ".join(
    _gathered(name, one) for name, one in _ACCOUNTABLE.items() if one.gathered
)

_FIRST: Final = (
    "source",
    "type",
    "app_type",
    "cast",
    "destination",
    "targets",
    "created_ms",
    "expires_ms",
    "priority_rank",
    "swarm",
    "epoch_ms",
)
"""What a message's first sighting says of it."""

_COMPOSED: Final = "case direction when 'local' then 0 when 'out' then 1 else 2 end"
_OWN: Final = f"auth <> 'invalid' and message_id is not null and ({HAS_FATE})"
_SWARMS: Final = "if(unnamed_swarm, array_append(swarms, cast(null as string)), swarms)"

ACCOUNTABLE: Final = f"""
with related as (
    select *, coalesce({_OWN}, false) as mine, {APP_TYPE} as app_type,
           if({_REPORT}, case protocol {_ABOUT} end, message_id) as about
    from {{sightings}} where ({_OWN}) or {_REPORT}),
grouped as (
    select protocol, about as message_id,
           min(if(mine, struct(captured_at, sighting, {", ".join(_FIRST)}), null)) as first,
           min(if(mine, struct({_COMPOSED} as rank, captured_at, sighting, node), null))
               as composed,
           max(if(mine, hops, null)) as hops,
           count_if(mine) as copies,
           collect_list(if(mine and direction = 'out', node, null)) as sent_by,
           {_GATHERED}
    from related group by protocol, about),
owed as (
    select *, {", ".join(f"first.{name}" for name in _FIRST)},
           first.captured_at as sent_at, composed.node as composer
    from grouped where first is not null),
swarms as (
    select of_protocol, in_swarm, collect_set(node) as members
    from (select protocol as of_protocol, node, explode({_SWARMS}) as in_swarm from {{nodes}})
    group by of_protocol, in_swarm)
select /*+ broadcast(swarms) */
       protocol, message_id, explode({_case(lambda one: one.destinations.sql)}) as destination,
       source, type, app_type, cast, sent_at, created_ms,
       cast(least({_case(lambda one: one.deadline.sql)}, {FAR_MS}) as bigint) as deadline_ms,
       hops, copies, greatest(1, size(filter(sent_by, node -> node = composer))) as attempts
from owed left join swarms on protocol = of_protocol and swarm <=> in_swarm
"""  # noqa: S608
"""One row for each message and destination, with its deadline; from `sightings` and `nodes`."""
