"""What proves the fate of a message: messages on the wire, and what nodes say they did.

Only what is verified proves anything: a signature that holds, or a hub's and a broker's word as
it leaves them. What a client sends *to* them in their name is not theirs.

A sighting makes at most one claim. A claim says which message it is about, which state it
proves, and who speaks (`voices`; null for a node of which the traffic does not tell who it is);
`ENTITLED` says whose word counts, by the claim's `rule`.
"""

from typing import Final

from wireloom.protocols.cthun.messages import TYPES

_OWN: Final = ", ".join(f"'{name}'" for name in sorted(TYPES))
"""What the broker itself says."""

BROKER: Final = "http://puppetlabs.com/"
_HUB_ERRORS: Final = (
    "'hub:error', 'hub:unknown_actor', 'hub:unauthorized', 'hub:rate_limited', "
    "'hub:message_too_large'"
)
_HUB_CODE: Final = "if(type = 'hub:error', signalhub.payload.code, substring(type, 5))"
_HUB_REASON: Final = f"""
    case {_HUB_CODE}
        when 'timeout' then null
        when 'message_expired' then null
        when 'unknown_actor' then 'unknown_destination'
        when 'message_too_large' then 'too_large'
        when 'version_mismatch' then 'unsupported_version'
        when 'internal_error' then if(
            get_json_object(signalhub.payload.details, '$.reason') <=> 'invalid_message',
            'malformed', 'internal')
        else {_HUB_CODE} end
"""
_BROKER_REASON: Final = """
    case when contains(lower(cthun.data.description), 'not authenticated') then 'unauthenticated'
         when contains(lower(cthun.data.description), 'not authorized') then 'unauthorized'
         else 'malformed' end
"""
_MESH_REASON: Final = """
    case myriadmesh.payload.error_code
        when 'INVALID_SIGNATURE' then 'bad_signature'
        when 'DECRYPTION_FAILED' then 'decrypt_failed'
        when 'UNKNOWN_DESTINATION' then 'unknown_destination'
        when 'TTL_EXCEEDED' then 'ttl_exceeded'
        when 'PAYLOAD_TOO_LARGE' then 'too_large'
        when 'UNSUPPORTED_VERSION' then 'unsupported_version'
        when 'RATE_LIMIT_EXCEEDED' then 'rate_limited'
        when 'NODE_UNAVAILABLE' then 'no_route' end
"""

_FIELDS: Final = (
    "about",
    "proven",
    "rule",
    "for_destination",
    "reason",
    "evidence_kind",
    "voices",
)


def _claim(
    about: str,
    proven: str,
    *,
    by: tuple[str, str] = ("anyone", "array()"),
    to: str = "null",
    reason: str = "null",
    kind: str = "wire",
) -> str:
    """A claim in SQL; `by` is its rule and who speaks."""
    rule, voices = by
    values = (about, proven, f"'{rule}'", to, reason, f"'{kind}'", voices)
    types = ("string", "string", "string", "string", "string", "string", "array<string>")
    parts = [
        f"'{name}', cast({value} as {type_})"
        for name, value, type_ in zip(_FIELDS, values, types, strict=True)
    ]
    return f"named_struct({', '.join(parts)})"


_CANCEL: Final = "dtn.payload.reason"
_ISSUER: Final = "array(dtn.payload.issued_by_uid)"
_REFUSED: Final = "if(outcome = 'rejected', outcome_reason, null)"
_ITSELF: Final = "if(direction = 'in' and coalesce(size(identities), 0) <= 0, null, identities)"
"""The node that captured a frame. One that received it and composed nothing may be anyone."""

_HEARD: Final = "coalesce({}, 0) > 0"
_REACHED: Final = " or ".join(
    _HEARD.format(f"signalhub.payload.{count}")
    for count in ("subscriber_count", "delivered_count", "queued_count")
)
"""Whether a publish or broadcast reached somebody, or waits for somebody."""

