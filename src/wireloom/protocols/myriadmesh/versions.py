"""Which version two nodes speak with each other.

The specification lets a DISCOVERY advertise versions and gives it no field for them: bits 8
to 15 of the capabilities are that field here (R10).
"""

from collections.abc import Collection
from typing import Final

from wireloom.protocols.myriadmesh.constants import VERSION, Capability
from wireloom.wire.errors import UnsupportedVersionError

_BITS: Final = {version: Capability[f"VERSION_{version}"] for version in range(1, 9)}


def advertised(capabilities: Capability) -> frozenset[int]:
    """The versions that a node speaks; one that tells none speaks the first."""
    told = frozenset(version for version, bit in _BITS.items() if bit in capabilities)
    return told or frozenset((VERSION,))


def highest_common(ours: Collection[int], theirs: Collection[int]) -> int:
    """The version to use.

    Raises:
        UnsupportedVersionError: If there is no common one.
    """
    common = frozenset(ours) & frozenset(theirs)
    if not common:
        raise UnsupportedVersionError(f"we speak {sorted(ours)}, they {sorted(theirs)}")
    return max(common)
