"""Refusals, one class a reason.

    WireError                     any refusal; has reason, detail, offset
      MalformedError              the bytes do not form a message
        TruncatedError            they end too early
        TrailingBytesError        they go on after the message
      UnsupportedVersionError     a version that is not spoken
      UnknownTypeError            a message type that is not known
      TooLargeError               a size limit is passed
      TtlExceededError            no hop is left to it
      StaleError, FutureError     a sender's clock is too far off
      ExpiredError                its lifetime is over
      BadSignatureError           a signature does not hold
      BadPowError                 a proof of work does not hold
      UnknownKeyError             the signer's key is not known
      UnauthenticatedError        a credential is missing or does not hold
      UnauthorizedError           who sent it may not do what it says
      DecryptFailedError          a sealed payload does not open

The reason of a class never changes: it is the word in logs, tables and metrics.
"""

from typing import ClassVar

from wireloom.wire.outcome import Reason


class WireError(ValueError):
    """Bytes from outside, or a message to be encoded, are refused.

    Args:
        detail: What is wrong, for a person.
        offset: The byte where it went wrong, where that is known.
    """

    reason: ClassVar[Reason] = Reason.INTERNAL

    def __init__(self, detail: str, *, offset: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.offset = offset

    def shifted(self, base: int) -> "WireError":
        """This refusal as seen from a frame in which the refused bytes begin at `base`."""
        return type(self)(self.detail, offset=base + (self.offset or 0))


class MalformedError(WireError):
    """The bytes do not form a message."""

    reason = Reason.MALFORMED


class TruncatedError(MalformedError):
    """The bytes end before the message does."""


class TrailingBytesError(MalformedError):
    """The bytes go on after the message ends."""


class UnsupportedVersionError(WireError):
    """The message is of a version that is not spoken here."""

    reason = Reason.UNSUPPORTED_VERSION


class UnknownTypeError(WireError):
    """The message is well framed, and its type is not a known one."""

    reason = Reason.UNKNOWN_TYPE


class TooLargeError(WireError):
    """A size limit is passed."""

    reason = Reason.TOO_LARGE


class TtlExceededError(WireError):
    """No hop is left to the message."""

    reason = Reason.TTL_EXCEEDED


class StaleError(WireError):
    """The message is older than the receiver accepts."""

    reason = Reason.STALE


class FutureError(WireError):
    """The message's clock is further ahead than the receiver accepts."""

    reason = Reason.FUTURE


class ExpiredError(WireError):
    """The message's lifetime is over."""

    reason = Reason.EXPIRED


class BadSignatureError(WireError):
    """A signature does not hold."""

    reason = Reason.BAD_SIGNATURE


class BadPowError(WireError):
    """A proof of work does not hold."""

    reason = Reason.BAD_POW


class UnknownKeyError(WireError):
    """The key that a check needs is not known."""

    reason = Reason.UNKNOWN_KEY


class UnauthenticatedError(WireError):
    """A credential is missing or does not hold."""

    reason = Reason.UNAUTHENTICATED


class UnauthorizedError(WireError):
    """Who sent the message may not do what it says."""

    reason = Reason.UNAUTHORIZED


class DecryptFailedError(WireError):
    """A sealed payload does not open with the key at hand."""

    reason = Reason.DECRYPT_FAILED
