"""What a client keeps up: registrations and subscriptions outlive a connection.

On a new connection every registration is renewed, or made anew if the hub has forgotten it, and
every subscription is made again. The hub's limits may put that off; another refusal is told to the
application.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

from msgspec import Struct

from wireloom.protocols.signalhub.client.errors import RateLimitedError, UnauthorizedError
from wireloom.protocols.signalhub.client.requests import Draft, renew
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.messages import (
    Register,
    Registered,
    Renewed,
    Subscribe,
    Subscribed,
    Unregister,
    Unsubscribe,
)
from wireloom.protocols.signalhub.metadata import RegisterMetadata
from wireloom.protocols.signalhub.payloads import RegisterPayload, SubscribePayload
from wireloom.wire.client.errors import ClientError
from wireloom.wire.session import Turn

LIMITED_TIMER: Final = "limited"
Answer = SharedMessage | ClientError


class Registration(Struct):
    """A registration that the client keeps up."""

    payload: RegisterPayload
    metadata: RegisterMetadata
    token: str
    """What renews it next."""


Kept = Registration | SubscribePayload


class Asking(Protocol):
    """What the upkeep needs of its session."""

    is_paused: bool

    def ask(self, draft: Draft[Any], settle: Callable[[Answer, Turn], None], turn: Turn) -> None:
        """Asks the hub, whether others may or not."""

    def wake(self, timer: tuple[str, ...], at_ms: int, turn: Turn) -> None:
        """Sets a timer that ends with the connection."""

    def regret(self, error: ClientError, turn: Turn) -> None:
        """Tells the application of a failure that nobody waits for."""

    def kept_up(self, turn: Turn) -> None:
        """All is made again."""


class Upkeep:
    """The registrations and subscriptions of one client.

    Args:
        session: What asks the hub.
    """

    def __init__(self, session: Asking) -> None:
        self.registrations: dict[str, Registration] = {}
        """By the address of the actor."""
        self.subscriptions: dict[str, SubscribePayload] = {}
        """By the id of the subscription."""
        self._session = session
        self._open: dict[str, Kept] = {}
        """What is not yet made again on this connection."""
        self._paused: set[str] = set()
        """What of it waits until the hub resumes."""

    def note(self, draft: Draft[Any], answer: SharedMessage) -> None:
        """Keeps what the answer to a request of the application has made."""
        payload = draft.payload
        match answer:
            case Registered(payload=made):
                kept = Registration(payload, draft.metadata, made.renewal_token)
                self.registrations[payload.actor_address] = kept
            case Renewed(payload=made):
                for registration in self.registrations.values():
                    if registration.token == payload.renewal_token:
                        registration.token = made.renewal_token
            case Subscribed(payload=made):
                self.subscriptions[made.subscription_id] = payload

    def drop(self, draft: Draft[Any]) -> None:
        """Forgets what the application wants to end."""
        if draft.cls is Unregister:
            self.registrations.pop(draft.payload.actor_address, None)
        elif draft.cls is Unsubscribe:
            self.subscriptions.pop(draft.payload.subscription_id, None)

    def begin(self, turn: Turn) -> None:
        """Begins to make all again, on a new connection."""
        self._open = {f"registration {key}": one for key, one in self.registrations.items()}
        self._open |= {f"subscription {key}": one for key, one in self.subscriptions.items()}
        for key in list(self._open):
            self.attempt(key, turn)
        if not self._open:
            self._session.kept_up(turn)

    def attempt(self, key: str, turn: Turn) -> None:
        """Makes one thing again, unless the hub wants to hear nothing."""
        kept = self._open[key]
        if self._session.is_paused:
            self._paused.add(key)
        elif isinstance(kept, Registration):
            self._session.ask(renew(kept.token), partial(self._renewed, key, kept), turn)
        else:
            draft = Draft(Subscribe, kept, Subscribed, "ask")
            self._session.ask(draft, partial(self._settle, key), turn)

    def resume(self, turn: Turn) -> None:
        """Goes on after a pause."""
        paused, self._paused = self._paused, set()
        for key in sorted(paused):
            self.attempt(key, turn)

    def forget_connection(self) -> None:
        """Stops: the connection is gone."""
        self._open.clear()
        self._paused.clear()

    def _renewed(self, key: str, kept: Registration, answer: Answer, turn: Turn) -> None:
        if isinstance(answer, UnauthorizedError):  # the hub has forgotten it
            draft = Draft(Register, kept.payload, Registered, "ask", metadata=kept.metadata)
            self._session.ask(draft, partial(self._registered, key, kept), turn)
        else:
            self._registered(key, kept, answer, turn)

    def _registered(self, key: str, kept: Registration, answer: Answer, turn: Turn) -> None:
        if isinstance(answer, Registered | Renewed):
            kept.token = answer.payload.renewal_token
        self._settle(key, answer, turn)

    def _settle(self, key: str, answer: Answer, turn: Turn) -> None:
        if isinstance(answer, RateLimitedError):
            at_ms = turn.now_ms + answer.retry_after_ms
            self._session.wake((LIMITED_TIMER, key), at_ms, turn)
            return
        if isinstance(answer, ClientError):
            self._session.regret(answer, turn)
        self._open.pop(key, None)
        if not self._open:
            self._session.kept_up(turn)
