"""The five protocols by name."""

import pytest

from protocols.dtn.samples import ACK, bundled, signed
from wireloom.registry import NAMES, protocol
from wireloom.wire.outcome import Auth

SAMPLE = bundled(signed(ACK))


def test_every_protocol_can_be_had_by_name() -> None:
    for name in NAMES:
        spoken = protocol(name)
        assert spoken.name == name
        assert spoken.messages.TYPES
        assert protocol(name) is spoken


def test_only_protocols_with_signatures_inside_messages_tell_of_them() -> None:
    told = {name: protocol(name).inner_auth(SAMPLE, ()) for name in NAMES}
    assert told.pop("dtn") is Auth.VALID
    assert set(told.values()) == {None}


def test_protocols_whose_frames_name_somebody_can_hide_it() -> None:
    told = {name: protocol(name).redaction for name in NAMES}
    assert {name for name, redaction in told.items() if redaction is not None} == {
        "cthun",
        "signalhub",
    }


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        protocol("smtp")


def test_two_protocols_sign() -> None:
    assert [name for name in NAMES if protocol(name).sign is not None] == ["dtn", "myriadmesh"]
