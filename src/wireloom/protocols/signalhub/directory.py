"""The registered actors: found by address, by renewal token, by pattern, or page by page."""

import hmac
from bisect import bisect_left, insort
from typing import Final

import msgspec

from wireloom.protocols.signalhub.addresses import matches
from wireloom.protocols.signalhub.dialects import written
from wireloom.protocols.signalhub.envelope import ActorRegistration
from wireloom.protocols.signalhub.roster import Actor
from wireloom.wire.message import Message
from wireloom.wire.session import Forget, Store

KIND: Final = "registration"

_write: Final = msgspec.json.Encoder().encode


class Record(Message, frozen=True, kw_only=True):
    """A registration as it is stored."""

    owner: str
    """The actor that registered it."""

    shown: ActorRegistration
    """What others may see of it."""

    ttl_ms: int
    """For how long it was granted; a renewal grants the same again (R12)."""

    token: str
    """What renews it."""

    on_heartbeat: bool
    """Whether heartbeats renew it."""


_read: Final = msgspec.json.Decoder(Record).decode


class Registration:
    """One registered address."""

    __slots__ = ("owner", "record", "written")

    def __init__(self, owner: Actor, record: Record) -> None:
        self.owner = owner
        self.record = record
        self.written = written(record.shown.actor_address)

    @property
    def address(self) -> str:
        """The registered address."""
        return self.record.shown.actor_address

    @property
    def expires_ms(self) -> int:
        """When it ends."""
        return self.record.shown.expires_at

    def store(self) -> Store:
        """Keeps it across a crash."""
        return Store(KIND, self.address, _write(self.record))

    def forget(self) -> Forget:
        """Keeps it no longer."""
        return Forget(KIND, self.address)


def restored(value: bytes) -> Record | None:
    """A stored registration; None if it is none."""
    try:
        return _read(value)
    except msgspec.MsgspecError:
        return None


class Directory:
    """All registrations, sorted by address.

    Args:
        secret: What renewal tokens are derived from.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._by_address: dict[str, Registration] = {}
        self._by_token: dict[str, Registration] = {}
        self._addresses: list[str] = []

    def __len__(self) -> int:
        return len(self._addresses)

    def find(self, address: str, now_ms: int) -> Registration | None:
        """The registration of an address, if it has not ended."""
        found = self._by_address.get(address)
        return None if found is None or found.record.shown.expires_at <= now_ms else found

    def get(self, address: str) -> Registration | None:
        """The registration of an address, though its time may be over."""
        return self._by_address.get(address)

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

    def put(self, owner: Actor, record: Record) -> Registration:
        """Registers an address; what was registered there is replaced."""
        self.remove(record.shown.actor_address)
        registration = Registration(owner, record)
        self._by_address[registration.address] = registration
        self._by_token[record.token] = registration
        insort(self._addresses, registration.address)
        owner.enlist(registration.address, registration.written)
        return registration

    def renew(self, registration: Registration, now_ms: int, token: str | None = None) -> None:
        """Prolongs a registration by the time that it was granted at first (R12).

        Args:
            registration: Which.
            now_ms: The time.
            token: The next token, which counts as a new version; None keeps the old one (R47).
        """
        record = registration.record
        shown = msgspec.structs.replace(
            record.shown,
            expires_at=now_ms + record.ttl_ms,
            version=record.shown.version + (token is not None),
        )
        self._by_token.pop(record.token, None)
        registration.record = msgspec.structs.replace(
            record, shown=shown, token=token or record.token
        )
        self._by_token[registration.record.token] = registration

    def remove(self, address: str) -> Registration | None:
        """Takes an address out."""
        registration = self._by_address.pop(address, None)
        if registration is not None:
            self._by_token.pop(registration.record.token, None)
            del self._addresses[bisect_left(self._addresses, address)]
            registration.owner.strike(address)
        return registration

    def page(self, offset: int, limit: int) -> list[ActorRegistration]:
        """Registrations in the order of their addresses."""
        return [
            self._by_address[address].record.shown
            for address in self._addresses[offset : offset + limit]
        ]

    def search(self, pattern: str, count: int) -> list[ActorRegistration]:
        """The first registrations whose address matches a pattern (R27).

        Only addresses that begin as the pattern does are looked at.
        """
        prefix = pattern.partition("*")[0]
        found: list[ActorRegistration] = []
        for index in range(bisect_left(self._addresses, prefix), len(self._addresses)):
            address = self._addresses[index]
            if len(found) == count or not address.startswith(prefix):
                break
            if matches(pattern, address):
                found.append(self._by_address[address].record.shown)
        return found

    def selected(
        self, capability: str | None, without: Actor | Registration | None
    ) -> list[Registration]:
        """The registrations with a capability, but for one of them or those of one actor."""
        return [
            one
            for one in self._by_address.values()
            if (capability is None or capability in one.record.shown.capabilities)
            and one.owner is not without
            and one is not without
        ]


def size(shown: ActorRegistration) -> int:
    """Bytes of a registration in an answer."""
    return len(_write(shown))
