"""The parts of a node's endpoints: sessions, sockets, certificates, from what is configured."""

import errno
import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path
from ssl import SSLContext
from typing import Any, Final, TypeVar

import msgspec

from wireloom.capture.private import LinkRefusedError, opener
from wireloom.live import secret_files
from wireloom.live.config import Address, Auth, ConfigError, EndpointSection, HubSection
from wireloom.live.links.connection import LinkLimits
from wireloom.live.links.door import BACKLOG
from wireloom.live.metrics import Meters
from wireloom.live.secret_files import SecretFileError
from wireloom.live.tls import TlsError, server_context
from wireloom.protocols.cthun.broker.session import BrokerSession
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.signalhub import addresses
from wireloom.protocols.signalhub.constants import HUB_ADDRESS
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.tokens import check_secret
from wireloom.wire.ids import Ids
from wireloom.wire.keys import PUBLIC_KEY_SIZE
from wireloom.wire.session import Session

SECRET_SIZE: Final = 32
RECEIVE_BUFFER_SIZE: Final = 256 * 1024
"""What the system keeps for us a connection: a bound on what a flood can make us read at once."""

S = TypeVar("S", HubSettings, BrokerSettings)


class NodeError(Exception):
    """The node cannot start or go on; the text says why."""


def session(section: EndpointSection, data: Path, boot: str) -> tuple[Session, LinkLimits]:
    """The session of a section, and what its link grants.

    Args:
        section: What is configured.
        data: Where the node keeps what it must not lose.
        boot: A text that no other life of the process has.

    Raises:
        ConfigError: If a setting cannot be.
        NodeError: If the node's secret cannot be had.
    """
    made: Session
    if isinstance(section, HubSection):
        hub = hub_settings(section, secret(data))
        made, largest = HubSession(hub, Ids(boot)), hub.max_message_size
    else:
        broker = broker_settings(section)
        made, largest = BrokerSession(broker, Ids(boot)), broker.max_message_size
    return made, LinkLimits(
        max_frame_size=largest,
        max_connections=section.max_connections,
        max_strangers=section.max_strangers,
        stranger_rate=section.stranger_rate,
        ping_seconds=section.ping_seconds,
        max_backlog_bytes=LinkLimits().max_backlog_bytes + largest,
    )


def hub_settings(section: HubSection, known: bytes) -> HubSettings:
    """The hub's settings; `known` is what only this node knows.

    Raises:
        ConfigError: If the address, a limit or a key cannot be.
    """
    if not addresses.is_kept(section.address):
        raise ConfigError(
            f"signalhub.address = {section.address!r:.60} is no address; "
            f"an address looks like {HUB_ADDRESS}"
        )
    auth = section.auth
    fixed: dict[str, Any] = {
        "secret": known,
        "address": section.address,
        "auth": auth is not None,
    }
    if auth is not None:
        if auth.secret_file is None and not auth.public_keys:
            raise ConfigError("signalhub.auth has neither secret_file nor public_keys")
        fixed["token_secrets"] = _token_secrets(auth)
        fixed["token_keys"] = tuple(_public_key(key) for key in auth.public_keys)
    return _settings(HubSettings, section.limits, fixed, "signalhub.limits")


def broker_settings(section: EndpointSection) -> BrokerSettings:
    """The broker's settings; without TLS, clients are who they say they are.

    Raises:
        ConfigError: If a limit cannot be.
    """
    fixed = {"trust_sender": section.tls is None}
    return _settings(BrokerSettings, section.limits, fixed, "cthun.limits")


def secret(data: Path) -> bytes:
    """What this node and no one else knows, in this life and the next.

    Raises:
        NodeError: If it cannot be read or made.
    """
    path = data / "secret"
    try:
        if path.exists():
            secret_files.check_guarded(path)
        else:
            made = path.with_suffix(".new")
            with open(made, "wb", opener=opener) as file:
                file.write(secrets.token_bytes(SECRET_SIZE))
            made.rename(path)
        with open(path, "rb", opener=opener) as file:
            found = file.read()
    except SecretFileError as error:
        raise NodeError(f"{error}") from None
    except LinkRefusedError as error:
        raise NodeError(f"{error.strerror}") from None
    except OSError as error:
        raise NodeError(f"{path} cannot be used: {error.strerror}") from None
    if len(found) < SECRET_SIZE:
        raise NodeError(f"{path} is damaged; remove it, and clients have to register again")
    return found


def secured(section: EndpointSection, name: str) -> SSLContext | None:
    """What an endpoint's connections are secured with, if they are.

    Raises:
        NodeError: If its certificate cannot be used.
    """
    tls = section.tls
    if tls is None:
        return None
    authority = None if tls.client_authority is None else Path(tls.client_authority)
    try:
        return server_context(Path(tls.certificate), Path(tls.key), authority)
    except TlsError as error:
        raise NodeError(f"{name}.tls: {error}") from None


def bound(address: Address, name: str) -> socket.socket:
    """A socket that listens.

    Raises:
        NodeError: If it cannot.
    """
    try:
        kind, *_, where = socket.getaddrinfo(
            *address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(kind, socket.SOCK_STREAM)
    except OSError as error:
        raise NodeError(f"{name} cannot listen on {address}: {error.strerror}") from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_SIZE)
        made.bind(where)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        in_use = error.errno == errno.EADDRINUSE
        why = "the port is in use" if in_use else os.strerror(error.errno or 0)
        raise NodeError(f"{name} cannot listen on {address}: {why}") from None
    made.settimeout(0)
    return made


def shown(listening: socket.socket, address: Address) -> str:
    """Where a socket listens, with the port that it got."""
    return str(address._replace(port=listening.getsockname()[1]))


def add_gauges(meters: Meters, made: Session) -> None:
    """Has a session's own numbers shown, where it has some."""
    meters.session = made.gauges
    meters.session_cut = made.slow


def _settings(
    kind: type[S], limits: Mapping[str, object], fixed: Mapping[str, object], name: str
) -> S:
    """Settings of a kind: some follow from other keys and are no limits."""
    for key in limits:
        if key not in kind.__struct_fields__ or key in fixed:
            raise ConfigError(f"{name} has no {key}")
    try:
        return msgspec.convert({**limits, **fixed}, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{name} is wrong: {error}") from None


def _token_secrets(auth: Auth) -> tuple[bytes, ...]:
    if auth.secret_file is None:
        return ()
    try:
        secret = secret_files.shared_secret(Path(auth.secret_file))
        check_secret(secret)
    except (SecretFileError, ValueError) as error:
        raise ConfigError(f"signalhub.auth.secret_file: {error}") from None
    return (secret,)


def _public_key(text: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != PUBLIC_KEY_SIZE:
        raise ConfigError(
            f"signalhub.auth.public_keys: {text!r:.80} is no Ed25519 public key; "
            f"one has {PUBLIC_KEY_SIZE} bytes, written as {2 * PUBLIC_KEY_SIZE} hex digits"
        )
    return key
