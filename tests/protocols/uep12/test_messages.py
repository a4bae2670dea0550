"""The table of message types."""

from wireloom.protocols.uep12.constants import Opcode
from wireloom.protocols.uep12.messages import TYPES


def test_there_is_a_class_for_every_opcode() -> None:
    assert set(TYPES) == {opcode.name for opcode in Opcode}
    assert {name: int(Opcode[name]) for name in TYPES} == {
        "CONTENT": 0x10,
        "MESSAGE_LIST": 0x11,
        "PULL_BY_HASH": 0x20,
        "PULL_BY_TIME": 0x21,
    }
