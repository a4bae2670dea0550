"""What many owners keep in one bounded place, so that none of them can fill it for the others.

An owner may keep as much as is still free: alone it gets half of the place, two get a third
each, and whoever comes next always finds room. Nothing that is kept makes way for something new.

An owner is whoever was verified. Where nobody is, it is the network that a peer speaks from.
"""

from collections.abc import Hashable
from ipaddress import IPv6Address, ip_address
from typing import Final

_NETWORK_BITS: Final = 64
"""What of an IPv6 address names a network; the rest its users choose as they like."""


def network(peer: str) -> str:
    """The network that a peer speaks from: its address without the port.

    Of an IPv6 address it is the first half, since one user has all of the second.

    Args:
        peer: Its address, as people write it (`192.0.2.1:80`, `[2001:db8::1]:80`).
    """
    host = peer.rpartition(":")[0].strip("[]") or peer
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    spare = address.max_prefixlen - _NETWORK_BITS
    return f"{IPv6Address(int(address) >> spare << spare)}/{_NETWORK_BITS}"


class Share:
    """What one owner keeps."""

    __slots__ = ("count", "size")

    def __init__(self) -> None:
        self.count = 0
        self.size = 0


class Shares:
    """A place with room for so many things of so many bytes in all.

    Args:
        max_count: How many things may be kept.
        max_size: How many bytes they may have together; whole records count, not payloads.
    """

    def __init__(self, max_count: int, max_size: int) -> None:
        self._max_count = max_count
        self._max_size = max_size
        self._by_owner: dict[Hashable, Share] = {}
        self.count = 0
        """How many things are kept."""
        self.size = 0
        """How many bytes they have."""

    def fits(self, owner: Hashable, count: int, size: int) -> bool:
        """Whether an owner may keep so much more: no more than is free for others after it.

        What takes no more than before (a replacement) always fits.
        """
        mine = self._by_owner.get(owner)
        kept_count, kept_size = (mine.count, mine.size) if mine else (0, 0)
        free_count = self._max_count - self.count - count
        free_size = self._max_size - self.size - size
        return (count <= 0 or kept_count + count <= free_count + 1) and (
            size <= 0 or kept_size + size <= free_size
        )

    def add(self, owner: Hashable, count: int, size: int) -> None:
        """Counts what an owner keeps from now on, whether it fits or not."""
        mine = self._by_owner.get(owner)
        if mine is None:
            mine = self._by_owner[owner] = Share()
        mine.count += count
        mine.size += size
        self.count += count
        self.size += size

    def remove(self, owner: Hashable, count: int, size: int) -> None:
        """Counts what an owner no longer keeps."""
        mine = self._by_owner[owner]
        mine.count -= count
        mine.size -= size
        self.count -= count
        self.size -= size
        if not mine.count:
            del self._by_owner[owner]
