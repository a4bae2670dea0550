"""The tables of MyriadMesh: types, flags, codes, sizes, limits, ports, times."""

from enum import IntEnum, IntFlag
from typing import Final

MAGIC: Final = b"MYMS"
"""First four bytes of every frame."""

VERSION: Final = 1
"""The only version that is spoken."""

HAS_PROOF: Final = True
"""Whether a frame carries a proof of its own: a signature."""


class Flags(IntFlag):
    """The bits of the flag byte, lowest first."""

    ENCRYPTED = 0x01
    SIGNED = 0x02
    COMPRESSED = 0x04
    RELAY = 0x08
    ACK_REQUIRED = 0x10
    ACK = 0x20
    BROADCAST = 0x40
    RESERVED = 0x80
    """Without a meaning: refused, and kept by lenient decoding (R22)."""


class MessageType(IntEnum):
    """What a frame carries; 0x00 and all from 0x10 are reserved."""

    DATA = 0x01
    CONTROL = 0x02
    DHT_QUERY = 0x03
    DHT_RESPONSE = 0x04
    DHT_STORE = 0x05
    DISCOVERY = 0x06
    HEARTBEAT = 0x07
    KEY_EXCHANGE = 0x08
    LEDGER_BLOCK = 0x09
    LEDGER_QUERY = 0x0A
    TEST_REQUEST = 0x0B
    TEST_RESPONSE = 0x0C
    ROUTE_REQUEST = 0x0D
    ROUTE_RESPONSE = 0x0E
    DATA_BATCH = 0x0F
    """The specification names it and gives it no code (R8)."""


class ContentType(IntEnum):
    """What the bytes of a DATA are; 5 to 255 are reserved."""

    RAW = 0
    TEXT = 1
    JSON = 2
    PROTOBUF = 3
    MESSAGEPACK = 4


class Command(IntEnum):
    """What a CONTROL asks or tells."""

    PING = 1
    PONG = 2
    ROUTE_UPDATE = 3
    NODE_STATUS = 4
    ERROR = 5


class ErrorCode(IntEnum):
    """Why a message was not served."""

    INVALID_SIGNATURE = 1
    DECRYPTION_FAILED = 2
    UNKNOWN_DESTINATION = 3
    TTL_EXCEEDED = 4
    PAYLOAD_TOO_LARGE = 5
    UNSUPPORTED_VERSION = 6
    RATE_LIMIT_EXCEEDED = 7
    NODE_UNAVAILABLE = 8


class AckType(IntEnum):
    """How far an acknowledged message came (R17)."""

    RECEIVED = 0
    RELAYED = 1
    DELIVERED = 2
    STORED = 3
    FAILED = 4


class QueryType(IntEnum):
    """What a DHT_QUERY looks for."""

    FIND_NODE = 1
    FIND_VALUE = 2
    FIND_ROUTE = 3


class LedgerQueryType(IntEnum):
    """How a LEDGER_QUERY names its block (R18)."""

    BY_HEIGHT = 1
    BY_HASH = 2


class ExchangeType(IntEnum):
    """The step of a key exchange."""

    INITIATE = 1
    RESPOND = 2
    CONFIRM = 3
    ROTATE = 4


class TestType(IntEnum):
    """What a test measures."""

    __test__ = False  # pytest takes every Test* that a test file imports for a test case

    PING = 1
    THROUGHPUT = 2
    RELIABILITY = 3


class Capability(IntFlag):
    """What a node can do, and in bits 8 to 15 which versions it speaks (R10)."""

    RELAY = 1 << 0
    CACHE = 1 << 1
    I2P = 1 << 2
    LOCATION = 1 << 3
    VERSION_1 = 1 << 8
    VERSION_2 = 1 << 9
    VERSION_3 = 1 << 10
    VERSION_4 = 1 << 11
    VERSION_5 = 1 << 12
    VERSION_6 = 1 << 13
    VERSION_7 = 1 << 14
    VERSION_8 = 1 << 15


CAPABILITY_MASK: Final = 0xFF0F
"""The bits that have a meaning; the others are kept apart (R24)."""


class AdapterType(IntEnum):
    """Kinds of network adapters. Others may appear and are kept as numbers."""

    ETHERNET = 0x01
    BLUETOOTH = 0x02
    BLE = 0x03
    CELLULAR = 0x04
    WIFI_HALOW = 0x05
    LORAWAN = 0x06
    MESHTASTIC = 0x07
    FRS_GMRS = 0x08
    CB = 0x09
    SHORTWAVE = 0x0A
    APRS = 0x0B
    DIALUP = 0x0C
    PPPOE = 0x0D
    I2P = 0x0E
    UNKNOWN = 0xFF


