"""Frames at a hub, the shortest way to messages with a fate."""

from typing import Any

from wireloom.capture.frame import CapturedFrame
from wireloom.registry import protocol
from wireloom.wire.outcome import Direction, Outcome

START_MS = 1_700_000_000_000
HUB, ALICE, BOB = "@(cloud/hub)", "@(app/alice)", "@(app/bob)"


def uuid(number: int) -> str:
    """A readable id."""
    return f"00000000-0000-4000-8000-{number:012d}"


def frame(
    type_: str,
    number: int,
    *,
    at: int = 0,
    direction: Direction = Direction.IN,
    outcome: Outcome | None = None,
    fields: dict[str, Any],
) -> CapturedFrame:
    """One message as the hub saw it, `at` milliseconds after the start."""
    plain = {
        "id": uuid(number),
        "from": ALICE,
        "to": HUB,
        "pattern": "tell",
        "timestamp": START_MS,
        "metadata": {},
        **fields,
    }
    spoken = protocol("signalhub")
    return CapturedFrame(
        captured_at=(START_MS + at) * 1000,
        node="hub-1",
        protocol="signalhub",
        link="ws",
        direction=direction,
        peer=ALICE,
        outcome=outcome,
        raw=spoken.codec.encode(spoken.record.from_fields(type_, plain)),
    )


def connect() -> CapturedFrame:
    """What makes a node a hub."""
    return frame(
        "hub:connect",
        1,
        fields={
            "pattern": "ask",
            "payload": None,
            "metadata": {"protocol_version": "0.1.0", "capabilities": ["send"]},
        },
    )


def send(number: int, *, at: int = 0, ttl: int | None = None) -> CapturedFrame:
    """A message from Alice to Bob."""
    payload = {"target_address": BOB, "message": {"type": "greet", "payload": {}}}
    more = {} if ttl is None else {"ttl": ttl}
    fields = {"pattern": "ask", "payload": payload, **more}
    return frame("hub:send", number, at=at, outcome=Outcome.ACCEPTED, fields=fields)


def ack(
    number: int, of: int, *, at: int, status: str = "delivered", forged: bool = False
) -> CapturedFrame:
    """The hub's acknowledgement, or one that a client sends in its name."""
    payload = {"message_id": uuid(of), "delivered_at": START_MS, "status": status}
    fields = {"from": HUB, "to": ALICE, "correlation_id": uuid(of), "payload": payload}
    direction = Direction.IN if forged else Direction.OUT
    return frame("hub:delivery_ack", number, at=at, direction=direction, fields=fields)


def error(number: int, of: int, *, at: int, code: str) -> CapturedFrame:
    """The hub's refusal."""
    payload = {"code": code, "message": "no", "retryable": False}
    fields = {"from": HUB, "to": ALICE, "correlation_id": uuid(of), "payload": payload}
    return frame("hub:error", number, at=at, direction=Direction.OUT, fields=fields)
