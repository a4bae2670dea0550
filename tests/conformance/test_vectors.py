"""Every vector says what `wireloom decode` must say of a frame."""

from typing import Any

import pytest

from support.cases import ALL, Case, vectors
from wireloom.wire.errors import WireError
from wireloom.wire.plain import to_plain

DECODE = [
    pytest.param(case, vector, id=f"{case.name}-{vector['name']}")
    for case in ALL
    for vector in vectors(case.name)
    if vector.get("check", "decode") == "decode"
]


@pytest.mark.parametrize(("case", "vector"), DECODE)
def test_vector_holds(case: Case, vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["hex"])
    expect = dict(vector["expect"])
    if not expect.pop("ok"):
        with pytest.raises(WireError) as caught:
            case.protocol.codec.decode(raw)
        assert caught.value.reason == expect["reason"]
        return
    message = case.protocol.codec.decode(raw)
    keys = [bytes.fromhex(key)] if (key := expect.pop("signature_valid_with", None)) else []
    auth = case.protocol.integrity.authenticate(message, raw, keys)
    if keys:
        assert auth == "valid"
    if "pow_valid" in expect:
        assert auth == ("valid" if expect.pop("pow_valid") else "invalid")
    summary = case.protocol.record.summarise(message, raw)
    fields = to_plain(message)
    payload = fields.get("payload")
    seen = {
        **(payload if isinstance(payload, dict) else {}),
        **fields,
        **{name: getattr(summary, name) for name in summary.__struct_fields__},
        "auth": auth,
    }
    for name, value in expect.items():
        found = seen[name]
        assert (len(found) if isinstance(found, list) else found) == value, name


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_vector_has_a_name_of_its_own_and_a_source(case: Case) -> None:
    lines = vectors(case.name)
    assert len({line["name"] for line in lines}) == len(lines)
    assert all(line["source"] for line in lines)
