"""The messages that somebody meant to be delivered, and to whom.

Chatter that keeps a protocol alive has no fate. A message of which every copy is proven
false has none either: nobody who is entitled to it sent it.
"""

from typing import Final

from wireloom.pipeline.transforms.hub import APP_TYPE
from wireloom.protocols.cthun.messages import TYPES as BROKER_TYPES
from wireloom.protocols.myriadmesh.constants import (
    ACK_TIMEOUT_MS,
    CACHE_MS,
    LORA_ACK_TIMEOUT_MS,
)
from wireloom.protocols.signalhub.constants import SEND_TTL_MS
from wireloom.protocols.uep12.constants import DEFAULT_EPOCH_MS

FAR_MS: Final = 2**62
"""A deadline that no capture passes: lifetimes from outside may be any number."""

BROKER: Final = ", ".join(f"'{name}'" for name in sorted(BROKER_TYPES))
REPORT: Final = "http://puppetlabs.com/destination_report"

OWED: Final = f"""
    (protocol = 'signalhub' and type in ('hub:send', 'hub:publish', 'hub:broadcast'))
    or (protocol = 'cthun' and type not in ({BROKER}))
    or (protocol = 'dtn' and type in ('Data', 'GroupInviteMsg', 'GroupUpdateMsg', 'ConfigUpdate'))
    or (protocol = 'myriadmesh' and type = 'DATA')
    or (protocol = 'uep12' and type = 'CONTENT')
"""

_CACHE_BY_RANK: Final = " ".join(
    f"when {rank} then {CACHE_MS[band]}"
    for rank, band in enumerate(sorted(CACHE_MS, key=int, reverse=True))
)

DEADLINE: Final = f"""
    case protocol
        when 'signalhub' then cast(created_ms as decimal(20, 0)) + coalesce(ttl, {SEND_TTL_MS})
        when 'myriadmesh' then cast(created_ms as decimal(20, 0)) + case
            when queued then case priority_rank {_CACHE_BY_RANK} end
            when lora then {LORA_ACK_TIMEOUT_MS}
            else {ACK_TIMEOUT_MS} end
        when 'uep12' then created_ms + cast(greatest(1, ttl_epoch) as decimal(20, 0))
            * coalesce(epoch_ms, {DEFAULT_EPOCH_MS})
        else expires_ms end
"""

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
_NAMED: Final = f"type = '{REPORT}' and direction = 'out'"
_COMPOSED: Final = "case direction when 'local' then 0 when 'out' then 1 else 2 end"

_PATTERN: Final = "concat('^', replace(replace(target, '.', '[.]'), '*', '[^/]*'), '$')"
_MATCHED: Final = f"filter(flatten(uris), uri -> uri rlike {_PATTERN})"
_FOUND: Final = f"""
    if(contains(target, '*') and exists(flatten(uris), uri -> uri rlike {_PATTERN}),
       {_MATCHED}, array(target))
"""
_DESTINATIONS: Final = f"""
    case protocol
        when 'cthun' then array_distinct(flatten(transform(targets, target -> {_FOUND})))
        when 'uep12' then filter(coalesce(members, array()), member -> member <> composer)
        when 'dtn' then array(destination)
        else array(if(cast in ('broadcast', 'topic'), null, destination)) end
"""
"""For whom a message is.

Each target of a Cthun message; a wildcard stands for those whom the broker named or served, else
for itself. Each node that took part in a swarm but for the one that composed the message. Else the
one destination, or nobody that could be named.
"""


_OWN: Final = f"auth <> 'invalid' and message_id is not null and ({OWED})"
_URIS: Final = f"""
    case when {_NAMED} then cthun.data.targets
        when protocol = 'cthun' and direction = 'out' then array(peer) end
"""
_SWARMS: Final = "if(unnamed_swarm, array_append(swarms, cast(null as string)), swarms)"

ACCOUNTABLE: Final = f"""
with told as (
    select *, coalesce({_OWN}, false) as mine, {APP_TYPE} as app_type,
           if({_NAMED}, reply_to, message_id) as about
    from {{sightings}} where ({_OWN}) or ({_NAMED})),
grouped as (
    select protocol, about as message_id,
           min(if(mine, struct(captured_at, sighting, {", ".join(_FIRST)}), null)) as first,
           min(if(mine, struct({_COMPOSED} as rank, captured_at, sighting, node), null))
               as composed,
           max(if(mine, hops, null)) as hops,
           count_if(mine) as copies,
           collect_list(if(mine and direction = 'out', node, null)) as sent_by,
           coalesce(bool_or(mine and outcome = 'queued'), false) as queued,
           bool_or(mine and startswith(link, 'lora')) as lora,
           max(signalhub.ttl) as ttl,
           max(uep12.ttl_epoch) as ttl_epoch,
           collect_set({_URIS}) as uris
    from told group by protocol, about),
owed as (
    select *, {", ".join(f"first.{name}" for name in _FIRST)},
           first.captured_at as sent_at, composed.node as composer
    from grouped where first is not null),
swarms as (
    select in_swarm, collect_set(node) as members
    from (select node, explode({_SWARMS}) as in_swarm from {{nodes}} where protocol = 'uep12')
    group by in_swarm)
select /*+ broadcast(swarms) */
       protocol, message_id, explode({_DESTINATIONS}) as destination, source, type, app_type, cast,
       sent_at, created_ms, cast(least({DEADLINE}, {FAR_MS}) as bigint) as deadline_ms,
       hops, copies, greatest(1, size(filter(sent_by, node -> node = composer))) as attempts
from owed left join swarms on swarm <=> in_swarm
"""  # noqa: S608
"""One row for each message and destination, with its deadline; from `sightings` and `nodes`."""
