"""What happens to DATA of MyriadMesh: signed ACK and ERROR frames, and nodes' words."""

from typing import Final

from wireloom.pipeline.transforms.evidence.rows import (
    KNOWN_NODE,
    NODE,
    NODES_REASON,
    ONE,
    Accountable,
    Claim,
    Rules,
    Silence,
    Term,
    addressee,
    coded,
    created_plus,
    destination,
    hearer,
    witness,
)
from wireloom.protocols.myriadmesh.constants import (
    ACK_TIMEOUT_MS,
    CACHE_MS,
    LORA_ACK_TIMEOUT_MS,
    ErrorCode,
)
from wireloom.wire.outcome import Fate, Reason

_CACHE_BY_RANK: Final = " ".join(
    f"when {rank} then {CACHE_MS[band]}"
    for rank, band in enumerate(sorted(CACHE_MS, key=int, reverse=True))
)
_WAIT: Final = f"""
    case when myriadmesh.queued then case priority_rank {_CACHE_BY_RANK} end
         when myriadmesh.lora then {LORA_ACK_TIMEOUT_MS}
         else {ACK_TIMEOUT_MS} end
"""
_ACK: Final = "myriadmesh.payload.ack_type"
_ERROR: Final = "myriadmesh.payload.error_code"
_REASON: Final = coded(
    _ERROR,
    {
        ErrorCode.INVALID_SIGNATURE.name: Reason.BAD_SIGNATURE,
        ErrorCode.DECRYPTION_FAILED.name: Reason.DECRYPT_FAILED,
        ErrorCode.UNKNOWN_DESTINATION.name: Reason.UNKNOWN_DESTINATION,
        ErrorCode.TTL_EXCEEDED.name: Reason.TTL_EXCEEDED,
        ErrorCode.PAYLOAD_TOO_LARGE.name: Reason.TOO_LARGE,
        ErrorCode.UNSUPPORTED_VERSION.name: Reason.UNSUPPORTED_VERSION,
        ErrorCode.RATE_LIMIT_EXCEEDED.name: Reason.RATE_LIMITED,
        ErrorCode.NODE_UNAVAILABLE.name: Reason.NO_ROUTE,
    },
)

RULES: Final = Rules(
    accountable=Accountable(
        when="type = 'DATA'",
        words="DATA, each inner frame of a DATA_BATCH by itself",
        destinations=Term(ONE, "the destination; nobody by name for a broadcast"),
        deadline=created_plus(
            _WAIT,
            f"`timestamp` + {ACK_TIMEOUT_MS // 1000} s, {LORA_ACK_TIMEOUT_MS // 1000} s if a "
            "sighting is on a LoRa link, the cache time of its priority if one says `queued`",
        ),
        gathered={
            "queued": "bool_or(outcome = 'queued')",
            "lora": "bool_or(startswith(link, 'lora'))",
        },
    ),
    evidence=(
        Claim(
            when=f"{_ACK} = 'FAILED' and auth = 'valid'",
            about="reply_to",
            proves=Fate.REJECTED,
            reason=Reason.NO_ROUTE,
            words="ACK of the type failed, verified",
        ),
        Claim(
            when=f"{_ACK} in ('RECEIVED', 'DELIVERED') and auth = 'valid'",
            about="reply_to",
            proves=Fate.DELIVERED,
            by=destination("source"),
            words="ACK of the type received or delivered, verified",
        ),
        Claim(
            when=f"{_ERROR} is not null and auth = 'valid'",
            about="reply_to",
            proves=Fate.REJECTED,
            reason=_REASON,
            words="ERROR, verified",
        ),
        Silence(
            when=f"{_ACK} in ('FAILED', 'RECEIVED', 'DELIVERED') or {_ERROR} is not null "
            "or auth = 'invalid'",
            words="ACK, ERROR that are not verified; any frame that is proven false",
        ),
        witness(
            when="outcome = 'delivered'",
            proves=Fate.DELIVERED,
            by=hearer(NODE),
            words="the outcome `delivered`",
        ),
        witness(
            when="outcome = 'acked'",
            proves=Fate.DELIVERED,
            by=addressee(NODE),
            words="the outcome `acked`",
        ),
        witness(
            when="outcome = 'rejected'",
            proves=Fate.REJECTED,
            by=destination(KNOWN_NODE),
            reason=NODES_REASON,
            words="the outcome `rejected`",
        ),
    ),
    composers=True,
)
