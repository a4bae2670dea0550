r"""Text from outside, in front of a person.

What a terminal or a log would act on instead of showing it (escapes, line ends, marks that turn
the direction of writing) is shown as Python writes it: `\x1b`, `\n`, `\u202e`.
"""

import json


def visible(text: str) -> str:
    """One line that shows every character and does nothing."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def visible_json(document: str) -> str:
    """The same JSON, with escapes of its own for what a terminal would act on."""
    if document.isprintable():
        return document
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in document)


def _escaped(one: str) -> str:
    return one.encode("unicode_escape").decode()
