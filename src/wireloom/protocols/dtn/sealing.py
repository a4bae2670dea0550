"""What is sealed within DTN messages: invitations, changes of members, direct messages.

Whoever seals gives the nonce and, where one is needed, the ephemeral private key: fresh
random bytes each time. A user's X25519 key follows from its Ed25519 identity (R24).

An admin signs a change of members over the concatenation of (R25)

```
group id, UTF-8 | UID of the member 32 | time u64, big-endian, ms | ADD or REMOVE
```
"""

from typing import Final, TypeVar

import msgspec
from nacl.exceptions import CryptoError

from wireloom.protocols.dtn import cbor
from wireloom.protocols.dtn.constants import (
    DATA_INFO,
    GCM_NONCE_SIZE,
    INVITE_INFO,
    INVITE_NONCE_SIZE,
    KEY_SIZE,
    SHORT_ACTIONS,
    UNSIGNED,
    GroupAction,
)
from wireloom.protocols.dtn.maps import build, put_map, take_map
from wireloom.protocols.dtn.messages import Data, GroupInviteMsg, GroupUpdateMsg
from wireloom.protocols.dtn.parts import DtnMap, Extra
from wireloom.wire import ciphers
from wireloom.wire.cursor import Writer
from wireloom.wire.errors import DecryptFailedError, MalformedError
from wireloom.wire.fields import Bytes32, Bytes64, Millis
from wireloom.wire.keys import SigningKey, exchange_public_key, verify

M = TypeVar("M", bound=DtnMap)

_ACTION_KEY: Final = "action"
_SIGNED_WORDS: Final = {action: word.encode() for word, action in SHORT_ACTIONS.items()}


class Invitation(DtnMap, frozen=True, kw_only=True):
    """What a GroupInviteMsg hides."""

    group_id: str
    """The group."""

    display_name: str
    """The name that people see."""

    group_key: Bytes32
    """The group's AES-256 key."""

    admin_pub_key: Bytes32
    """Public key of the admin, who signs changes of members."""

    invited_at: Millis
    """When, in ms since 1970."""

    extra: Extra = {}
    """Fields that this version does not know."""


class MembershipChange(DtnMap, frozen=True, kw_only=True):
    """What a GroupUpdateMsg hides."""

    action: GroupAction
    """Whether the member comes or goes."""

    target_uid: Bytes32
    """UID of the member."""

    admin_sig: Bytes64
    """The admin's signature."""

    timestamp: Millis
    """When, in ms since 1970."""

    extra: Extra = {}
    """Fields that this version does not know."""


def seal_invite(
    invitation: Invitation, recipient: bytes, *, ephemeral: bytes, nonce: bytes
) -> GroupInviteMsg:
    """An invitation that only the owner of the public key `recipient` can read.

    Args:
        invitation: What to seal.
        recipient: Its Ed25519 public key.
        ephemeral: 32 random bytes, an X25519 private key for this message alone.
        nonce: 24 random bytes.

    Raises:
        WireError: If the invitation cannot be written or a size is wrong.
    """
    _check_size(nonce, INVITE_NONCE_SIZE, "nonce")
    key = _sender_key(recipient, ephemeral, INVITE_INFO)
    sealed = ciphers.seal_xchacha(key, nonce, _written(invitation))
    public = ciphers.x25519_public(ephemeral)
    return GroupInviteMsg(encrypted_payload=sealed, ephemeral_pub_key=public, nonce=nonce)


def open_invite(message: GroupInviteMsg, key: SigningKey) -> Invitation:
    """The invitation that was sealed for the owner of `key`.

    Raises:
        DecryptFailedError: If it does not open.
        MalformedError: If something else is inside.
    """
    secret = _recipient_key(message.ephemeral_pub_key, key, INVITE_INFO)
    plain = ciphers.open_xchacha(secret, message.nonce, message.encrypted_payload)
    return take_map(Invitation, plain)


def seal_update(change: MembershipChange, group_key: bytes, *, nonce: bytes) -> GroupUpdateMsg:
    """A change that the members of a group can read.

    Args:
        change: What to seal.
        group_key: The group's 32 bytes.
        nonce: 12 random bytes.

    Raises:
        WireError: If the change cannot be written or a size is wrong.
    """
    _check_size(group_key, KEY_SIZE, "group key")
    _check_size(nonce, GCM_NONCE_SIZE, "nonce")
    sealed = ciphers.seal_aes(group_key, nonce, _written(change))
    return GroupUpdateMsg(encrypted_payload=sealed, nonce=nonce)


