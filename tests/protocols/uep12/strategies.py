"""Any message of every type."""

from hypothesis import strategies as st

from support.strategies import messages_of
from wireloom.protocols.uep12.messages import TYPES
from wireloom.wire.message import Message

MESSAGES: dict[str, st.SearchStrategy[Message]] = {
    name: messages_of(cls) for name, cls in TYPES.items()
}
