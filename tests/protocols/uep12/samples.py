"""One message of every type."""

from wireloom.protocols.uep12.messages import (
    Content,
    MessageList,
    PullByHash,
    PullByTime,
    Reference,
)
from wireloom.wire.message import Message

SAMPLES: dict[str, Message] = {
    "CONTENT": Content(
        pow_nonce=87536,
        timestamp=1681084861000,
        ttl_epoch=60,
        references=(
            Reference(msg_hash=bytes.fromhex("545220ba8a4f6e35"), epoch_diff=0),
            Reference(msg_hash=b"\x22" * 8, epoch_diff=-3),
        ),
        payload=b"second",
    ),
    "MESSAGE_LIST": MessageList(
        ticket=b"\1\2\3\4",
        start_time=1681084800000,
        end_time=1681084900000,
        msg_hashes=(b"\x11" * 8, b"\x22" * 8),
    ),
    "PULL_BY_HASH": PullByHash(msg_hashes=(b"\x11" * 8,)),
    "PULL_BY_TIME": PullByTime(
        ticket=b"\1\2\3\4", start_time=1681084800000, end_time=1681084900000
    ),
}