def open_update(message: GroupUpdateMsg, group_key: bytes) -> MembershipChange:
    """The change that was sealed with `group_key`; short words for the action count (R12).

    Raises:
        DecryptFailedError: If it does not open.
        MalformedError: If something else is inside.
    """
    plain = ciphers.open_aes(group_key, message.nonce, message.encrypted_payload)
    document = cbor.load(plain)
    action = document.get(_ACTION_KEY)
    if isinstance(action, str):
        document[_ACTION_KEY] = SHORT_ACTIONS.get(action, action)
    return build(MembershipChange, document, plain)


def seal_data(plaintext: bytes, recipient: bytes, *, ephemeral: bytes, nonce: bytes) -> Data:
    """A direct message that only the owner of the public key `recipient` can read.

    Args:
        plaintext: What to seal.
        recipient: Its Ed25519 public key.
        ephemeral: 32 random bytes, an X25519 private key for this message alone.
        nonce: 12 random bytes.

    Raises:
        WireError: If a size is wrong or the recipient's key is none.
    """
    _check_size(nonce, GCM_NONCE_SIZE, "nonce")
    key = _sender_key(recipient, ephemeral, DATA_INFO)
    return Data(
        ciphertext=ciphers.seal_aes(key, nonce, plaintext),
        nonce=nonce,
        ephemeral_pub=ciphers.x25519_public(ephemeral),
    )


def open_data(data: Data, key: SigningKey) -> bytes:
    """The direct message that was sealed for the owner of `key`.

    Raises:
        DecryptFailedError: If it does not open, or was not sealed for one user.
    """
    if data.nonce is None or data.ephemeral_pub is None:
        raise DecryptFailedError("the data was not sealed for one user")
    secret = _recipient_key(data.ephemeral_pub, key, DATA_INFO)
    return ciphers.open_aes(secret, data.nonce, data.ciphertext)


def sign_change(
    action: GroupAction, target_uid: bytes, *, group_id: str, timestamp: int, key: SigningKey
) -> MembershipChange:
    """A change of members, signed by the admin whose key this is.

    Raises:
        MalformedError: If the group, the member or the time cannot be written.
    """
    change = MembershipChange(
        action=action, target_uid=target_uid, admin_sig=UNSIGNED, timestamp=timestamp
    )
    signature = key.sign(admin_bytes(change, group_id=group_id))
    return msgspec.structs.replace(change, admin_sig=signature)


def verify_change(change: MembershipChange, *, group_id: str, admin: bytes) -> bool:
    """Whether the owner of the public key `admin` made this change to this group."""
    return verify(admin, admin_bytes(change, group_id=group_id), change.admin_sig)


def admin_bytes(change: MembershipChange, *, group_id: str) -> bytes:
    """What an admin signs (R25).

    Raises:
        MalformedError: If the group, the member or the time cannot be written.
    """
    writer = Writer()
    try:
        writer.put(group_id.encode(), "group id")
    except UnicodeEncodeError:
        raise MalformedError("the group id cannot be written as UTF-8") from None
    writer.put(change.target_uid, "target_uid", size=KEY_SIZE)
    writer.u64(change.timestamp, "timestamp")
    writer.put(_SIGNED_WORDS[change.action], "action")
    return writer.finish()


def _sender_key(recipient: bytes, ephemeral: bytes, info: bytes) -> bytes:
    _check_size(ephemeral, KEY_SIZE, "ephemeral key")
    try:
        public = exchange_public_key(recipient)
    except CryptoError:
        raise DecryptFailedError("the recipient's key is no Ed25519 public key") from None
    return ciphers.hkdf(ciphers.x25519(ephemeral, public), info=info)


def _recipient_key(ephemeral_public: bytes, key: SigningKey, info: bytes) -> bytes:
    return ciphers.hkdf(ciphers.x25519(key.exchange_key(), ephemeral_public), info=info)


def _written(message: M) -> bytes:
    """The map of `message`, read back so that nobody is sent what must be refused."""
    raw = put_map(message)
    take_map(type(message), raw)
    return raw


def _check_size(value: bytes, size: int, name: str) -> None:
    if len(value) != size:
        raise MalformedError(f"{name} must be {size} bytes, not {len(value)}")
