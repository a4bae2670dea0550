"""The registered actors: found by address, by renewal token, by capability, or page by page."""

import hmac
from bisect import bisect_left, insort
from collections.abc import Iterable
from sys import getsizeof
from typing import Any, Final

import msgspec

from wireloom.protocols.signalhub.envelope import ActorRegistration, Part
from wireloom.protocols.signalhub.hub.connections import Actor
from wireloom.protocols.signalhub.hub.encodings import wire_text
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.message import Message
from wireloom.wire.session import Forget, Store
from wireloom.wire.shares import Shares

KIND: Final = "registration"

_REGISTRATION_SIZE: Final = 2_560
_ADDRESS_COPIES: Final = 4
_CAPABILITY_SIZE: Final = 512
"""Bytes that a registration takes beside its text, how often its address is kept, and bytes that
each of its capabilities takes in the index."""

_write: Final = msgspec.json.Encoder().encode


class Listing(Part, frozen=True, kw_only=True):
    """What others may see of a registration: an `ActorRegistration` that is small in memory."""

    actor_address: str
    capabilities: tuple[str, ...]
    metadata: msgspec.Raw
    """JSON: as objects, it would take many times its size."""

    connection_id: str
    registered_at: int
    expires_at: int
    version: int


class StoredRegistration(Message, frozen=True, kw_only=True):
    """A registration as it is stored."""

    owner: str
    """The actor that registered it."""

    listing: Listing = msgspec.field(name="shown")
    """What others may see of it."""

    ttl_ms: int
    """For how long it was granted; a renewal grants the same again (R12)."""

    token: str
    """What renews it."""

    on_heartbeat: bool
    """Whether heartbeats renew it."""

    account: str = ""
    """Whose share it takes; empty in a record of an earlier version."""


_read: Final = msgspec.json.Decoder(StoredRegistration).decode
_read_listing: Final = msgspec.json.Decoder(ActorRegistration).decode


class Registration:
    """One registered address."""

    __slots__ = ("owner", "record", "size", "wire")

    def __init__(self, owner: Actor, record: StoredRegistration) -> None:
        self.owner = owner
        self.record = record
        self.size = weight(record)
        """Bytes that it takes in memory."""
        self.wire = wire_text(record.listing.actor_address)

    @property
    def address(self) -> str:
        """The registered address."""
        return self.record.listing.actor_address

    @property
    def expires_ms(self) -> int:
        """When it ends."""
        return self.record.listing.expires_at

    def store(self) -> Store:
        """Keeps it across a crash."""
        return Store(KIND, self.address, _write(self.record))

    def forget(self) -> Forget:
        """Keeps it no longer."""
        return Forget(KIND, self.address)


def restored(value: bytes) -> StoredRegistration | None:
    """A stored registration; None if it is none."""
    try:
        found = _read(value)
    except (msgspec.MsgspecError, UnicodeError):
        return None
    # What was read shares its bytes with the whole record.
    listing = msgspec.structs.replace(
        found.listing, metadata=msgspec.Raw(bytes(found.listing.metadata))
    )
    return msgspec.structs.replace(found, listing=listing, account=found.account or found.owner)