_BELIEVABLE: Final = "not (coalesce(serves, false) and direction = 'in')"

_CLAIMS: Final = f"""
case protocol
when 'signalhub' then case
    when not ({_BELIEVABLE}) then null
    when type = 'hub:delivery_ack' and signalhub.payload.status = 'delivered'
        then {_claim("reply_to", "'delivered'")}
    when type in ('hub:published', 'hub:broadcast_ack') then {
    _claim(
        "reply_to",
        f"if({_REACHED}, 'delivered', 'rejected')",
        reason=f"if({_REACHED}, null, 'unknown_destination')",
    )
}
    when type in ({_HUB_ERRORS}) then {
    _claim(
        "reply_to",
        f"if({_HUB_CODE} in ('timeout', 'message_expired'), 'expired', 'rejected')",
        reason=_HUB_REASON,
    )
}
    when not startswith(type, 'hub:') and direction = 'out'
        then {_claim("reply_to", "'delivered'", to="destination")} end
when 'cthun' then case
    when type not in ({_OWN}) and direction = 'out'
        then {_claim("message_id", "'delivered'", to="peer")}
    when not ({_BELIEVABLE}) then null
    when type = '{BROKER}ttl_expired' then {_claim("reply_to", "'expired'")}
    when type = '{BROKER}error_message'
        then {_claim("reply_to", "'rejected'", reason=_BROKER_REASON)} end
when 'dtn' then case
    when type = 'DeliveryAck' then if(auth = 'valid', {
    _claim("reply_to", "'delivered'", by=("recipient", "array(dtn.payload.from_uid)"))
}, null)
    when type = 'DeliveryCancel' then case when auth <> 'valid' then null
        when {_CANCEL} = 'RECALLED'
            then {_claim("reply_to", "'cancelled'", by=("source", _ISSUER))}
        when {_CANCEL} = 'EXPIRED'
            then {_claim("reply_to", "'expired'", by=("source", _ISSUER))}
        else {_claim("reply_to", "'delivered'", by=("destination", _ISSUER))} end
    when outcome in ('delivered', 'acked') then {
    _claim("message_id", "'delivered'", by=("recipient", _ITSELF), kind="witness")
}
    when outcome = 'expired' then {
    _claim("message_id", "'expired'", by=("source", "identities"), kind="witness")
} end
when 'myriadmesh' then case
    when myriadmesh.payload.ack_type = 'FAILED' then if(auth = 'valid', {
    _claim("reply_to", "'rejected'", reason="'no_route'")
}, null)
    when myriadmesh.payload.ack_type in ('RECEIVED', 'DELIVERED') then if(auth = 'valid', {
    _claim("reply_to", "'delivered'", by=("destination", "array(source)"))
}, null)
    when myriadmesh.payload.error_code is not null then if(auth = 'valid', {
    _claim("reply_to", "'rejected'", reason=_MESH_REASON)
}, null)
    when auth = 'invalid' then null
    when outcome = 'delivered' then {
    _claim("message_id", "'delivered'", by=("hearer", _ITSELF), kind="witness")
}
    when outcome = 'acked' then {
    _claim("message_id", "'delivered'", by=("addressee", _ITSELF), kind="witness")
}
    when outcome = 'rejected' then {
    _claim(
        "message_id",
        "'rejected'",
        by=("destination", "identities"),
        reason="outcome_reason",
        kind="witness",
    )
} end
when 'uep12' then case
    when type = 'CONTENT' and outcome in ('delivered', 'accepted', 'rejected', 'expired') then {
    _claim(
        "message_id",
        "if(outcome = 'accepted', 'delivered', outcome)",
        to="node",
        reason=_REFUSED,
        kind="witness",
    )
} end
end
"""

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
from (select /*+ broadcast(known) */ protocol, sighting, captured_at, inline(array({_CLAIMS}))
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
