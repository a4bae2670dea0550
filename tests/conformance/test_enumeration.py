"""Every message type of the five specifications, written out from their own tables."""

from wireloom.protocols.cthun import messages as cthun
from wireloom.protocols.dtn import messages as dtn
from wireloom.protocols.dtn.constants import MsgType
from wireloom.protocols.myriadmesh import messages as myriadmesh
from wireloom.protocols.myriadmesh.constants import MessageType
from wireloom.protocols.signalhub import messages as signalhub
from wireloom.protocols.uep12 import messages as uep12
from wireloom.protocols.uep12.constants import Opcode

CTHUN = {
    "associate_request",
    "associate_response",
    "destination_report",
    "error_message",
    "inventory_request",
    "inventory_response",
    "ttl_expired",
}

DTN = {
    1: "SubMsg",
    2: "HopAck",
    3: "DeliveryReceipt",
    4: "LinkMetrics",
    5: "Payment",
    6: "GroupInviteMsg",
    7: "GroupUpdateMsg",
    8: "DeliveryAck",
    9: "DeliveryCancel",
    10: "GroupAnnounceMsg",
    12: "ConfigUpdate",
}

MYRIADMESH = {
    0x01: "DATA",
    0x02: "CONTROL",
    0x03: "DHT_QUERY",
    0x04: "DHT_RESPONSE",
    0x05: "DHT_STORE",
    0x06: "DISCOVERY",
    0x07: "HEARTBEAT",
    0x08: "KEY_EXCHANGE",
    0x09: "LEDGER_BLOCK",
    0x0A: "LEDGER_QUERY",
    0x0B: "TEST_REQUEST",
    0x0C: "TEST_RESPONSE",
    0x0D: "ROUTE_REQUEST",
    0x0E: "ROUTE_RESPONSE",
    0x0F: "DATA_BATCH",
}

SIGNALHUB = {
    "connection": "connect connected heartbeat heartbeat_ack disconnect",
    "discovery": (
        "register registered unregister discover discovered list_actors actor_list renew renewed"
    ),
    "delivery": (
        "send delivery_ack broadcast broadcast_ack subscribe subscribed publish published "
        "unsubscribe"
    ),
    "flow control": "pause resume queue_stats queue_stats_response",
    "errors": ("error unknown_actor unauthorized rate_limited version_mismatch message_too_large"),
}

UEP12 = {0x10: "CONTENT", 0x11: "MESSAGE_LIST", 0x20: "PULL_BY_HASH", 0x21: "PULL_BY_TIME"}


def test_cthun_has_seven_broker_messages() -> None:
    assert len(CTHUN) == 7
    assert set(cthun.TYPES) == {f"http://puppetlabs.com/{name}" for name in CTHUN}


def test_dtn_has_eleven_control_messages_and_data() -> None:
    assert len(DTN) == 11
    assert {int(cls.number): cls.__name__ for cls in dtn.ALL_TYPES.values()} == {
        **DTN,
        0: "Data",
    }
    assert set(dtn.ALL_TYPES) - set(dtn.TYPES) == {"DeliveryReceipt"}
    assert {int(member) for member in MsgType} == {0, *DTN}


def test_myriadmesh_has_fourteen_types_and_the_batch() -> None:
    assert len(MYRIADMESH) == 15
    assert {int(member): member.name for member in MessageType} == MYRIADMESH
    assert set(myriadmesh.TYPES) == set(MYRIADMESH.values())


def test_signalhub_has_thirty_three_types() -> None:
    names = [f"hub:{name}" for group in SIGNALHUB.values() for name in group.split()]
    assert len(names) == 33
    assert list(signalhub.TYPES) == names


def test_uep12_has_four_messages() -> None:
    assert {int(member): member.name for member in Opcode} == UEP12
    assert set(uep12.TYPES) == set(UEP12.values())
