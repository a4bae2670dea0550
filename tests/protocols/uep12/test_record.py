"""The common record and plain fields of UEP-12."""

import pytest

from protocols.uep12.samples import SAMPLES
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.record import from_fields, summarise
from wireloom.wire.errors import MalformedError, UnknownTypeError
from wireloom.wire.message import Cast, Summary


def test_a_content_has_times_and_no_sender() -> None:
    sample = SAMPLES["CONTENT"]
    assert summarise(sample, encode(sample)) == Summary(
        type="CONTENT",
        id="fce743c83591ef42",
        created_ms=1681084861000,
        expires_ms=1681084861000 + 60 * 60_000,
        cast=Cast.BROADCAST,
        payload_size=6,
    )


def test_a_pull_has_an_identity_only() -> None:
    sample = SAMPLES["PULL_BY_TIME"]
    summary = summarise(sample, encode(sample))
    assert (summary.type, summary.created_ms, summary.expires_ms) == ("PULL_BY_TIME", None, None)
    assert summary.id is not None
    assert summary.cast is Cast.UNICAST
    assert summary.payload_size is None


def test_fields_of_an_unknown_type_are_refused() -> None:
    with pytest.raises(UnknownTypeError, match="'PUSH'"):
        from_fields("PUSH", {})


def test_fields_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(MalformedError, match="count contradicts"):
        from_fields("PULL_BY_HASH", {"msg_hashes": ["11" * 8], "count": 2})
