"""What happens to messages of the Signal Hub: the hub's word, as it leaves the hub."""

from typing import Final

from wireloom.pipeline.transforms.evidence.rows import (
    ONE,
    TO_SERVER,
    Accountable,
    Claim,
    Rules,
    Term,
    coded,
    created_plus,
    listed,
)
from wireloom.protocols.signalhub.constants import SEND_TTL_MS
from wireloom.wire.outcome import Fate, Reason

_COUNTED: Final = f"type in ({listed('hub:published', 'hub:broadcast_ack')})"
_REACHED: Final = " or ".join(
    f"coalesce(signalhub.payload.{count}, 0) > 0"
    for count in ("subscriber_count", "delivered_count", "queued_count")
)
"""Whether a publish or broadcast reached somebody, or waits for somebody."""

_ERRORS: Final = listed(
    "hub:error",
    "hub:unknown_actor",
    "hub:unauthorized",
    "hub:rate_limited",
    "hub:message_too_large",
)
_CODE: Final = "if(type = 'hub:error', signalhub.payload.code, substring(type, 5))"
_INVALID: Final = (
    f"{_CODE} = 'internal_error' "
    "and get_json_object(signalhub.payload.details, '$.reason') <=> 'invalid_message'"
)
_REASON: Final = coded(
    _CODE,
    {
        "unknown_actor": Reason.UNKNOWN_DESTINATION,
        "message_too_large": Reason.TOO_LARGE,
        "version_mismatch": Reason.UNSUPPORTED_VERSION,
        "internal_error": Reason.INTERNAL,
    },
    otherwise=_CODE,
)

RULES: Final = Rules(
    accountable=Accountable(
        when=f"type in ({listed('hub:send', 'hub:publish', 'hub:broadcast')})",
        words="`hub:send`, `hub:publish`, `hub:broadcast`",
        destinations=Term(ONE, "the target address; nobody by name for a publish or broadcast"),
        deadline=created_plus(
            f"coalesce(signalhub.ttl, {SEND_TTL_MS})",
            f"`timestamp` + `ttl`, {SEND_TTL_MS // 1000} s if it has none",
        ),
        gathered={"ttl": "max(signalhub.ttl)"},
        app_type="get_json_object(signalhub.payload.message, '$.type')",
    ),
    evidence=(
        TO_SERVER,
        Claim(
            when="type = 'hub:delivery_ack' and signalhub.payload.status = 'delivered'",
            about="reply_to",
            proves=Fate.DELIVERED,
            words="`hub:delivery_ack` with the status delivered",
        ),
        Claim(
            when=f"{_COUNTED} and ({_REACHED})",
            about="reply_to",
            proves=Fate.DELIVERED,
            words="`hub:published`, `hub:broadcast_ack` that reached or queued somebody",
        ),
        Claim(
            when=_COUNTED,
            about="reply_to",
            proves=Fate.REJECTED,
            reason=Reason.UNKNOWN_DESTINATION,
            words="`hub:published`, `hub:broadcast_ack` that reached nobody",
        ),
        Claim(
            when=f"type in ({_ERRORS}) and {_CODE} in ('timeout', 'message_expired')",
            about="reply_to",
            proves=Fate.EXPIRED,
            words="`hub:error` with the code timeout or message_expired",
        ),
        Claim(
            when=f"type in ({_ERRORS}) and {_INVALID}",
            about="reply_to",
            proves=Fate.REJECTED,
            reason=Reason.MALFORMED,
            words="`hub:error` internal_error whose details say invalid_message",
        ),
        Claim(
            when=f"type in ({_ERRORS})",
            about="reply_to",
            proves=Fate.REJECTED,
            reason=_REASON,
            words="`hub:unknown_actor`, `hub:unauthorized`, `hub:rate_limited`, "
            "`hub:message_too_large`, any other `hub:error`",
        ),
        Claim(
            when="not startswith(type, 'hub:') and direction = 'out'",
            about="reply_to",
            proves=Fate.DELIVERED,
            to="destination",
            words="the forwarded message that leaves the hub",
        ),
    ),
    greetings=("hub:connect",),
)
