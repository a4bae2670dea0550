"""What happens to lines: an acknowledgement of the destination proves that one came."""

from typing import Final

from wireloom.pipeline.transforms.evidence.rows import (
    ONE,
    Accountable,
    Claim,
    Rules,
    Term,
    destination,
    witness,
)
from wireloom.wire.outcome import Fate, Reason

RULES: Final = Rules(
    accountable=Accountable(
        when="type = 'MSG' and destination <> 'switchboard'",
        words="MSG",
        destinations=Term(ONE, "the receiver"),
        deadline=Term("cast(0 as decimal(20, 0))", "none: without an answer it is lost"),
    ),
    evidence=(
        Claim(
            when="type = 'ACK'",
            about="reply_to",
            proves=Fate.DELIVERED,
            by=destination("source"),
            words="ACK",
        ),
        witness(
            when="type = 'MSG' and outcome = 'rejected'",
            proves=Fate.REJECTED,
            reason=Reason.UNKNOWN_DESTINATION,
            words="the outcome `rejected`",
        ),
    ),
)
