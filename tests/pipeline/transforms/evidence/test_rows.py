"""Rows say what SQL, docs and following need to know."""

from wireloom.pipeline.transforms.evidence.rows import (
    ENTITLEMENTS,
    EXPIRES,
    KNOWN_NODE,
    ONE,
    Accountable,
    Claim,
    Report,
    Rules,
    Silence,
    Term,
    addressee,
    coded,
    created_plus,
    destination,
    hearer,
    listed,
    recipient,
    source,
    witness,
)
from wireloom.wire.outcome import Fate, Reason

CLAIM = Claim(when="true", about="reply_to", proves=Fate.DELIVERED, words="an answer")


def test_a_speaker_is_a_column_or_the_node() -> None:
    speakers = [speaks("tiny.by") for speaks in (source, destination, addressee, recipient, hearer)]
    assert {one.voices.sql for one in speakers} == {"array(tiny.by)"}
    assert {one.entitled for one in speakers} < set(ENTITLEMENTS)
    assert source(KNOWN_NODE).voices is KNOWN_NODE


def test_a_code_stands_for_a_reason() -> None:
    reasons = {"A": Reason.STALE, "B": Reason.EXPIRED}
    assert coded("tiny.code", reasons) == Term(
        "case tiny.code when 'A' then 'stale' when 'B' then 'expired' end",
        "A → `stale`, B → `expired`",
    )
    assert coded("c", reasons, otherwise="c").sql.endswith("then 'expired' else c end")


def test_a_witness_speaks_of_the_message_itself() -> None:
    row = witness(when="outcome = 'delivered'", proves=Fate.DELIVERED, words="its outcome")
    assert (row.about, row.kind, CLAIM.kind) == ("message_id", "witness", "wire")


def test_texts_are_quoted() -> None:
    assert listed("a", Fate.LOST) == "'a', 'lost'"
    assert created_plus("7", "a week").sql == "cast(created_ms as decimal(20, 0)) + 7"


def test_all_that_is_worked_out_for_a_frame_is_looked_at() -> None:
    accountable = Accountable(
        when="type = 'A'",
        words="A",
        destinations=Term(ONE, "one"),
        deadline=EXPIRES,
        gathered={"ttl": "max(tiny.ttl)"},
        reports=Report(when="type = 'R'", about="tiny.about"),
        app_type="tiny.app",
    )
    rows = (
        Silence(when="tiny.quiet", words="nothing"),
        Claim(
            when="tiny.when",
            about="reply_to",
            proves=Fate.REJECTED,
            by=source("tiny.by"),
            to="peer",
            reason=Term("tiny.why", "its own"),
            words="a refusal",
        ),
    )
    assert list(Rules(accountable=accountable, evidence=rows).looks_at()) == [
        "type = 'A'",
        "max(tiny.ttl)",
        "tiny.app",
        "type = 'R'",
        "tiny.about",
        "tiny.quiet",
        "tiny.when",
        "reply_to",
        "array(tiny.by)",
        "peer",
        "tiny.why",
    ]
