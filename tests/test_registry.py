"""The five protocols by name."""

import pytest

from wireloom.registry import NAMES, protocol


def test_every_protocol_can_be_had_by_name() -> None:
    for name in NAMES:
        spoken = protocol(name)
        assert spoken.name == name
        assert spoken.messages.TYPES
        assert protocol(name) is spoken


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        protocol("smtp")
