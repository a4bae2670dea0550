"""The forms of ids, types, times and URIs."""

import pytest

from protocols.cthun.samples import AGENT, EXPIRES
from protocols.cthun.samples import ID as UUID
from wireloom.protocols.cthun.forms import ADDRESS, ID, MESSAGE_TYPE, TARGET, TIME, Form
from wireloom.wire.errors import MalformedError

GOOD = [(ID, UUID), (MESSAGE_TYPE, "a/b"), (TIME, EXPIRES), (ADDRESS, AGENT), (TARGET, AGENT)]


@pytest.mark.parametrize(("form", "text"), GOOD)
def test_a_form_fits_the_whole_text_or_not_at_all(form: Form, text: str) -> None:
    form.require(text, "it")
    form.require_all((text, text), "it")
    for bad in (text + "\n", "\n" + text, text + "\0", text + " ", text + "é"):
        with pytest.raises(MalformedError, match=f"^it {form.words}$"):
            form.require(bad, "it")


def test_the_first_text_of_another_form_is_named() -> None:
    with pytest.raises(MalformedError, match=r"^list\[2\] is not a UUID$"):
        ID.require_all((UUID, UUID, "x", "y"), "list")
    ID.require_all((), "list")
