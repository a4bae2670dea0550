"""What happens to CONTENT of UEP-12: each node of the swarm speaks for itself."""

from typing import Final

from wireloom.pipeline.transforms.evidence.rows import (
    NODES_REASON,
    Accountable,
    Rules,
    Term,
    created_plus,
    witness,
)
from wireloom.protocols.uep12.constants import DEFAULT_EPOCH_MS
from wireloom.wire.outcome import Fate

_CONTENT: Final = "type = 'CONTENT'"

RULES: Final = Rules(
    accountable=Accountable(
        when=_CONTENT,
        words="CONTENT",
        destinations=Term(
            "filter(coalesce(members, array()), member -> member <> composer)",
            "each node that took part in the swarm, but for the one that composed it",
        ),
        deadline=created_plus(
            "cast(greatest(1, uep12.ttl_epoch) as decimal(20, 0)) "
            f"* coalesce(epoch_ms, {DEFAULT_EPOCH_MS})",
            "`timestamp` + `ttl_epoch` (at least 1) × the swarm's epoch",
        ),
        gathered={"ttl_epoch": "max(uep12.ttl_epoch)"},
    ),
    evidence=(
        witness(
            when=f"{_CONTENT} and outcome in ('delivered', 'accepted')",
            proves=Fate.DELIVERED,
            to="node",
            words="the outcome `delivered` or `accepted`",
        ),
        witness(
            when=f"{_CONTENT} and outcome = 'rejected'",
            proves=Fate.REJECTED,
            to="node",
            reason=NODES_REASON,
            words="the outcome `rejected`",
        ),
        witness(
            when=f"{_CONTENT} and outcome = 'expired'",
            proves=Fate.EXPIRED,
            to="node",
            words="the outcome `expired`",
        ),
    ),
    swarms=True,
)
