"""What a broker refuses or cannot deliver, as exceptions.

BrokerError           the broker refuses, or could not deliver
AssociationError    it does not take the client
RefusedError        `error_message`
ExpiredError        `ttl_expired`
"""

from wireloom.wire.client.errors import ClientError


class BrokerError(ClientError):
    """The broker refuses something, or could not deliver it.

    Args:
        text: The broker's words.
        about: The id of the message that it is about, if that is known.
    """

    def __init__(self, text: str, about: str | None = None) -> None:
        super().__init__(text)
        self.about = about


class AssociationError(BrokerError):
    """The broker does not take the client under its name."""


class RefusedError(BrokerError):
    """The broker could not handle a message."""


class ExpiredError(BrokerError):
    """A message expired before all its targets had it."""
