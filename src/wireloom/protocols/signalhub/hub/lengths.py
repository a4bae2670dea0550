"""How long the texts may be that a hub keeps, repeats or looks for (R54).

The codec takes longer ones: what another hub let pass can still be read. A hub of this kind
refuses them at its door, with the fault of a message that is malformed.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from wireloom.protocols.signalhub.constants import (
    MAX_ADDRESS_SIZE,
    MAX_CAPABILITIES,
    MAX_NAME_SIZE,
)
from wireloom.protocols.signalhub.hub.encodings import JSON
from wireloom.protocols.signalhub.messages import (
    Broadcast,
    Connect,
    Publish,
    Register,
    Renew,
    Send,
    Unregister,
    Unsubscribe,
)
from wireloom.wire.errors import MalformedError
from wireloom.wire.message import Message


def is_name(text: object) -> bool:
    """Whether a text that may be absent is no longer than a name may be."""
    return not isinstance(text, str) or len(text) <= MAX_NAME_SIZE


def is_short(address: str) -> bool:
    """Whether an address is no longer than a hub keeps."""
    return len(address) <= MAX_ADDRESS_SIZE and len(JSON.write(address)) <= MAX_ADDRESS_SIZE


def check(message: Message) -> None:
    """Refuses a message with a text that is too long.

    Raises:
        MalformedError: If it has one.
    """
    checked = _CHECKS.get(type(message))
    if checked is not None:
        checked(message)


def _check_name(name: str, text: object) -> None:
    if not is_name(text):
        raise MalformedError(f"{name}: at most {MAX_NAME_SIZE} characters are taken")


def _check_address(name: str, address: str) -> None:
    if not is_short(address):
        raise MalformedError(f"{name}: at most {MAX_ADDRESS_SIZE} bytes are taken")


def _check_capabilities(name: str, capabilities: tuple[str, ...]) -> None:
    if len(capabilities) > MAX_CAPABILITIES:
        raise MalformedError(f"{name}: at most {MAX_CAPABILITIES} capabilities are taken")
    for capability in capabilities:
        _check_name(name, capability)


def _check_send(message: Send) -> None:
    _check_address("payload.targetAddress", message.payload.target_address)
    _check_name("payload.message.type", message.payload.message.type)
    if message.metadata is not UNSET:
        _check_name("metadata.traceId", message.metadata.trace_id)


def _check_broadcast(message: Broadcast) -> None:
    _check_name("payload.message.type", message.payload.message.type)
    if message.metadata is not UNSET:
        _check_name("metadata.targetCapability", message.metadata.target_capability)


def _check_publish(message: Publish) -> None:
    _check_name("payload.message.type", message.payload.message.type)


def _check_register(message: Register) -> None:
    _check_address("payload.actorAddress", message.payload.actor_address)
    _check_capabilities("payload.capabilities", message.payload.capabilities)


def _check_unregister(message: Unregister) -> None:
    _check_address("payload.actorAddress", message.payload.actor_address)


def _check_connect(message: Connect) -> None:
    _check_capabilities("metadata.capabilities", message.metadata.capabilities)


def _check_renew(message: Renew) -> None:
    _check_name("payload.renewalToken", message.payload.renewal_token)


def _check_unsubscribe(message: Unsubscribe) -> None:
    _check_name("payload.subscriptionId", message.payload.subscription_id)


_CHECKS: Final[dict[type[Message], Callable[[Any], None]]] = {
    Send: _check_send,
    Broadcast: _check_broadcast,
    Publish: _check_publish,
    Register: _check_register,
    Unregister: _check_unregister,
    Connect: _check_connect,
    Renew: _check_renew,
    Unsubscribe: _check_unsubscribe,
}
