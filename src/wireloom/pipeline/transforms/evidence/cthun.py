"""What happens to messages of Cthun: the broker's word, and what leaves the broker."""

from typing import Final

from wireloom.pipeline.transforms.evidence.rows import (
    EXPIRES,
    TO_SERVER,
    Accountable,
    Claim,
    Report,
    Rules,
    Term,
    listed,
    quoted,
)
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.messages import TYPES
from wireloom.wire.outcome import Fate, Reason

_CARRIED: Final = f"type not in ({listed(*sorted(TYPES))})"
"""What the broker carries and does not say itself."""

_REPORTED: Final = f"type = {quoted(MessageType.DESTINATION_REPORT)} and direction = 'out'"
_ERROR: Final = f"type = {quoted(MessageType.ERROR_MESSAGE)}"

_PATTERN: Final = "concat('^', replace(replace(target, '.', '[.]'), '*', '[^/]*'), '$')"
_MATCHES: Final = f"uri -> uri rlike {_PATTERN}"
_TARGETS: Final = f"""
    array_distinct(flatten(transform(targets, target ->
        if(contains(target, '*') and exists(flatten(cthun.uris), {_MATCHES}),
           filter(flatten(cthun.uris), {_MATCHES}), array(target)))))
"""

RULES: Final = Rules(
    accountable=Accountable(
        when=_CARRIED,
        words="every message whose type is not one of the broker's seven",
        destinations=Term(
            _TARGETS,
            "each target; a wildcard stands for those whom the broker named in a "
            "`destination_report` or served, else for itself",
        ),
        deadline=EXPIRES,
        gathered={
            "uris": f"""collect_set(case when protocol <> 'cthun' then null
                                         when {_REPORTED} then cthun.data.targets
                                         when direction = 'out' then array(peer) end)"""
        },
        reports=Report(when=_REPORTED, about="reply_to"),
    ),
    evidence=(
        Claim(
            when=f"{_CARRIED} and direction = 'out'",
            about="message_id",
            proves=Fate.DELIVERED,
            to="peer",
            words="the message that leaves the broker",
        ),
        TO_SERVER,
        Claim(
            when=f"type = {quoted(MessageType.TTL_EXPIRED)}",
            about="reply_to",
            proves=Fate.EXPIRED,
            words="`ttl_expired`, also one for a sender that has gone (captured as `local`)",
        ),
        Claim(
            when=f"{_ERROR} and contains(lower(cthun.data.description), 'not authenticated')",
            about="reply_to",
            proves=Fate.REJECTED,
            reason=Reason.UNAUTHENTICATED,
            words="`error_message` that says not authenticated",
        ),
        Claim(
            when=f"{_ERROR} and contains(lower(cthun.data.description), 'not authorized')",
            about="reply_to",
            proves=Fate.REJECTED,
            reason=Reason.UNAUTHORIZED,
            words="`error_message` that says not authorized",
        ),
        Claim(
            when=_ERROR,
            about="reply_to",
            proves=Fate.REJECTED,
            reason=Reason.MALFORMED,
            words="any other `error_message`",
        ),
    ),
    greetings=(MessageType.ASSOCIATE_REQUEST.value,),
)
