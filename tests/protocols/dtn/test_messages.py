"""The list of message types."""

from protocols.dtn.samples import DATA, HOP_ACK, SAMPLES, bundled
from wireloom.protocols.dtn.constants import PRIORITIES, MsgType
from wireloom.protocols.dtn.maps import put_map
from wireloom.protocols.dtn.messages import ALL_TYPES, DEPRECATED, TYPES, Data, DeliveryReceipt

SEED = {
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


def test_the_eleven_types_of_the_specification_and_data_are_read() -> None:
    assert {int(cls.number): name for name, cls in ALL_TYPES.items()} == {0: "Data", **SEED}


def test_all_but_the_deprecated_one_are_composed() -> None:
    assert {DeliveryReceipt} == DEPRECATED
    assert set(ALL_TYPES) - set(TYPES) == {"DeliveryReceipt"}
    assert TYPES["Data"] is Data


def test_every_type_has_a_priority() -> None:
    assert set(PRIORITIES) == set(MsgType)
    urgent = {kind for kind, priority in PRIORITIES.items() if priority == 0}
    assert {int(kind) for kind in urgent} == {2, 3, 8, 9, 12}
    assert [int(kind) for kind, priority in PRIORITIES.items() if priority == 2] == [4]


def test_a_message_tells_its_number() -> None:
    assert HOP_ACK.msg_type is MsgType.HOP_ACK
    assert SAMPLES["SubMsg"].derived == ("msg_type",)


def test_a_bundle_derives_its_lengths() -> None:
    bundle = bundled(DATA)
    assert bundle.header_length == len(put_map(bundle.header))
    assert bundle.payload_length == len(put_map(DATA))
