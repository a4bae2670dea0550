"""What a broker refuses, as exceptions."""

from wireloom.protocols.cthun.client.errors import AssociationError, ExpiredError


def test_an_error_may_name_its_message() -> None:
    assert ExpiredError("late", "id").about == "id"
    assert AssociationError("no").about is None
