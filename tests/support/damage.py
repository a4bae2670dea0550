"""Ways to spoil a frame, with a seed."""

from random import Random


def truncations(raw: bytes) -> list[bytes]:
    """Every proper prefix."""
    return [raw[:size] for size in range(len(raw))]


def flips(raw: bytes) -> list[bytes]:
    """Every frame that differs in one bit."""
    return [
        raw[:i] + bytes([raw[i] ^ 1 << bit]) + raw[i + 1 :]
        for i in range(len(raw))
        for bit in range(8)
    ]


def damaged(random: Random, frames: list[bytes]) -> bytes:
    """One frame, spoilt in one of six ways."""
    raw = random.choice(frames)
    other = random.choice(frames)
    at = random.randrange(len(raw) + 1)
    match random.randrange(6):
        case 0:
            return raw[:at]
        case 1:
            return raw[:at] + random.randbytes(random.randrange(1, 9)) + raw[at:]
        case 2:
            return raw[:at] + random.randbytes(random.randrange(1, 5)) + raw[at + 4 :]
        case 3:
            return raw[:at] + other[random.randrange(len(other) + 1) :]
        case 4:
            return random.randbytes(random.randrange(200))
        case _:
            spoilt = bytearray(raw)
            for _ in range(random.randrange(1, 8)):
                if spoilt:
                    spoilt[random.randrange(len(spoilt))] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
            return bytes(spoilt)
