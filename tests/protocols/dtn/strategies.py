"""Any message of every type, bare and in bundles."""

from hashlib import sha256
from typing import Any

import msgspec
from hypothesis import strategies as st

from support.strategies import messages_of
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.control import put_control
from wireloom.protocols.dtn.identity import short_id
from wireloom.protocols.dtn.messages import (
    TYPES,
    Bundle,
    ControlMessage,
    Data,
    GroupAnnounceMsg,
    LinkMetrics,
    Payment,
)
from wireloom.protocols.dtn.parts import BundleHeader
from wireloom.wire.message import Message

_IDS = st.binary(min_size=32, max_size=32)
_SIGNATURES = st.binary(min_size=64, max_size=64)


def _announcement(message: GroupAnnounceMsg) -> GroupAnnounceMsg:
    derived = short_id(message.group_id_string)
    return msgspec.structs.replace(message, short_id=derived)


def _payments() -> st.SearchStrategy[Payment]:
    return messages_of(Payment).filter(lambda payment: payment.payer != payment.payee)


def _metrics() -> st.SearchStrategy[LinkMetrics]:
    return messages_of(LinkMetrics, gateway_score=st.floats(0, 1, width=32))


CONTROL: dict[str, st.SearchStrategy[ControlMessage]] = {
    name: messages_of(cls)
    for name, cls in TYPES.items()
    if issubclass(cls, ControlMessage) and cls is not Data
} | {
    "LinkMetrics": _metrics(),
    "Payment": _payments(),
    "GroupAnnounceMsg": messages_of(GroupAnnounceMsg).map(_announcement),
}


def _headers(payload: ControlMessage) -> st.SearchStrategy[BundleHeader]:
    nowhere: dict[str, Any] = {kind.value: st.none() for kind in Destination}
    return st.sampled_from(list(Destination)).flatmap(
        lambda kind: messages_of(
            BundleHeader,
            payload_hash=st.just(sha256(put_control(payload)).digest()),
            msg_type=st.sampled_from([None, int(payload.number)]),
            **{**nowhere, kind.value: _IDS},
        )
    )


def _bundle(payload: ControlMessage) -> st.SearchStrategy[Bundle]:
    return st.builds(
        Bundle, signature=_SIGNATURES, header=_headers(payload), payload=st.just(payload)
    )


def bundles_of(payloads: st.SearchStrategy[ControlMessage]) -> st.SearchStrategy[Message]:
    """A bundle around any of `payloads`."""
    return payloads.flatmap(_bundle)


MESSAGES: dict[str, st.SearchStrategy[Message]] = {
    name: st.one_of(strategy, bundles_of(strategy)) for name, strategy in CONTROL.items()
}
MESSAGES["Data"] = bundles_of(messages_of(Data))
