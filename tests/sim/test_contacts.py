"""Contacts from a file."""

import pytest

from wireloom.sim.contacts import Contact, contacts


def test_a_file_of_the_one_is_read() -> None:
    lines = ["# who meets whom", "0.5 CONN 3 7 up", "", "12 CONN 3 7 down\n"]
    assert list(contacts(lines)) == [Contact(0.5, 3, 7, True), Contact(12, 3, 7, False)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 CONN 3 up", "line 2 is no contact: 1 CONN 3 up"),
        ("1 CONN 3 x up", "no contact"),
        ("one CONN 3 4 up", "no contact"),
        ("nan CONN 3 4 up", "no contact"),
        ("-1 CONN 3 4 up", "no contact"),
        ("1 CONN 3 4 sideways", "no contact"),
        ("0.5 CONN 3 4 up", "line 2 is earlier"),
    ],
)
def test_a_line_that_is_none_is_told(line: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        list(contacts(["1 CONN 1 2 up", line]))
