"""Registration and search: who is there, and for how long."""

from typing import Final

from msgspec import UNSET, Raw

from wireloom.protocols.signalhub import addresses
from wireloom.protocols.signalhub.constants import (
    DEFAULT_TTL_SECONDS,
    MAX_PAGE,
    MAX_REGISTRATION_SIZE,
    RENEWAL_STEP_MS,
    Detail,
    ErrorCode,
)
from wireloom.protocols.signalhub.hub.delivery import Delivery
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.dialects import JSON, exact
from wireloom.protocols.signalhub.hub.directory import (
    Directory,
    Record,
    Registration,
    Shown,
    answered,
    size,
)
from wireloom.protocols.signalhub.hub.roster import Actor, Connection
from wireloom.protocols.signalhub.hub.search import Searches
from wireloom.protocols.signalhub.hub.topics import Topics
from wireloom.protocols.signalhub.messages import (
    ActorList,
    Discover,
    ListActors,
    Register,
    Registered,
    Renew,
    Renewed,
    Unregister,
)
from wireloom.protocols.signalhub.payloads import (
    ActorListPayload,
    RegisteredPayload,
    RenewedPayload,
)
from wireloom.wire.outcome import Reason
from wireloom.wire.session import Conclude, WakeAt

REGISTRATION_TIMER: Final = "registration"
_SECOND_MS: Final = 1_000


