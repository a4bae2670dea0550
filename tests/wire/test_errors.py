"""The tree of refusals."""

from wireloom.wire import errors
from wireloom.wire.errors import MalformedError, TruncatedError, WireError
from wireloom.wire.outcome import Reason

CLASSES = [
    cls
    for cls in vars(errors).values()
    if isinstance(cls, type) and issubclass(cls, WireError) and cls is not WireError
]


def test_every_class_has_a_listed_reason() -> None:
    assert {cls.reason for cls in CLASSES} <= set(Reason) - {Reason.INTERNAL}


def test_the_tree_in_the_docstring_names_every_class() -> None:
    assert errors.__doc__ is not None
    assert all(cls.__name__ in errors.__doc__ for cls in CLASSES)


def test_a_cut_message_is_a_malformed_one() -> None:
    assert issubclass(TruncatedError, MalformedError)
    assert TruncatedError.reason == "malformed"


def test_a_refusal_moves_with_the_frame_around_it() -> None:
    error = TruncatedError("cut", offset=3).shifted(10)
    assert (type(error), error.offset, error.detail) == (TruncatedError, 13, "cut")
    assert MalformedError("no place").shifted(10).offset == 10
