"""What happens to DTN bundles: signed acknowledgements and cancellations, and nodes' words."""

from typing import Final

from wireloom.pipeline.transforms.evidence.rows import (
    EXPIRES,
    KNOWN_NODE,
    NODE,
    Accountable,
    Claim,
    Rules,
    Silence,
    Term,
    destination,
    listed,
    recipient,
    source,
    witness,
)
from wireloom.wire.outcome import Fate

_CANCEL: Final = "type = 'DeliveryCancel' and auth = 'valid'"
_ISSUER: Final = "dtn.payload.issued_by_uid"

RULES: Final = Rules(
    accountable=Accountable(
        when=f"type in ({listed('Data', 'GroupInviteMsg', 'GroupUpdateMsg', 'ConfigUpdate')})",
        words="a bundle with application data, GroupInviteMsg, GroupUpdateMsg or ConfigUpdate",
        destinations=Term("array(destination)", "the user, node, topic or cluster"),
        deadline=EXPIRES._replace(words="`createdAt` + `ttlSec`"),
    ),
    evidence=(
        Claim(
            when="type = 'DeliveryAck' and auth = 'valid'",
            about="reply_to",
            proves=Fate.DELIVERED,
            by=recipient("dtn.payload.from_uid"),
            words="`DeliveryAck`, verified",
        ),
        Claim(
            when=f"{_CANCEL} and dtn.payload.reason = 'RECALLED'",
            about="reply_to",
            proves=Fate.CANCELLED,
            by=source(_ISSUER),
            words="`DeliveryCancel` with the reason RECALLED, verified",
        ),
        Claim(
            when=f"{_CANCEL} and dtn.payload.reason = 'EXPIRED'",
            about="reply_to",
            proves=Fate.EXPIRED,
            by=source(_ISSUER),
            words="`DeliveryCancel` with the reason EXPIRED, verified",
        ),
        Claim(
            when=_CANCEL,
            about="reply_to",
            proves=Fate.DELIVERED,
            by=destination(_ISSUER),
            words="`DeliveryCancel` with the reason ACKED, verified",
        ),
        Silence(
            when=f"type in ({listed('DeliveryAck', 'DeliveryCancel')})",
            words="`DeliveryAck`, `DeliveryCancel` that are not verified",
        ),
        witness(
            when="outcome in ('delivered', 'acked')",
            proves=Fate.DELIVERED,
            by=recipient(NODE),
            words="the outcome `delivered` or `acked`",
        ),
        witness(
            when="outcome = 'expired'",
            proves=Fate.EXPIRED,
            by=source(KNOWN_NODE),
            words="the outcome `expired`",
        ),
    ),
    composers=True,
)
