"""What is said about messages: the metadata of the hub's own types that declare theirs.

A `…Metadata` belongs to the one message type whose name it bears.
"""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.signalhub.constants import MAX_PRIORITY
from wireloom.protocols.signalhub.envelope import Address, Part, Semver, SomeNames

Priority = Annotated[int, Meta(ge=0, le=MAX_PRIORITY, extra={"size": "0 to 2"})]


class ClientMetadata(Part, frozen=True, kw_only=True):
    """What a client tells of itself."""

    user_agent: str | UnsetType = UNSET
    """The program."""

    platform: str | UnsetType = UNSET
    """What it runs on."""

    origin: str | UnsetType = UNSET
    """Where it was loaded from."""


class ConnectMetadata(Part, frozen=True, kw_only=True):
    """Version, credential and abilities of a client."""

    protocol_version: Semver
    """The version that the client speaks."""

    auth_token: str | UnsetType = UNSET
    """A JSON Web Token, `bearer ` before it or not."""

    capabilities: SomeNames
    """What the client wants to do."""

    client_metadata: ClientMetadata | UnsetType = UNSET
    """About the client itself."""


class ConnectedMetadata(Part, frozen=True, kw_only=True):
    """The identity that a hub verified."""

    actor_identity: Address | UnsetType = UNSET
    """Replaces what the client claimed in `from` (R16)."""


class RegisterMetadata(Part, frozen=True, kw_only=True):
    """How the registration is kept."""

    renew_on_heartbeat: bool | UnsetType = UNSET
    """Whether each heartbeat renews it."""


class SendMetadata(Part, frozen=True, kw_only=True):
    """How to deliver it."""

    require_ack: bool | UnsetType = UNSET
    """True demands an acknowledgement, as the pattern `ask` does (R31)."""

    trace_id: str | UnsetType = UNSET
    """For distributed tracing."""

    priority: Priority | UnsetType = UNSET
    """0 (most urgent) to 2 (least)."""


class BroadcastMetadata(Part, frozen=True, kw_only=True):
    """Who gets it."""

    target_capability: str | UnsetType = UNSET
    """Only actors with this capability."""
