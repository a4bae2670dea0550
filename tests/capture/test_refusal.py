"""What an import does not take."""

from wireloom.capture.refusal import Refusal


def test_a_refusal_is_a_fault_unless_it_says_otherwise() -> None:
    assert Refusal("line 3", "too long") == Refusal("line 3", "too long", "", is_foreign=False)
