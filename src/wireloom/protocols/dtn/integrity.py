"""Signatures, ids and lifetimes.

A control message's own signature covers the deterministic CBOR of its map, `msgType`
included and the signature left out (R2). A bundle's covers its header without what hops
may change, and the hash of its payload (R14). 64 zero bytes mean that nobody signed.
"""

from collections.abc import Collection
from hashlib import sha256

import msgspec

from wireloom.protocols.dtn import cbor
from wireloom.protocols.dtn.bundles import immutable_header, is_bundle, take_envelope
from wireloom.protocols.dtn.constants import (
    CONTROL_TTL_SEC,
    COPY_BUDGETS,
    DATA_TTL_SEC,
    MAX_MILLIS,
    PRIORITIES,
    UNSIGNED,
    Destination,
)
from wireloom.protocols.dtn.control import checked, put_control
from wireloom.protocols.dtn.maps import flat
from wireloom.protocols.dtn.messages import (
    DEPRECATED,
    Bundle,
    ConfigUpdate,
    ControlMessage,
    Data,
    DeliveryAck,
    DeliveryCancel,
    GroupAnnounceMsg,
    Payment,
)
from wireloom.protocols.dtn.parts import BundleHeader, camel
from wireloom.wire.errors import UnknownKeyError, UnknownTypeError
from wireloom.wire.keys import SigningKey, uid, verify
from wireloom.wire.message import Message, Unknown
from wireloom.wire.outcome import Auth


def authenticate(message: Message, raw: bytes, keys: Collection[bytes]) -> Auth:
    """What a frame's signature says; a bundle's own one counts, not its payload's.

    Args:
        message: As decoded from `raw`.
        raw: The frame.
        keys: Public keys of known users, for messages that name their signer by UID (R4).
    """
    if isinstance(message, Bundle):
        return _verified(message.header.src_pub, signed_header(message.header), message.signature)
    if isinstance(message, Unknown) and is_bundle(raw):
        signature, header, _ = take_envelope(raw)
        return _verified(header.src_pub, signed_header(header), signature)
    if isinstance(message, ControlMessage):
        return authenticate_control(message, keys)
    return Auth.UNSIGNED


def authenticate_inner(message: Message, keys: Collection[bytes]) -> Auth | None:
    """What the payload's own signature says; None where no bundle carries a signed message.

    Args:
        message: As decoded.
        keys: Public keys of known users; that of the bundle's sender counts too.
    """
    if not isinstance(message, Bundle) or message.payload.signature_field is None:
        return None
    return authenticate_control(message.payload, [message.header.src_pub, *keys])


def authenticate_control(message: ControlMessage, keys: Collection[bytes]) -> Auth:
    """What a control message's own signature says.

    Args:
        message: In a bundle or by itself.
        keys: Public keys among which its signer's may be; of a bundle, that in its header.
    """
    if message.signature_field is None:
        return Auth.UNSIGNED
    signature = getattr(message, message.signature_field)
    if signature == UNSIGNED:
        return Auth.UNSIGNED
    key = signer_key(message, keys)
    if key is None:
        return Auth.UNKNOWN_KEY
    return _verified(key, signed_bytes(message), signature)


def signer_key(message: ControlMessage, keys: Collection[bytes]) -> bytes | None:
    """The public key that must have signed: the one inside, or that of the UID inside."""
    match message:
        case Payment():
            return message.payer
        case ConfigUpdate():
            return message.issuer_key
    signer = signer_uid(message)
    return next((key for key in keys if uid(key) == signer), None)


def signer_uid(message: ControlMessage) -> bytes | None:
    """The UID that a message names as its signer's."""
    match message:
        case DeliveryAck():
            return message.from_uid
        case DeliveryCancel():
            return message.issued_by_uid
        case GroupAnnounceMsg():
            return bytes.fromhex(message.creator_uid_hex)
        case Payment():
            return uid(message.payer)
        case ConfigUpdate():
            return uid(message.issuer_key)
    return None


def signed_bytes(message: ControlMessage) -> bytes:
    """What a control message's own signature covers (R2).

    Raises:
        UnknownTypeError: If such messages carry no signature.
        MalformedError: If it cannot be written.
    """
    if message.signature_field is None:
        raise UnknownTypeError(f"{type(message).__name__} carries no signature of its own")
    document = flat(checked(message))
    document.pop(camel(message.signature_field), None)
    return cbor.dump(document)


