"""Invitations, changes of members and direct messages, sealed and opened."""

from typing import Any

import cbor2
import msgspec
import pytest

from protocols.dtn.samples import KEY, NO_SIG, NOW, ONES, OTHER_KEY, TWOS, UID
from support.cases import vectors
from wireloom.protocols.dtn.codec import decode, encode
from wireloom.protocols.dtn.constants import GroupAction
from wireloom.protocols.dtn.messages import Data, GroupInviteMsg, GroupUpdateMsg
from wireloom.protocols.dtn.sealing import (
    Invitation,
    MembershipChange,
    admin_bytes,
    open_data,
    open_invite,
    open_update,
    seal_data,
    seal_invite,
    seal_update,
    sign_change,
    verify_change,
)
from wireloom.wire import ciphers
from wireloom.wire.errors import DecryptFailedError, MalformedError, WireError

EPHEMERAL = bytes(range(32))
NONCE24, NONCE12 = b"n" * 24, b"n" * 12
GROUP = "group:hiking-club"
INVITATION = Invitation(
    group_id=GROUP,
    display_name="Hiking club",
    group_key=ONES,
    admin_pub_key=KEY.public,
    invited_at=NOW,
)
CHANGE = sign_change(GroupAction.ADD_MEMBER, TWOS, group_id=GROUP, timestamp=NOW, key=KEY)


def invite(**changes: Any) -> GroupInviteMsg:
    arguments = {"ephemeral": EPHEMERAL, "nonce": NONCE24} | changes
    return seal_invite(INVITATION, OTHER_KEY.public, **arguments)


@pytest.mark.parametrize(
    "vector", [v for v in vectors("dtn") if v.get("check") == "xchacha20poly1305"]
)
def test_the_cipher_of_invitations_is_the_draft_s(vector: dict[str, Any]) -> None:
    expect = {key: bytes.fromhex(value) for key, value in vector["expect"].items() if key != "ok"}
    key, nonce, aad = expect["key"], expect["nonce"], expect["aad"]
    sealed = bytes.fromhex(vector["hex"])
    assert ciphers.seal_xchacha(key, nonce, expect["plaintext"], aad=aad) == sealed
    assert ciphers.open_xchacha(key, nonce, sealed, aad=aad) == expect["plaintext"]


def test_an_invitation_opens_for_its_recipient_only() -> None:
    message = decode(encode(invite()))
    assert isinstance(message, GroupInviteMsg)
    assert open_invite(message, OTHER_KEY) == INVITATION
    with pytest.raises(DecryptFailedError):
        open_invite(message, KEY)
    with pytest.raises(DecryptFailedError):
        open_invite(msgspec.structs.replace(message, nonce=b"m" * 24), OTHER_KEY)


def test_the_key_of_an_invitation_comes_from_hkdf_with_its_own_context() -> None:
    message = invite()
    secret = ciphers.x25519(OTHER_KEY.exchange_key(), message.ephemeral_pub_key)
    key = ciphers.hkdf(secret, info=b"GroupInvite")
    plain = cbor2.loads(ciphers.open_xchacha(key, NONCE24, message.encrypted_payload))
    assert list(plain) == ["groupId", "groupKey", "invitedAt", "adminPubKey", "displayName"]


@pytest.mark.parametrize(
    "changes", [{"nonce": bytes(12)}, {"ephemeral": bytes(31)}, {"nonce": b""}]
)
def test_sizes_are_checked_before_sealing(changes: dict[str, bytes]) -> None:
    with pytest.raises(MalformedError, match="must be"):
        invite(**changes)


def test_a_recipient_needs_a_real_key() -> None:
    for wrong in (b"\xff" * 32, bytes(31)):
        with pytest.raises(WireError):
            seal_invite(INVITATION, wrong, ephemeral=EPHEMERAL, nonce=NONCE24)


def test_an_ephemeral_key_that_gives_no_secret_does_not_open() -> None:
    with pytest.raises(DecryptFailedError):
        open_invite(msgspec.structs.replace(invite(), ephemeral_pub_key=bytes(32)), OTHER_KEY)


def test_an_invitation_that_nobody_could_read_is_not_sealed() -> None:
    bad = msgspec.structs.replace(INVITATION, group_key=bytes(31))
    with pytest.raises(MalformedError, match="groupKey"):
        seal_invite(bad, OTHER_KEY.public, ephemeral=EPHEMERAL, nonce=NONCE24)


