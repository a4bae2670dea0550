"""Fates worked out from captured frames alone: what the generator's truth has to agree with.

It reads every frame with the scalar codec and applies the rules of the fates table one by
one, in memory and without any haste.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from wireloom.capture.frame import CapturedFrame, from_batch
from wireloom.capture.reader import read
from wireloom.protocols.cthun import messages as cthun
from wireloom.protocols.cthun.integrity import expires_ms as cthun_expires_ms
from wireloom.protocols.cthun.uris import is_wildcard
from wireloom.protocols.dtn import messages as dtn
from wireloom.protocols.dtn.constants import CancelReason, Destination
from wireloom.protocols.dtn.integrity import authenticate_control, bundle_id
from wireloom.protocols.myriadmesh import messages as mesh
from wireloom.protocols.myriadmesh.codec import encode as encode_mesh
from wireloom.protocols.myriadmesh.constants import BROADCAST_ID, CACHE_MS, AckType, ErrorCode
from wireloom.protocols.signalhub import messages as hub
from wireloom.protocols.signalhub.constants import ErrorCode as HubCode
from wireloom.protocols.signalhub.payloads import (
    PublishedPayload,
)
from wireloom.protocols.uep12 import messages as uep12
from wireloom.protocols.uep12.integrity import expires_ms as uep12_expires_ms
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.registry import protocol
from wireloom.wire.errors import WireError
from wireloom.wire.keys import uid
from wireloom.wire.outcome import Auth, Direction, Fate, Outcome, Reason

Key = tuple[str, str, str | None]
Finding = tuple[Fate, Reason | None]

ORDER = list(Fate)
MESH_REASONS = {
    ErrorCode.INVALID_SIGNATURE: Reason.BAD_SIGNATURE,
    ErrorCode.DECRYPTION_FAILED: Reason.DECRYPT_FAILED,
    ErrorCode.UNKNOWN_DESTINATION: Reason.UNKNOWN_DESTINATION,
    ErrorCode.TTL_EXCEEDED: Reason.TTL_EXCEEDED,
    ErrorCode.PAYLOAD_TOO_LARGE: Reason.TOO_LARGE,
    ErrorCode.UNSUPPORTED_VERSION: Reason.UNSUPPORTED_VERSION,
    ErrorCode.RATE_LIMIT_EXCEEDED: Reason.RATE_LIMITED,
    ErrorCode.NODE_UNAVAILABLE: Reason.NO_ROUTE,
}
HUB_REASONS: dict[Any, Reason] = {
    hub.UnknownActor: Reason.UNKNOWN_DESTINATION,
    hub.Unauthorized: Reason.UNAUTHORIZED,
    hub.RateLimited: Reason.RATE_LIMITED,
    hub.MessageTooLarge: Reason.TOO_LARGE,
}


class Seen(NamedTuple):
    """A frame that decodes."""

    frame: CapturedFrame
    message: Any
    raw: bytes


class Case:
    """One row while evidence is gathered."""

    def __init__(self, deadline_ms: int) -> None:
        self.deadline_ms = deadline_ms
        self.proven: list[Finding] = []

    def fate(self, horizon_us: int) -> Finding:
        if self.proven:
            return min(self.proven, key=lambda fate: ORDER.index(fate[0]))
        late = horizon_us > self.deadline_ms * 1000
        return (Fate.LOST if late else Fate.IN_FLIGHT, None)


def captured(folder: Path) -> list[CapturedFrame]:
    frames: list[CapturedFrame] = []
    for batch in read(folder / "captures"):
        assert isinstance(batch, pa.RecordBatch)
        frames += from_batch(batch)
    return sorted(frames, key=lambda frame: frame.captured_at)


def decoded(frames: Iterable[CapturedFrame]) -> dict[str, list[Seen]]:
    found: dict[str, list[Seen]] = defaultdict(list)
    for frame in frames:
        name = str(frame.protocol)
        try:
            message = protocol(name).codec.decode(frame.raw)
        except WireError:
            continue
        found[name].append(Seen(frame, message, frame.raw))
    return found


def fates(frames: list[CapturedFrame]) -> dict[Key, Finding]:
    """The fate of every message and destination."""
    seen = decoded(frames)
    horizon_us = frames[-1].captured_at
    judges = {
        "myriadmesh": _mesh,
        "dtn": _dtn,
        "cthun": _cthun,
        "signalhub": _hub,
        "uep12": _uep12,
    }
    return {
        (name, *key): case.fate(horizon_us)
        for name, judge in judges.items()
        for key, case in judge(seen[name]).items()
    }


def _mesh(seen: list[Seen]) -> dict[tuple[str, str | None], Case]:
    integrity = protocol("myriadmesh").integrity
    flat: list[Seen] = []
    for one in seen:
        flat.append(one)
        if isinstance(one.message.payload, mesh.DataBatch):
            inner = one.message.payload.messages
            flat += [Seen(one.frame, frame, encode_mesh(frame)) for frame in inner]
    keys = {
        one.message.payload.public_key
        for one in flat
        if isinstance(one.message.payload, mesh.Discovery)
    }
    auths: dict[bytes, Auth] = {}
    for one in flat:
        if one.raw not in auths:
            auths[one.raw] = integrity.authenticate(one.message, one.raw, keys)
    home: dict[bytes, str] = {}
    for one in flat:
        if one.frame.direction is Direction.LOCAL and auths[one.raw] is Auth.VALID:
            home[one.message.source_node_id] = one.frame.node
    valid = [one for one in flat if auths[one.raw] is Auth.VALID]
    cases: dict[tuple[str, str | None], Case] = {}
    sent: dict[bytes, tuple[Any, Case]] = {}
    for one in valid:
        if one.message.message_type.name == "DATA":
            _mesh_data(one, home, cases, sent)
    for one in valid:
        _mesh_evidence(one.message, sent)
    return cases


def _mesh_data(
    one: Seen,
    home: dict[bytes, str],
    cases: dict[tuple[str, str | None], Case],
    sent: dict[bytes, tuple[Any, Case]],
) -> None:
    message, frame = one.message, one.frame
    to = None if message.dest_node_id == BROADCAST_ID else message.dest_node_id.hex()
    case = cases.setdefault((message.message_id.hex(), to), Case(message.timestamp + 30_000))
    sent[message.message_id] = (message, case)
    if frame.link.startswith("lora"):
        case.deadline_ms = max(case.deadline_ms, message.timestamp + 300_000)
    if frame.outcome is Outcome.QUEUED:
        case.deadline_ms = max(case.deadline_ms, message.timestamp + CACHE_MS[message.band])
    if frame.direction is not Direction.IN:
        return
    itself = home.get(message.dest_node_id) == frame.node
    if to is None and frame.node != home[message.source_node_id]:
        if frame.outcome is Outcome.DELIVERED:
            case.proven.append((Fate.DELIVERED, None))
    elif itself or frame.node not in home.values():
        if frame.outcome in (Outcome.DELIVERED, Outcome.ACKED):
            case.proven.append((Fate.DELIVERED, None))
        if itself and frame.outcome is Outcome.REJECTED:
            case.proven.append((Fate.REJECTED, frame.reason))


def _mesh_evidence(message: Any, sent: dict[bytes, tuple[Any, Case]]) -> None:
    payload = message.payload
    if not isinstance(payload, mesh.Ack | mesh.Error) or payload.original_message_id not in sent:
        return
    about, case = sent[payload.original_message_id]
    if isinstance(payload, mesh.Error):
        case.proven.append((Fate.REJECTED, MESH_REASONS[payload.error_code]))
    elif payload.ack_type is AckType.FAILED:
        case.proven.append((Fate.REJECTED, Reason.NO_ROUTE))
    elif (
        payload.ack_type in (AckType.RECEIVED, AckType.DELIVERED)
        and message.source_node_id == about.dest_node_id
    ):
        case.proven.append((Fate.DELIVERED, None))


def _dtn(seen: list[Seen]) -> dict[tuple[str, str | None], Case]:
    integrity = protocol("dtn").integrity
    bundles = [
        one
        for one in seen
        if isinstance(one.message, dtn.Bundle)
        and integrity.authenticate(one.message, one.raw, ()) is Auth.VALID
    ]
    cases: dict[tuple[str, str | None], Case] = {}
    sent: dict[bytes, tuple[Any, Case]] = {}
    members: dict[bytes, set[bytes]] = defaultdict(set)
    accountable = (dtn.Data, dtn.GroupInviteMsg, dtn.GroupUpdateMsg, dtn.ConfigUpdate)
    origins = set()
    known = {one.frame.node for one in bundles if one.frame.direction is Direction.LOCAL}
    for one in bundles:
        header, payload = one.message.header, one.message.payload
        if isinstance(payload, dtn.SubMsg):
            members[payload.topic_id].add(uid(header.src_pub))
        if not isinstance(payload, accountable):
            continue
        id_ = bundle_id(header, one.message.payload_bytes())
        (to,) = header.destinations().values()
        deadline_ms = header.created_at + header.ttl_sec * 1000
        case = cases.setdefault((id_.hex(), to.hex()), Case(deadline_ms))
        sent[id_] = (header, case)
        if one.frame.direction is Direction.LOCAL:
            origins.add((id_, one.frame.node))
        if one.frame.outcome is Outcome.EXPIRED and (id_, one.frame.node) in origins:
            case.proven.append((Fate.EXPIRED, None))
        received = one.frame.outcome in (Outcome.DELIVERED, Outcome.ACKED)
        if received and one.frame.node not in known:
            case.proven.append((Fate.DELIVERED, None))
    for one in bundles:
        _dtn_evidence(one.message, sent, members)
    return cases


def _dtn_evidence(
    bundle: dtn.Bundle, sent: dict[bytes, tuple[Any, Case]], members: dict[bytes, set[bytes]]
) -> None:
    payload, signer = bundle.payload, bundle.header.src_pub
    if not isinstance(payload, dtn.DeliveryAck | dtn.DeliveryCancel):
        return
    if payload.msg_id not in sent or authenticate_control(payload, [signer]) is not Auth.VALID:
        return
    header, case = sent[payload.msg_id]
    ((kind, to),) = header.destinations().items()
    received = {
        Destination.USER: uid(signer) == to,
        Destination.NODE: signer == to,
        Destination.TOPIC: uid(signer) in members[to],
        Destination.CLUSTER: True,
    }[kind]
    if isinstance(payload, dtn.DeliveryAck):
        if received:
            case.proven.append((Fate.DELIVERED, None))
    elif payload.reason is CancelReason.ACKED and received:
        case.proven.append((Fate.DELIVERED, None))
    elif signer == header.src_pub and payload.reason is not CancelReason.ACKED:
        recalled = payload.reason is CancelReason.RECALLED
        case.proven.append((Fate.CANCELLED if recalled else Fate.EXPIRED, None))


def _cthun(seen: list[Seen]) -> dict[tuple[str, str | None], Case]:
    envelopes = {
        one.message.envelope.id: one.message.envelope
        for one in seen
        if one.message.envelope.message_type not in cthun.TYPES
    }
    found: dict[str, set[str]] = defaultdict(set)
    delivered: dict[str, set[str]] = defaultdict(set)
    verdicts: dict[str, list[Finding]] = defaultdict(list)
    for one in seen:
        if one.frame.direction is Direction.IN:
            continue
        id_, data = one.message.envelope.id, one.message.data
        if id_ in envelopes and one.frame.direction is Direction.OUT:
            delivered[id_].add(str(one.frame.peer))
        if isinstance(data, cthun.DestinationReport):
            found[data.id] |= set(data.targets)
        if isinstance(data, cthun.TtlExpired):
            verdicts[data.id].append((Fate.EXPIRED, None))
        if isinstance(data, cthun.ErrorMessage) and isinstance(data.id, str):
            verdicts[data.id].append((Fate.REJECTED, _cthun_reason(data.description)))
    cases: dict[tuple[str, str | None], Case] = {}
    for id_, envelope in envelopes.items():
        targets = {target for target in envelope.targets if not is_wildcard(target)}
        if len(targets) < len(envelope.targets):
            targets |= found[id_] | delivered[id_] or set(envelope.targets)
        for target in targets:
            case = cases[id_, target] = Case(cthun_expires_ms(envelope))
            case.proven += verdicts[id_]
            if target in delivered[id_]:
                case.proven.append((Fate.DELIVERED, None))
    return cases


def _cthun_reason(description: str) -> Reason:
    if "not authenticated" in description:
        return Reason.UNAUTHENTICATED
    return Reason.UNAUTHORIZED if "not authorized" in description else Reason.MALFORMED


def _hub(seen: list[Seen]) -> dict[tuple[str, str | None], Case]:
    cases: dict[tuple[str, str | None], Case] = {}
    by_id: dict[str, Case] = {}
    sends: dict[str, Case] = defaultdict(lambda: Case(0))
    for one in seen:
        message = one.message
        if isinstance(message, hub.Send | hub.Publish | hub.Broadcast):
            to = message.payload.target_address if isinstance(message, hub.Send) else None
            ttl = message.ttl if isinstance(message.ttl, int) else 30_000
            by_id[message.id] = cases[message.id, to] = Case(message.timestamp + ttl)
            if isinstance(message, hub.Send):
                sends[message.id] = by_id[message.id]
    for one in seen:
        if one.frame.direction is Direction.OUT:
            _hub_evidence(one.message, by_id, sends)
    return cases


def _hub_evidence(message: Any, by_id: dict[str, Case], sends: dict[str, Case]) -> None:
    if isinstance(message, hub.Application):
        metadata: Any = message.metadata
        sends[metadata["originalMessageId"]].proven.append((Fate.DELIVERED, None))
        return
    about = by_id.get(str(message.correlation_id))
    if about is None:
        return
    acked = isinstance(message, hub.DeliveryAck) and message.payload.status == "delivered"
    if acked:
        about.proven.append((Fate.DELIVERED, None))
    elif isinstance(message, hub.Published | hub.BroadcastAck):
        about.proven.append(_hub_count(message.payload))
    elif type(message) in HUB_REASONS:
        about.proven.append((Fate.REJECTED, HUB_REASONS[type(message)]))
    elif isinstance(message, hub.Error):
        about.proven.append(_hub_error(message.payload))


def _hub_count(payload: Any) -> Finding:
    if isinstance(payload, PublishedPayload):
        count = payload.subscriber_count
    else:
        count = payload.delivered_count + payload.queued_count
    return (Fate.DELIVERED, None) if count else (Fate.REJECTED, Reason.UNKNOWN_DESTINATION)


def _hub_error(payload: Any) -> Finding:
    if payload.code in (HubCode.TIMEOUT, HubCode.MESSAGE_EXPIRED):
        return (Fate.EXPIRED, None)
    if payload.code is HubCode.VERSION_MISMATCH:
        return (Fate.REJECTED, Reason.UNSUPPORTED_VERSION)
    invalid = (payload.details or {}).get("reason") == "invalid_message"
    return (Fate.REJECTED, Reason.MALFORMED if invalid else Reason.INTERNAL)


def _uep12(seen: list[Seen]) -> dict[tuple[str, str | None], Case]:
    integrity = protocol("uep12").integrity
    peers: dict[str, set[str]] = defaultdict(set)
    sightings: dict[bytes, list[Seen]] = defaultdict(list)
    for one in seen:
        peers[str(one.frame.swarm)].add(one.frame.node)
        if isinstance(one.message, uep12.Content):
            sightings[one.raw].append(one)
    cases: dict[tuple[str, str | None], Case] = {}
    for raw, found in sightings.items():
        content, frame = found[0].message, found[0].frame
        if integrity.authenticate(content, raw, ()) is not Auth.VALID:
            continue
        composer = next(o.frame.node for o in found if o.frame.direction is Direction.LOCAL)
        deadline_ms = uep12_expires_ms(content, epoch_ms=int(frame.epoch_ms or 0))
        for peer in peers[str(frame.swarm)] - {composer}:
            case = cases[msg_hash(raw).hex(), peer] = Case(deadline_ms)
            for one in found:
                if one.frame.node == peer:
                    case.proven += _uep12_evidence(one.frame)
    return cases


def _uep12_evidence(frame: CapturedFrame) -> list[Finding]:
    if frame.outcome in (Outcome.DELIVERED, Outcome.ACCEPTED):
        return [(Fate.DELIVERED, None)]
    if frame.outcome is Outcome.REJECTED:
        return [(Fate.REJECTED, frame.reason)]
    return [(Fate.EXPIRED, None)] if frame.outcome is Outcome.EXPIRED else []