class Band(IntEnum):
    """Bands of priority, each by the lowest priority in it."""

    BACKGROUND = 0
    LOW = 64
    NORMAL = 128
    HIGH = 192
    EMERGENCY = 224


DEFAULT_PRIORITIES: Final = {
    Band.BACKGROUND: 32,
    Band.LOW: 96,
    Band.NORMAL: 160,
    Band.HIGH: 208,
    Band.EMERGENCY: 240,
}
"""What a message of each band is sent with."""

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS

CACHE_MS: Final = {
    Band.BACKGROUND: 12 * HOUR_MS,
    Band.LOW: DAY_MS,
    Band.NORMAL: 3 * DAY_MS,
    Band.HIGH: 5 * DAY_MS,
    Band.EMERGENCY: 7 * DAY_MS,
}
"""How long a relay keeps a message for a node that is away: also how old it may be (R11)."""

HEADER_SIZE: Final = 99
"""The specification says 162, and its own fields make 99 (R1)."""

SIGNATURE_SIZE: Final = 64
MIN_SIGNED_SIZE: Final = HEADER_SIZE + SIGNATURE_SIZE
MESSAGE_ID_SIZE: Final = 16
NODE_ID_SIZE: Final = 32
KEY_SIZE: Final = 32
HASH_SIZE: Final = 32
EXCHANGE_NONCE_SIZE: Final = 24
TEST_ID_SIZE: Final = 8

BROADCAST_ID: Final = b"\xff" * NODE_ID_SIZE
"""The destination that is every node."""

RESERVED_ID: Final = bytes(NODE_ID_SIZE)
"""The destination that is no node."""

MAX_FRAME_SIZE: Final = 65_535
"""Holds for the whole frame, so no payload reaches the 65,535 its length could say (R6)."""

MAX_UDP_FRAME_SIZE: Final = 65_507
"""What one UDP datagram over IPv4 carries (R6)."""

RECOMMENDED_FRAME_SIZE: Final = 1024

MAX_DECOMPRESSED_SIZE: Final = 1 << 20
"""What a frame may hold when unpacked, the frames of a batch included: 64 KiB of zstd can
claim gigabytes (R25)."""

MAX_WINDOW_SIZE: Final = 8 << 20
"""The window that RFC 8878 asks every zstd decoder to support; a frame can ask for more."""

LOAD_SCALE: Final = 100
"""A load average stands on the wire times this."""

DEFAULT_FLAGS: Final = Flags.ENCRYPTED | Flags.SIGNED
DEFAULT_PRIORITY: Final = DEFAULT_PRIORITIES[Band.NORMAL]

DEFAULT_TTL: Final = 10
MAX_TTL: Final = 32
"""The most that is sent; more is accepted (R23)."""

MAX_SKEW_MS: Final = 300_000
"""How far a sender's clock may be off."""

DEDUPLICATION_MS: Final = HOUR_MS
DEDUPLICATION_COUNT: Final = 10_000

ACK_TIMEOUT_MS: Final = 30_000
"""Other documents of the protocol say 5 seconds (R16)."""

LORA_ACK_TIMEOUT_MS: Final = 300_000
DHT_TIMEOUT_MS: Final = 10_000
KEY_EXCHANGE_TIMEOUT_MS: Final = 60_000
KEY_LIFETIME_MS: Final = 90 * DAY_MS
"""How long a shared secret is used before it is rotated."""

OLD_KEY_LIFETIME_MS: Final = 7 * DAY_MS
"""How long the key before is kept for messages that are on their way."""

HEARTBEAT_INTERVAL_MS: Final = 60_000
NODE_TIMEOUT_MS: Final = 300_000

PORT: Final = 4001
"""Of UDP."""

MULTICAST_GROUP: Final = "239.255.77.77"
"""Where DISCOVERY goes in a local network."""

BLUETOOTH_SERVICE: Final = "00004d59-0000-1000-8000-00805f9b34fb"

LORA_MTU: Final = 222
"""Largest LoRa packet at spreading factor 7; at 12 it is 51 (R15)."""

MIN_LORA_MTU: Final = 51

FRAGMENT_HEADER_SIZE: Final = 4
MAX_FRAGMENTS: Final = 255
FRAGMENT_TIMEOUT_MS: Final = 60_000
"""How long an incomplete frame is kept, from its first fragment on."""

MAX_ADDRESS_SIZE: Final = 255
MAX_ADAPTERS: Final = 255
"""What the one-byte count of a DISCOVERY can say."""