class Discovery:
    """The hub's directory, as clients use it."""

    def __init__(self, desk: Desk, directory: Directory, topics: Topics, delivery: Delivery):
        self._desk = desk
        self.directory = directory
        self._topics = topics
        self._delivery = delivery
        self.searches = Searches(desk, directory)

    def handle_register(self, connection: Connection, message: Register) -> Conclude:
        """Registers an address for the client's actor, and delivers what waits there."""
        desk, address = self._desk, message.payload.actor_address
        if not self._is_entitled(connection, address):
            return desk.forbid(connection, message, "register", "the address is not the client's")
        slowed = desk.slowed(connection, message, connection.allowance.registrations)
        if slowed:
            return slowed
        record = self._record(connection, message)
        if size(record.shown) > MAX_REGISTRATION_SIZE:
            return desk.too_large(
                connection, size(record.shown), message.id, to=connection.name(message)
            )
        if not self._has_room(connection.actor, record):
            text = "No more registrations are taken"
            return desk.full(connection, message, text, Detail.LIMIT_REACHED)
        raw = self._register(connection, record, message)
        self._delivery.flush_address(address)
        return desk.done(connection, message, raw)

    def handle_unregister(self, connection: Connection, message: Unregister) -> Conclude:
        """Forgets a registration of the client's own; none is as good as forgotten."""
        desk, address = self._desk, message.payload.actor_address
        registration = self.directory.find(address, desk.now_ms)
        if registration is not None and registration.owner is not connection.actor:
            return desk.forbid(connection, message, "unregister", "the address is not the client's")
        if registration is not None:
            self.remove(registration)
        return desk.done(connection, message)

    def handle_discover(self, connection: Connection, message: Discover) -> Conclude:
        """Answers with the actors whose addresses match a pattern."""
        slowed = self._desk.slowed(connection, message, connection.allowance.searches)
        return slowed or self.searches.begin(connection, message)

    def handle_list_actors(self, connection: Connection, message: ListActors) -> Conclude:
        """Answers with one page of all actors."""
        slowed = self._desk.slowed(connection, message, connection.allowance.searches)
        if slowed:
            return slowed
        asked = message.payload
        offset = 0 if asked.offset is UNSET else asked.offset
        limit = MAX_PAGE if asked.limit is UNSET else asked.limit
        total = len(self.directory)
        payload = ActorListPayload(
            actors=answered(self.directory.page(offset, limit), text=connection.text),
            total=total,
            offset=offset,
            limit=limit,
            has_more=offset + limit < total,
        )
        self._desk.answer(connection, message, ActorList, payload)
        return connection.accepted

    def handle_renew(self, connection: Connection, message: Renew) -> Conclude:
        """Prolongs a registration of the client's own and gives out its next token."""
        desk = self._desk
        registration = self.directory.find_token(message.payload.renewal_token, desk.now_ms)
        if registration is None or registration.owner is not connection.actor:
            return self._refuse_renewal(connection, message)
        token = self.directory.token(registration.address, desk.next_id())
        self.directory.renew(registration, desk.now_ms, token)
        desk.out.append(registration.store())
        payload = RenewedPayload(expires_at=registration.expires_ms, renewal_token=token)
        raw = desk.answer(connection, message, Renewed, payload)
        return desk.done(connection, message, raw)

    def _refuse_renewal(self, connection: Connection, message: Renew) -> Conclude:
        """Says so with `hub:error`: the specification names no other answer (R4)."""
        self._desk.fail(
            connection,
            ErrorCode.UNAUTHORIZED,
            "The renewal token does not hold",
            answers=message.id,
            to=connection.name(message),
        )
        return self._desk.refused(connection, Reason.UNAUTHORIZED)

    def renew_by_heartbeat(self, actor: Actor) -> None:
        """Prolongs the registrations that were made so; their tokens stay as they are."""
        for address in sorted(actor.registrations):
            registration = self.directory.find(address, self._desk.now_ms)
            if registration is not None and self._is_due(registration):
                self.directory.renew(registration, self._desk.now_ms)
                self._desk.out.append(registration.store())

    def _is_due(self, registration: Registration) -> bool:
        """Whether a heartbeat renews it: not so often that each is one for the disk (R47)."""
        record = registration.record
        since_ms = self._desk.now_ms - (registration.expires_ms - record.ttl_ms)
        return record.on_heartbeat and since_ms >= RENEWAL_STEP_MS

    def expire(self, address: str) -> None:
        """Ends a registration whose time is over; one that was renewed is looked at later."""
        registration = self.directory.get(address)
        if registration is None:
            return
        if registration.expires_ms > self._desk.now_ms:
            self.watch(registration)
        else:
            self.remove(registration)

    def watch(self, registration: Registration) -> None:
        """Sets the timer for the end of a registration."""
        timer = (REGISTRATION_TIMER, registration.address)
        self._desk.out.append(WakeAt(timer, registration.expires_ms))

    def remove(self, registration: Registration) -> None:
        """Ends a registration."""
        self.directory.remove(registration.address)
        self._desk.out.append(registration.forget())
        self._settle(registration.owner)

    def _settle(self, owner: Actor) -> None:
        """Takes the subscriptions of an absent actor that has no registration left (R42)."""
        if owner.connection is None and not owner.registrations:
            self._desk.out.extend(self._topics.clear(owner))
        self._desk.roster.release(owner)

    def _is_entitled(self, connection: Connection, address: str) -> bool:
        """Whether a client may register an address: its own, or one below it (R44)."""
        settings = self._desk.settings
        if address == settings.address or not addresses.is_kept(address):
            return False
        own = connection.address
        return not settings.auth or address == own or address.startswith(f"{own[:-1]}/")

    def _has_room(self, actor: Actor, record: Record) -> bool:
        is_new = record.shown.actor_address not in actor.registrations
        if is_new and len(actor.registrations) >= self._desk.settings.max_registrations:
            return False
        return self.directory.has_room(record)

    def _record(self, connection: Connection, message: Register) -> Record:
        desk, asked = self._desk, message.payload
        before = self.directory.find(asked.actor_address, desk.now_ms)
        seconds = DEFAULT_TTL_SECONDS if asked.ttl_seconds is UNSET else asked.ttl_seconds
        shown = Shown(
            actor_address=asked.actor_address,
            capabilities=asked.capabilities,
            metadata=Raw(exact(JSON.write(asked.metadata))),
            connection_id=connection.id,
            registered_at=desk.now_ms,
            expires_at=desk.now_ms + seconds * _SECOND_MS,
            version=1 if before is None else before.record.shown.version + 1,
        )
        wish = message.metadata
        return Record(
            owner=connection.address,
            shown=shown,
            ttl_ms=seconds * _SECOND_MS,
            token=self.directory.token(asked.actor_address, desk.next_id()),
            on_heartbeat=wish is not UNSET and wish.renew_on_heartbeat is True,
            account=connection.account,
        )

    def _register(self, connection: Connection, record: Record, message: Register) -> bytes:
        desk = self._desk
        before = self.directory.get(record.shown.actor_address)
        registration = self.directory.put(connection.actor, record)
        if before is not None:
            self._settle(before.owner)
        desk.out.append(registration.store())
        self.watch(registration)
        payload = RegisteredPayload(
            actor_address=record.shown.actor_address,
            expires_at=record.shown.expires_at,
            renewal_token=record.token,
            version=record.shown.version,
        )
        return desk.answer(connection, message, Registered, payload)
