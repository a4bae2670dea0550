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
from wireloom.protocols.signalhub.hub.answers import Answers, fault, refused
from wireloom.protocols.signalhub.hub.connections import Actor, Client, Clients
from wireloom.protocols.signalhub.hub.delivery import Delivery
from wireloom.protocols.signalhub.hub.directory import (
    Directory,
    Listing,
    Registration,
    StoredRegistration,
    answered,
    size,
)
from wireloom.protocols.signalhub.hub.encodings import JSON, exact
from wireloom.protocols.signalhub.hub.search import Searches
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.hub.topics import Topics
from wireloom.protocols.signalhub.messages import (
    ActorList,
    Discover,
    Error,
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
from wireloom.wire.session import Conclude, Turn, WakeAt

REGISTRATION_TIMER: Final = "registration"
_SECOND_MS: Final = 1_000


class Discovery:
    """The hub's directory, as clients use it.

    Args:
        settings: The hub's.
        answers: What answers clients.
        clients: Who is connected.
        directory: Who is registered.
        topics: Who has subscribed.
        delivery: Where messages wait for those who register.
    """

    def __init__(
        self,
        settings: HubSettings,
        answers: Answers,
        clients: Clients,
        directory: Directory,
        topics: Topics,
        delivery: Delivery,
    ) -> None:
        self._settings = settings
        self._answers = answers
        self._clients = clients
        self.directory = directory
        self._topics = topics
        self._delivery = delivery
        self.searches = Searches(answers, directory)

    def handle_register(self, turn: Turn, client: Client, message: Register) -> Conclude:
        """Registers an address for the client's actor, and delivers what waits there."""
        address = message.payload.actor_address
        if not self._is_entitled(client, address):
            return self._answers.forbid(
                turn, client, message, "register", "the address is not the client's"
            )
        slowed = self._answers.check_rate(turn, client, message, client.allowance.registrations)
        if slowed:
            return slowed
        record = self._record(turn, client, message)
        if size(record.listing) > MAX_REGISTRATION_SIZE:
            return self._answers.too_large(
                turn, client, size(record.listing), message.id, to=client.name(message)
            )
        if not self._has_room(client.actor, record):
            text = "No more registrations are taken"
            return self._answers.full(turn, client, message, text, Detail.LIMIT_REACHED)
        raw = self._register(turn, client, record, message)
        self._delivery.flush_address(turn, address)
        return self._answers.done(client, message, raw)

    def handle_unregister(self, turn: Turn, client: Client, message: Unregister) -> Conclude:
        """Forgets a registration of the client's own; none is as good as forgotten."""
        address = message.payload.actor_address
        registration = self.directory.find(address, turn.now_ms)
        if registration is not None and registration.owner is not client.actor:
            return self._answers.forbid(
                turn, client, message, "unregister", "the address is not the client's"
            )
        if registration is not None:
            self.remove(turn, registration)
        return self._answers.done(client, message)

    def handle_discover(self, turn: Turn, client: Client, message: Discover) -> Conclude:
        """Answers with the actors whose addresses match a pattern."""
        slowed = self._answers.check_rate(turn, client, message, client.allowance.searches)
        return slowed or self.searches.begin(turn, client, message)

    def handle_list_actors(self, turn: Turn, client: Client, message: ListActors) -> Conclude:
        """Answers with one page of all actors."""
        slowed = self._answers.check_rate(turn, client, message, client.allowance.searches)
        if slowed:
            return slowed
        asked = message.payload
        offset = 0 if asked.offset is UNSET else asked.offset
        limit = MAX_PAGE if asked.limit is UNSET else asked.limit
        total = len(self.directory)
        payload = ActorListPayload(
            actors=answered(self.directory.page(offset, limit), text=client.text),
            total=total,
            offset=offset,
            limit=limit,
            has_more=offset + limit < total,
        )
        self._answers.answer(turn, client, message, ActorList, payload)
        return client.accepted

    def handle_renew(self, turn: Turn, client: Client, message: Renew) -> Conclude:
        """Prolongs a registration of the client's own and gives out its next token."""
        registration = self.directory.find_token(message.payload.renewal_token, turn.now_ms)
        if registration is None or registration.owner is not client.actor:
            return self._refuse_renewal(turn, client, message)
        token = self.directory.token(registration.address, turn.ids.next())
        self.directory.renew(registration, turn.now_ms, token)
        turn.commands.append(registration.store())
        payload = RenewedPayload(expires_at=registration.expires_ms, renewal_token=token)
        raw = self._answers.answer(turn, client, message, Renewed, payload)
        return self._answers.done(client, message, raw)

    def _refuse_renewal(self, turn: Turn, client: Client, message: Renew) -> Conclude:
        """Says so with `hub:error`: the specification names no other answer (R4)."""
        payload = fault(ErrorCode.UNAUTHORIZED, "The renewal token does not hold")
        self._answers.answer(turn, client, message, Error, payload)
        return refused(client, Reason.UNAUTHORIZED)

    def renew_by_heartbeat(self, turn: Turn, actor: Actor) -> None:
        """Prolongs the registrations that were made so; their tokens stay as they are."""
        for address in sorted(actor.registrations):
            registration = self.directory.find(address, turn.now_ms)
            if registration is not None and _is_due(registration, turn.now_ms):
                self.directory.renew(registration, turn.now_ms)
                turn.commands.append(registration.store())

    def expire(self, turn: Turn, address: str) -> None:
        """Ends a registration whose time is over; one that was renewed is looked at later."""
        registration = self.directory.get(address)
        if registration is None:
            return
        if registration.expires_ms > turn.now_ms:
            self.watch(turn, registration)
        else:
            self.remove(turn, registration)

    def watch(self, turn: Turn, registration: Registration) -> None:
        """Sets the timer for the end of a registration."""
        timer = (REGISTRATION_TIMER, registration.address)
        turn.commands.append(WakeAt(timer, registration.expires_ms))

    def remove(self, turn: Turn, registration: Registration) -> None:
        """Ends a registration."""
        self.directory.remove(registration.address)
        turn.commands.append(registration.forget())
        self._settle(turn, registration.owner)

    def _settle(self, turn: Turn, owner: Actor) -> None:
        """Takes the subscriptions of an absent actor that has no registration left (R42)."""
        if owner.client is None and not owner.registrations:
            turn.commands.extend(self._topics.clear(owner))
        self._clients.release(owner)

    def _is_entitled(self, client: Client, address: str) -> bool:
        """Whether a client may register an address: its own, or one below it (R44)."""
        settings = self._settings
        if address == settings.address or not addresses.is_kept(address):
            return False
        own = client.address
        return not settings.auth or address == own or address.startswith(f"{own[:-1]}/")

    def _has_room(self, actor: Actor, record: StoredRegistration) -> bool:
        is_new = record.listing.actor_address not in actor.registrations
        if is_new and len(actor.registrations) >= self._settings.max_registrations:
            return False
        return self.directory.has_room(record)

    def _record(self, turn: Turn, client: Client, message: Register) -> StoredRegistration:
        asked = message.payload
        before = self.directory.find(asked.actor_address, turn.now_ms)
        seconds = DEFAULT_TTL_SECONDS if asked.ttl_seconds is UNSET else asked.ttl_seconds
        listing = Listing(
            actor_address=asked.actor_address,
            capabilities=asked.capabilities,
            metadata=Raw(exact(JSON.write(asked.metadata))),
            connection_id=client.id,
            registered_at=turn.now_ms,
            expires_at=turn.now_ms + seconds * _SECOND_MS,
            version=1 if before is None else before.record.listing.version + 1,
        )
        wish = message.metadata
        return StoredRegistration(
            owner=client.address,
            listing=listing,
            ttl_ms=seconds * _SECOND_MS,
            token=self.directory.token(asked.actor_address, turn.ids.next()),
            on_heartbeat=wish is not UNSET and wish.renew_on_heartbeat is True,
            account=client.account,
        )

    def _register(
        self, turn: Turn, client: Client, record: StoredRegistration, message: Register
    ) -> bytes:
        before = self.directory.get(record.listing.actor_address)
        registration = self.directory.put(client.actor, record)
        if before is not None:
            self._settle(turn, before.owner)
        turn.commands.append(registration.store())
        self.watch(turn, registration)
        payload = RegisteredPayload(
            actor_address=record.listing.actor_address,
            expires_at=record.listing.expires_at,
            renewal_token=record.token,
            version=record.listing.version,
        )
        return self._answers.answer(turn, client, message, Registered, payload)


def _is_due(registration: Registration, now_ms: int) -> bool:
    """Whether a heartbeat renews it: not so often that each is one for the disk (R47)."""
    record = registration.record
    since_ms = now_ms - (registration.expires_ms - record.ttl_ms)
    return record.on_heartbeat and since_ms >= RENEWAL_STEP_MS
