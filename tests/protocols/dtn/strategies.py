"""Any message of every type, bare and in bundles."""

from hashlib import sha256
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st

from support.strategies import JSON_VALUES, messages_of
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.control import put_control
from wireloom.protocols.dtn.identity import short_id
from wireloom.protocols.dtn.maps import shape
from wireloom.protocols.dtn.messages import (
    TYPES,
    Bundle,
    ControlMessage,
    Data,
    DeliveryAck,
    GroupAnnounceMsg,
    LinkMetrics,
    Payment,
)
from wireloom.protocols.dtn.parts import BundleHeader, DeliveryPathHop, DtnMap
from wireloom.wire.message import Message

M = TypeVar("M", bound=DtnMap)

_IDS = st.binary(min_size=32, max_size=32)
_SIGNATURES = st.binary(min_size=64, max_size=64)


def _plain(value: Any) -> bool:
    """Whether the plain form of a free value can be told from that of bytes."""
    if isinstance(value, dict):
        return "$hex" not in value and all(map(_plain, value.values()))
    return all(map(_plain, value)) if isinstance(value, list) else True


def _made(cls: type[M], **overrides: st.SearchStrategy[Any]) -> st.SearchStrategy[M]:
    """Any message of `cls`, whose extra keys are not declared ones."""
    keys = st.text(max_size=20).filter(lambda key: key not in shape(cls).known)
    extra = st.dictionaries(keys, JSON_VALUES.filter(_plain), max_size=3)
    return messages_of(cls, extra=extra, **overrides)


def _announcement(message: GroupAnnounceMsg) -> GroupAnnounceMsg:
    derived = short_id(message.group_id_string)
    return msgspec.structs.replace(message, short_id=derived)


def _payments() -> st.SearchStrategy[Payment]:
    return _made(Payment).filter(lambda payment: payment.payer != payment.payee)


def _metrics() -> st.SearchStrategy[LinkMetrics]:
    return _made(LinkMetrics, gateway_score=st.floats(0, 1, width=32))


def _acks() -> st.SearchStrategy[DeliveryAck]:
    hops = st.lists(_made(DeliveryPathHop), max_size=3).map(tuple)
    return _made(DeliveryAck, path=st.none() | hops)


CONTROL: dict[str, st.SearchStrategy[ControlMessage]] = {
    name: _made(cls)
    for name, cls in TYPES.items()
    if issubclass(cls, ControlMessage) and cls is not Data
} | {
    "DeliveryAck": _acks(),
    "LinkMetrics": _metrics(),
    "Payment": _payments(),
    "GroupAnnounceMsg": _made(GroupAnnounceMsg).map(_announcement),
}


def _headers(payload: ControlMessage) -> st.SearchStrategy[BundleHeader]:
    nowhere: dict[str, Any] = {kind.value: st.none() for kind in Destination}
    return st.sampled_from(list(Destination)).flatmap(
        lambda kind: _made(
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
MESSAGES["Data"] = bundles_of(_made(Data))
