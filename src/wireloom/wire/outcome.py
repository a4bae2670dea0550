"""The closed lists that codec, session, capture, tables and metrics share.

A frame that was handled has exactly one `Outcome`. If that outcome is `rejected`, it has
exactly one `Reason`. What a signature, proof of work or token proved is an `Auth`. A message
that somebody meant to be delivered has exactly one `Fate` for each destination.
Members are added here and nowhere else, and a member is never renamed: its value is what
stands in stored tables.
"""

from enum import StrEnum


class Direction(StrEnum):
    """Which way a frame went at the node that captured it."""

    IN = "in"
    OUT = "out"
    LOCAL = "local"


class Outcome(StrEnum):
    """What became of one frame at one node."""

    ACCEPTED = "accepted"
    DELIVERED = "delivered"
    FORWARDED = "forwarded"
    QUEUED = "queued"
    ACKED = "acked"
    DUPLICATE = "duplicate"
    EXPIRED = "expired"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


class Reason(StrEnum):
    """Why a frame or a message was refused or dropped."""

    MALFORMED = "malformed"
    UNSUPPORTED_VERSION = "unsupported_version"
    UNKNOWN_TYPE = "unknown_type"
    TOO_LARGE = "too_large"
    BAD_SIGNATURE = "bad_signature"
    BAD_POW = "bad_pow"
    UNKNOWN_KEY = "unknown_key"
    UNAUTHENTICATED = "unauthenticated"
    UNAUTHORIZED = "unauthorized"
    STALE = "stale"
    FUTURE = "future"
    TTL_EXCEEDED = "ttl_exceeded"
    EXPIRED = "expired"
    DUPLICATE = "duplicate"
    RATE_LIMITED = "rate_limited"
    QUEUE_FULL = "queue_full"
    NO_ROUTE = "no_route"
    UNKNOWN_DESTINATION = "unknown_destination"
    DECRYPT_FAILED = "decrypt_failed"
    CANCELLED = "cancelled"
    INTERNAL = "internal"


class Auth(StrEnum):
    """What is known of a frame's authenticity."""

    VALID = "valid"
    """A signature, token or proof of work was checked and holds."""

    INVALID = "invalid"
    """It was checked and does not hold."""

    UNSIGNED = "unsigned"
    """The frame carries nothing to check."""

    UNKNOWN_KEY = "unknown_key"
    """There is a signature, and none of the known keys belongs to its signer."""

    UNCHECKED = "unchecked"
    """The proof lies outside the frame (a TLS certificate, a shared secret)."""


class Fate(StrEnum):
    """What happened to a message, for one destination; strongest first.

    The strongest fate with evidence is the message's fate, whatever the order of arrival.
    """

    DELIVERED = "delivered"
    """The destination acknowledged it, recorded that it has it, or was seen to get it."""

    CANCELLED = "cancelled"
    """Somebody who is entitled to it cancelled it."""

    REJECTED = "rejected"
    """A refusal ended the attempt; it has a reason."""

    EXPIRED = "expired"
    """Somebody said that its time was over."""

    IN_FLIGHT = "in_flight"
    """None of the above is proven, and its deadline is still to come."""

    LOST = "lost"
    """None of the above is proven, and its deadline has passed."""
