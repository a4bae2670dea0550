"""The protocols by name."""

import pytest

from protocols.dtn.samples import ACK, bundled, signed
from wireloom.registry import BUILT_IN, NAMES, every, protocol
from wireloom.wire import content as wire_content
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


def test_without_further_protocols_there_are_the_five() -> None:
    assert NAMES == BUILT_IN
    assert [one.name for one in every()] == list(NAMES)


def test_modules_outside_a_protocols_package_are_named_after_it() -> None:
    spoken = protocol("cthun")
    assert spoken.package == "wireloom.protocols.cthun"
    assert spoken.endpoint_module == "wireloom.live.endpoints.cthun"
    assert spoken.evidence_module == "wireloom.pipeline.transforms.evidence.cthun"


def test_three_protocols_carry_a_proof() -> None:
    assert [one.name for one in every() if one.has_proof] == ["dtn", "myriadmesh", "uep12"]


def test_two_protocols_announce_keys() -> None:
    assert [one.name for one in every() if one.announcement is not None] == ["dtn", "myriadmesh"]


def test_one_protocol_has_frames_within_frames() -> None:
    assert [one.name for one in every() if one.batches is not None] == ["myriadmesh"]


def test_what_a_protocol_does_not_say_is_the_default() -> None:
    whole = [one.name for one in every() if one.content is wire_content]
    assert whole == ["signalhub", "uep12"]
    assert [one.name for one in every() if one.sound_auth is not None] == ["myriadmesh"]


@pytest.mark.parametrize("name", NAMES)
def test_every_protocol_has_columns_of_its_name(name: str) -> None:
    assert name in protocol(name).columns.COLUMN.schema.names