class Directory:
    """All registrations, sorted by address, and by capability.

    Args:
        settings: The hub's: its secret, and how much there may be.
    """

    def __init__(self, settings: HubSettings) -> None:
        self._secret = settings.secret
        self._by_address: dict[str, Registration] = {}
        self._by_token: dict[str, Registration] = {}
        self._by_capability: dict[str, dict[str, Registration]] = {}
        self.addresses: list[str] = []
        """Sorted."""
        self.shares = Shares(settings.max_actors, settings.max_registrations_size)

    def __len__(self) -> int:
        return len(self.addresses)

    def find(self, address: str, now_ms: int) -> Registration | None:
        """The registration of an address, if it has not ended."""
        found = self._by_address.get(address)
        return None if found is None or found.record.listing.expires_at <= now_ms else found

    def get(self, address: str) -> Registration | None:
        """The registration of an address, though its time may be over."""
        return self._by_address.get(address)

    def at(self, address: str) -> Registration:
        """The registration of an address that has one."""
        return self._by_address[address]

    def find_token(self, token: str, now_ms: int) -> Registration | None:
        """The registration that a token renews, if it has not ended."""
        found = self._by_token.get(token)
        return None if found is None or found.expires_ms <= now_ms else found

    def token(self, address: str, nonce: str) -> str:
        """A renewal token that only the hub can make.

        Args:
            address: What it renews.
            nonce: A text that was not used before.
        """
        return hmac.digest(self._secret, f"{nonce} {address}".encode(), "sha256").hex()

    def has_room(self, record: StoredRegistration) -> bool:
        """Whether its account may keep it, in the place of what is registered there (R52)."""
        before = self._by_address.get(record.listing.actor_address)
        count, size = 1, weight(record)
        if before is not None and before.record.account == record.account:
            count, size = 0, size - before.size
        return self.shares.fits(record.account, count, size)

    def put(self, owner: Actor, record: StoredRegistration) -> Registration:
        """Registers an address; what was registered there is replaced."""
        self.remove(record.listing.actor_address)
        registration = Registration(owner, record)
        address = registration.address
        self._by_address[address] = registration
        self._by_token[record.token] = registration
        for capability in set(record.listing.capabilities):
            self._by_capability.setdefault(capability, {})[address] = registration
        insort(self.addresses, address)
        self.shares.add(record.account, 1, registration.size)
        owner.enlist(address, registration.wire)
        return registration

    def renew(self, registration: Registration, now_ms: int, token: str | None = None) -> None:
        """Prolongs a registration by the time that it was granted at first (R12).

        Args:
            registration: Which.
            now_ms: The time.
            token: The next token, which counts as a new version; None keeps the old one (R47).
        """
        record = registration.record
        listing = msgspec.structs.replace(
            record.listing,
            expires_at=now_ms + record.ttl_ms,
            version=record.listing.version + (token is not None),
        )
        self._by_token.pop(record.token, None)
        registration.record = msgspec.structs.replace(
            record, listing=listing, token=token or record.token
        )
        self._by_token[registration.record.token] = registration

    def remove(self, address: str) -> Registration | None:
        """Takes an address out."""
        registration = self._by_address.pop(address, None)
        if registration is None:
            return None
        record = registration.record
        self._by_token.pop(record.token, None)
        for capability in set(record.listing.capabilities):
            named = self._by_capability[capability]
            del named[address]
            if not named:
                del self._by_capability[capability]
        del self.addresses[bisect_left(self.addresses, address)]
        self.shares.remove(record.account, 1, registration.size)
        registration.owner.strike(address)
        return registration

    def page(self, offset: int, limit: int) -> list[Registration]:
        """Registrations in the order of their addresses."""
        return [self._by_address[address] for address in self.addresses[offset : offset + limit]]

    def selected(self, capability: str | None) -> list[Registration]:
        """The registrations with a capability; all, if none is named."""
        if capability is None:
            return list(self._by_address.values())
        return list(self._by_capability.get(capability, {}).values())


def weight(record: StoredRegistration) -> int:
    """Bytes that a registration takes in memory: all its text, its entries and its objects."""
    listing = record.listing
    names = sum(getsizeof(name) + _CAPABILITY_SIZE for name in listing.capabilities)
    address = _ADDRESS_COPIES * getsizeof(listing.actor_address)
    return _REGISTRATION_SIZE + address + getsizeof(bytes(listing.metadata)) + names


def size(listing: Listing) -> int:
    """Bytes of a registration in an answer."""
    return len(_write(listing))


def answered(registrations: Iterable[Registration], *, text: bool) -> tuple[Any, ...]:
    """What others see of registrations, for an answer in JSON or in MessagePack."""
    listing = (one.record.listing for one in registrations)
    return tuple(listing if text else (_read_listing(_write(one)) for one in listing))
