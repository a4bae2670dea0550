"""Who is accountable and what proves what, for the docs: from the rows of the fate rules."""

from typing import Final

from wireloom.pipeline.transforms.evidence import rules
from wireloom.pipeline.transforms.evidence.rows import ANYONE, Claim, Row, Term

NOTHING: Final = "–"


def fate_tables() -> str:
    """Both tables, each with a line or more for every protocol."""
    return f"{_accountable()}\n{_proofs()}"


def _accountable() -> str:
    lines = [
        "### Who is accountable",
        "",
        "| protocol | messages with a fate | destination | deadline |",
        "|---|---|---|---|",
    ]
    for name, one in rules().items():
        wanted = one.accountable
        lines.append(_line(name, wanted.words, wanted.destinations.words, wanted.deadline.words))
    return "\n".join([*lines, ""])


def _proofs() -> str:
    lines = [
        "### What proves what",
        "",
        "A frame proves what the first line of its protocol says that matches the frame.",
        "",
        "| protocol | evidence | proves | reason | kind | counts |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_line(name, *_cells(row)) for name, one in rules().items() for row in one.evidence]
    return "\n".join([*lines, ""])


def _cells(row: Row) -> tuple[str, ...]:
    if not isinstance(row, Claim):
        return row.words, "nothing", *[NOTHING] * 3
    return row.words, f"`{row.proves}`", _reason(row), f"`{row.kind}`", _counts(row)


def _reason(row: Claim) -> str:
    if row.reason is None:
        return NOTHING
    return row.reason.words if isinstance(row.reason, Term) else f"`{row.reason}`"


def _counts(row: Claim) -> str:
    """For whom, or if who says so."""
    if row.to is not None:
        return f"for the destination that is its `{row.to}`"
    if row.by == ANYONE:
        return "for every destination"
    voices = row.by.voices
    unknown = ", or nothing is known of it" if voices.may_be_anyone else ""
    return f"if {voices.words} is {row.by.entitled.words}{unknown}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
