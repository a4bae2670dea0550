import pytest

from wireloom.protocols.myriadmesh.constants import Capability
from wireloom.protocols.myriadmesh.versions import advertised, highest_common
from wireloom.wire.errors import UnsupportedVersionError


def test_a_node_that_tells_no_version_speaks_the_first() -> None:
    assert advertised(Capability.RELAY | Capability.LOCATION) == {1}


def test_bits_8_to_15_are_versions_1_to_8() -> None:
    assert advertised(Capability(0x8100)) == {1, 8}
    assert advertised(Capability(0x0200)) == {2}


def test_the_highest_common_version_is_used() -> None:
    assert highest_common({1, 2, 3}, {1, 2, 4}) == 2


def test_no_common_version_is_refused() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"we speak \[1\], they \[2\]"):
        highest_common({1}, {2})
