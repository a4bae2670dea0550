"""What a person got wrong, in one sentence that says what to do next."""

from collections.abc import Iterable
from difflib import get_close_matches

import click


class MisuseError(click.ClickException):
    """Something that was asked for cannot be."""

    exit_code = 2


class LinesError(click.ClickException):
    """A failure that takes several lines, as what is wrong with a query does."""


def one_of(name: str, choices: Iterable[str]) -> str:
    """What to type instead of `name`: the nearest choice, and all of them."""
    known = list(choices)
    by_letters = {choice.lower(): choice for choice in known}
    near = get_close_matches(name.lower(), by_letters, n=1)
    meant = f"Did you mean {by_letters[near[0]]}? " if near else ""
    return f"{meant}Choose one of: {', '.join(known)}."