def signed_header(header: BundleHeader) -> bytes:
    """What a bundle's signature covers; `payload_hash` is the payload's hash, as decoded.

    Raises:
        MalformedError: If it cannot be written.
    """
    return immutable_header(header) + header.payload_hash


def bundle_id(header: BundleHeader, payload_cbor: bytes) -> bytes:
    """The identity of a bundle, the same at every hop (R14)."""
    return sha256(immutable_header(header) + payload_cbor).digest()


def sign(message: ControlMessage | Bundle, key: SigningKey) -> ControlMessage | Bundle:
    """`message` with the signature of `key`.

    A bundle gets the hash of its payload, and its payload is signed too where it names `key`.

    Raises:
        UnknownKeyError: If it names another signer.
        UnknownTypeError: If it carries no signature, or is not composed any more (R17).
        MalformedError: If it cannot be written.
    """
    if isinstance(message, Bundle):
        return _signed_bundle(_signed_payload(message, key), key)
    return _signed_control(message, key)


def compose(
    payload: ControlMessage,
    key: SigningKey,
    destination: tuple[Destination, bytes],
    *,
    created_at: int,
    ttl_sec: int | None = None,
) -> Bundle:
    """A new bundle, signed, with the priority and the budget that its payload calls for.

    Args:
        payload: What it carries; its own signature, where it has one, is there already.
        key: The sender's.
        destination: Of which kind, and which.
        created_at: The time, in ms since 1970.
        ttl_sec: Its lifetime; the usual one for its payload if not given.

    Raises:
        UnknownTypeError: If such a payload is not composed any more (R17).
        MalformedError: If it cannot be written.
    """
    kind, address = destination
    payload = checked(payload)
    priority = PRIORITIES[payload.number]
    usual = DATA_TTL_SEC if isinstance(payload, Data) else CONTROL_TTL_SEC
    header = BundleHeader(
        src_pub=key.public,
        created_at=created_at,
        payload_hash=sha256(put_control(payload)).digest(),
        ttl_sec=usual if ttl_sec is None else ttl_sec,
        priority=priority,
        copy_budget=COPY_BUDGETS[priority],
        attempts=0,
        route_path=(),
    )
    header = msgspec.structs.replace(header, **{kind.value: address})
    return _signed_bundle(Bundle(signature=UNSIGNED, header=header, payload=payload), key)


def expires_ms(header: BundleHeader) -> int:
    """When a bundle's lifetime ends, in ms since 1970."""
    return min(header.created_at + header.ttl_sec * 1000, MAX_MILLIS)


def _signed_control(message: ControlMessage, key: SigningKey) -> ControlMessage:
    data = signed_bytes(message)
    if signer_uid(message) != uid(key.public):
        raise UnknownKeyError(f"{type(message).__name__} names another signer")
    return msgspec.structs.replace(message, **{str(message.signature_field): key.sign(data)})


def _signed_payload(bundle: Bundle, key: SigningKey) -> Bundle:
    """The bundle with its payload signed, where that is the owner's of `key`, and hashed."""
    payload = bundle.payload
    if payload.signature_field is not None and signer_uid(payload) == uid(key.public):
        payload = _signed_control(payload, key)
        bundle = msgspec.structs.replace(bundle, payload=payload, payload_cbor=None)
    hash_ = sha256(bundle.payload_bytes()).digest()
    header = msgspec.structs.replace(bundle.header, payload_hash=hash_)
    return msgspec.structs.replace(bundle, header=header)


def _signed_bundle(bundle: Bundle, key: SigningKey) -> Bundle:
    if type(bundle.payload) in DEPRECATED:
        raise UnknownTypeError(f"{type(bundle.payload).__name__} is not composed any more")
    if bundle.header.src_pub != key.public:
        raise UnknownKeyError("the bundle names another sender")
    return msgspec.structs.replace(bundle, signature=key.sign(signed_header(bundle.header)))


def _verified(public_key: bytes, data: bytes, signature: bytes) -> Auth:
    if signature == UNSIGNED:
        return Auth.UNSIGNED
    return Auth.VALID if verify(public_key, data, signature) else Auth.INVALID