def sealed_update(document: dict[str, Any]) -> GroupUpdateMsg:
    return GroupUpdateMsg(
        encrypted_payload=ciphers.seal_aes(ONES, NONCE12, cbor2.dumps(document)), nonce=NONCE12
    )


PLAIN = {"action": "ADD_MEMBER", "targetUid": TWOS, "adminSig": NO_SIG, "timestamp": NOW}


def test_a_change_opens_with_the_group_key_only() -> None:
    message = decode(encode(seal_update(CHANGE, ONES, nonce=NONCE12)))
    assert isinstance(message, GroupUpdateMsg)
    assert open_update(message, ONES) == CHANGE
    for wrong in (TWOS, b"short"):
        with pytest.raises(DecryptFailedError):
            open_update(message, wrong)


@pytest.mark.parametrize(
    ("word", "action"),
    [
        ("ADD", GroupAction.ADD_MEMBER),
        ("REMOVE", GroupAction.REMOVE_MEMBER),
        ("REMOVE_MEMBER", GroupAction.REMOVE_MEMBER),
    ],
)
def test_short_words_for_an_action_are_understood(word: str, action: GroupAction) -> None:
    assert open_update(sealed_update(PLAIN | {"action": word}), ONES).action is action


@pytest.mark.parametrize(
    "changes",
    [
        {"action": "PROMOTE"},
        {"action": 0},
        {"action": "add"},
        {"targetUid": bytes(31)},
        {"adminSig": bytes(63)},
        {"timestamp": -1},
    ],
)
def test_a_change_that_breaks_a_rule_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        open_update(sealed_update(PLAIN | changes), ONES)


def test_unknown_keys_within_are_kept() -> None:
    assert open_update(sealed_update(PLAIN | {"why": "left"}), ONES).extra == {"why": "left"}


@pytest.mark.parametrize(("key", "nonce"), [(bytes(31), NONCE12), (ONES, bytes(11))])
def test_sizes_are_checked_before_a_change_is_sealed(key: bytes, nonce: bytes) -> None:
    with pytest.raises(MalformedError, match="must be"):
        seal_update(CHANGE, key, nonce=nonce)


def test_an_admin_signs_group_member_time_and_word() -> None:
    at = bytes.fromhex("0000018cc251f400")
    assert admin_bytes(CHANGE, group_id=GROUP) == GROUP.encode() + TWOS + at + b"ADD"
    removal = msgspec.structs.replace(CHANGE, action=GroupAction.REMOVE_MEMBER)
    assert admin_bytes(removal, group_id=GROUP).endswith(at + b"REMOVE")


def test_a_change_verifies_for_its_group_and_admin_only() -> None:
    assert verify_change(CHANGE, group_id=GROUP, admin=KEY.public)
    assert not verify_change(CHANGE, group_id="group:other", admin=KEY.public)
    assert not verify_change(CHANGE, group_id=GROUP, admin=OTHER_KEY.public)
    later = msgspec.structs.replace(CHANGE, timestamp=NOW + 1)
    assert not verify_change(later, group_id=GROUP, admin=KEY.public)


@pytest.mark.parametrize(
    ("group", "changes"),
    [("\ud800", {}), (GROUP, {"target_uid": UID[:31]}), (GROUP, {"timestamp": -1})],
)
def test_what_cannot_be_written_cannot_be_signed(group: str, changes: dict[str, Any]) -> None:
    change: MembershipChange = msgspec.structs.replace(CHANGE, **changes)
    with pytest.raises(MalformedError):
        admin_bytes(change, group_id=group)


def test_a_direct_message_opens_for_its_recipient_only() -> None:
    data = seal_data(b"hello", OTHER_KEY.public, ephemeral=EPHEMERAL, nonce=NONCE12)
    assert open_data(data, OTHER_KEY) == b"hello"
    with pytest.raises(DecryptFailedError):
        open_data(data, KEY)
    with pytest.raises(MalformedError, match="nonce must be 12"):
        seal_data(b"hello", OTHER_KEY.public, ephemeral=EPHEMERAL, nonce=NONCE24)


@pytest.mark.parametrize("data", [Data(ciphertext=b""), Data(ciphertext=b"", nonce=NONCE12)])
def test_data_for_no_one_user_does_not_open(data: Data) -> None:
    with pytest.raises(DecryptFailedError, match="one user"):
        open_data(data, KEY)
