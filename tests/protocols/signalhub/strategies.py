"""Any message of every type."""

from hypothesis import strategies as st

from support.strategies import messages_of, values_of
from wireloom.protocols.signalhub.constants import MAX_SEMVER_SIZE
from wireloom.protocols.signalhub.envelope import Semver
from wireloom.protocols.signalhub.messages import TYPES, Application
from wireloom.protocols.signalhub.metadata import (
    ConnectMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    QueueStatsResponsePayload,
)
from wireloom.wire.message import Message

_VERSIONS = values_of(Semver).filter(lambda text: len(text) <= MAX_SEMVER_SIZE)
_RATES = st.floats(min_value=0, allow_nan=False, allow_infinity=False)

MESSAGES: dict[str, st.SearchStrategy[Message]] = {
    **{name: messages_of(cls) for name, cls in TYPES.items()},
    "hub:connect": messages_of(
        TYPES["hub:connect"], metadata=messages_of(ConnectMetadata, protocol_version=_VERSIONS)
    ),
    "hub:queue_stats_response": messages_of(
        TYPES["hub:queue_stats_response"],
        payload=messages_of(QueueStatsResponsePayload, processing_rate=_RATES),
    ),
    "application": messages_of(Application),
}
