"""The Signal Hub: a WebSocket link, and tokens or trust for those who connect."""

from pathlib import Path
from typing import Final

from wireloom.live import secret_files
from wireloom.live.endpoint import Context, Endpoint
from wireloom.live.errors import ConfigError
from wireloom.live.links.sections import WebSocketSection
from wireloom.live.secret_files import SecretFileError
from wireloom.live.sections import Limits, Section
from wireloom.protocols.signalhub import addresses
from wireloom.protocols.signalhub.constants import HUB_ADDRESS
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Session


class Auth(Section, frozen=True):
    """What clients of the hub prove themselves with: tokens signed by one of these."""

    secret_file: str | None = None
    """A file with the secret of HS256 tokens; white space around it does not count."""

    public_keys: tuple[str, ...] = ()
    """Ed25519 keys of those who sign EdDSA tokens, hex."""


class HubSection(WebSocketSection, frozen=True):
    """The Signal Hub."""

    listen: str = "127.0.0.1:8787"
    path: str = "/hub"
    address: str = HUB_ADDRESS
    """The hub's own address, `@(…)`: what it signs its answers with, and nobody else may be."""

    auth: Auth | None = None
    """Without it clients are who they say they are."""

    limits: Limits = {}
    """The session's settings by name."""

    def lack(self) -> str:
        """TLS, or what clients prove themselves with."""
        return super().lack() or ("" if self.auth else "authentication")


def _secret(section: HubSection, context: Context) -> bytes:
    del section
    return context.secret()


def _address(section: HubSection, context: Context) -> str:
    del context
    if not addresses.is_kept(section.address):
        raise ConfigError(
            f"signalhub.address = {section.address!r:.60} is no address; "
            f"an address looks like {HUB_ADDRESS}"
        )
    return section.address


def _auth(section: HubSection, context: Context) -> bool:
    del context
    auth = section.auth
    if auth is not None and auth.secret_file is None and not auth.public_keys:
        raise ConfigError("signalhub.auth has neither secret_file nor public_keys")
    return auth is not None


def _token_secrets(section: HubSection, context: Context) -> tuple[bytes, ...]:
    del context
    if section.auth is None or section.auth.secret_file is None:
        return ()
    from wireloom.protocols.signalhub.tokens import check_secret  # it brings libsodium along

    try:
        secret = secret_files.shared_secret(Path(section.auth.secret_file))
        check_secret(secret)
    except (SecretFileError, ValueError) as error:
        raise ConfigError(f"signalhub.auth.secret_file: {error}") from None
    return (secret,)


def _token_keys(section: HubSection, context: Context) -> tuple[bytes, ...]:
    del context
    return () if section.auth is None else tuple(map(_public_key, section.auth.public_keys))


def _public_key(text: str) -> bytes:
    from wireloom.wire.keys import PUBLIC_KEY_SIZE  # it brings libsodium along

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


def _session(settings: HubSettings, ids: Ids) -> Session:
    from wireloom.protocols.signalhub.hub.session import HubSession  # too much for `serve --help`

    return HubSession(settings, ids)


ENDPOINT: Final = Endpoint(
    name="signalhub",
    title="the Signal Hub",
    section=HubSection,
    settings=HubSettings,
    derived={
        "secret": _secret,
        "address": _address,
        "auth": _auth,
        "token_secrets": _token_secrets,
        "token_keys": _token_keys,
    },
    session=_session,
)
