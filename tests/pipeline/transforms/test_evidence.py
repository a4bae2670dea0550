"""The rules of each protocol are found, and the columns that they name."""

import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from wireloom.pipeline.transforms import evidence
from wireloom.pipeline.transforms.evidence.rows import EXPIRES, ONE, Accountable, Rules, Term
from wireloom.registry import NAMES, WireProtocol

TINY = Rules(
    accountable=Accountable(
        when="tiny.word = 'cthun.no' and payload_size > size (array(1))",
        words="words",
        destinations=Term(ONE, "one"),
        deadline=EXPIRES,
        app_type="lower(tiny.kind)",
    ),
    evidence=(),
)
NAMED = ("cthun", "payload_size", "size", "tiny")
KNOWN = pa.schema([(name, pa.string()) for name in NAMED])


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """One protocol alone, whose rules are in a module named `tiny_evidence`."""
    monkeypatch.setattr(evidence, "NAMES", ("dtn",))
    monkeypatch.setattr(WireProtocol, "evidence_module", "tiny_evidence")
    monkeypatch.setattr(evidence, "rules", evidence.rules.__wrapped__)
    return monkeypatch


def test_every_protocol_has_rules() -> None:
    assert tuple(evidence.rules()) == NAMES


def test_a_protocol_without_rules_has_no_fates(tiny: pytest.MonkeyPatch) -> None:
    assert evidence.rules() == {}


def test_a_module_that_fails_is_not_taken_for_a_missing_one(
    tiny: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tiny.setattr(WireProtocol, "evidence_module", "broken_evidence")
    tiny.syspath_prepend(str(tmp_path))
    (tmp_path / "broken_evidence.py").write_text("import wireloom.nothing_there\n")
    with pytest.raises(ModuleNotFoundError, match="nothing_there"):
        evidence.rules()


def test_columns_are_what_rows_name(tiny: pytest.MonkeyPatch) -> None:
    module = ModuleType("tiny_evidence")
    module.RULES = TINY  # type: ignore[attr-defined]
    tiny.setitem(sys.modules, "tiny_evidence", module)
    tiny.setattr(evidence, "schema", lambda: KNOWN)
    assert evidence.columns() == ["payload_size", "tiny.kind", "tiny.word"]
    assert evidence.accountable_columns() == ["payload_size", "tiny.word"]
    assert evidence.app_type_columns() == ["tiny.kind"]
