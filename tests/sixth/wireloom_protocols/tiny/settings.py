"""What an operator can set of a switchboard."""

from wireloom.wire.settings import Settings
from wireloom_protocols.tiny.constants import MAX_SIZE


class TinySettings(Settings, frozen=True, kw_only=True):
    """The settings of a switchboard."""

    max_message_size: int = MAX_SIZE
    """Bytes in a line."""
