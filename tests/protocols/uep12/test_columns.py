"""UEP-12 messages as columns; that they agree with the codec is tested for all protocols."""

from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from protocols.uep12.samples import SAMPLES
from wireloom.protocols.uep12 import codec
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.columns import COLUMN, decode
from wireloom.protocols.uep12.constants import MAX_MESSAGE_SIZE
from wireloom.protocols.uep12.messages import Content, PullByHash

CONTENT = encode(SAMPLES["CONTENT"])
LIST = encode(SAMPLES["MESSAGE_LIST"])
PULL = encode(SAMPLES["PULL_BY_HASH"])


def decoded(*raws: bytes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = decode(pa.array(raws, pa.binary())).to_pylist()
    return rows


def content(**changes: object) -> bytes:
    sample = SAMPLES["CONTENT"]
    assert isinstance(sample, Content)
    return encode(msgspec.structs.replace(sample, **changes))


def given(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def test_a_content_is_shown_field_by_field() -> None:
    (row,) = decoded(CONTENT)
    assert given(row.pop("uep12")) == {
        "pow_nonce": Decimal(87536),
        "timestamp": 1681084861000,
        "ttl_epoch": 60,
        "references": [
            {"msg_hash": "545220ba8a4f6e35", "epoch_diff": 0},
            {"msg_hash": "22" * 8, "epoch_diff": -3},
        ],
        "reserved": 0,
        "payload": b"second".hex(),
        "version": 5,
        "msg_refer_count": 2,
    }
    assert given(row) == {
        "type": "CONTENT",
        "message_id": "fce743c83591ef42",
        "cast": "broadcast",
        "created_ms": 1681084861000,
        "expires_ms": 1681084861000 + 60 * 60_000,
        "payload_size": 6,
    }


def test_a_list_is_shown_field_by_field() -> None:
    (row,) = decoded(LIST)
    assert given(row.pop("uep12")) == {
        "ticket": "01020304",
        "start_time": 1681084800000,
        "end_time": 1681084900000,
        "msg_hashes": ["11" * 8, "22" * 8],
        "count": 2,
    }
    assert given(row).keys() == {"type", "message_id", "cast"}
    assert row["cast"] == "unicast"


def test_no_references_are_an_empty_list_and_a_pull_has_none() -> None:
    bare, pull = decoded(content(references=()), PULL)
    assert bare["uep12"]["references"] == []
    assert pull["uep12"]["references"] is None
    assert pull["uep12"]["msg_hashes"] == ["11" * 8]


def test_the_largest_numbers_are_kept() -> None:
    (row,) = decoded(content(pow_nonce=(1 << 64) - 1, timestamp=(1 << 48) - 1, reserved=31))
    assert row["uep12"]["pow_nonce"] == Decimal((1 << 64) - 1)
    assert row["uep12"]["timestamp"] == (1 << 48) - 1
    assert row["uep12"]["reserved"] == 31


def test_a_ttl_of_zero_lives_one_epoch() -> None:
    (row,) = decoded(content(ttl_epoch=0, timestamp=5))
    assert row["expires_ms"] == 60_005


def test_the_same_message_has_the_same_id() -> None:
    one, two, three = decoded(CONTENT, PULL, CONTENT)
    assert one["message_id"] == three["message_id"] != two["message_id"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x79",
        b"\x79\x10",
        b"\x78" + CONTENT[1:],
        b"\x79\x12" + CONTENT[2:],
        CONTENT[:2] + b"\x04" + CONTENT[3:],
        CONTENT[:19] + b"\x05" + CONTENT[20:] + bytes(50),
        CONTENT[:39],
        LIST[:-1],
        LIST + b"\x00",
        PULL[:2] + b"\x02" + PULL[3:],
        encode(SAMPLES["PULL_BY_TIME"]) + b"\x00",
        content(payload=bytes(MAX_MESSAGE_SIZE - 40)) + b"\x00",
    ],
    ids=lambda raw: raw[:4].hex() + f"+{len(raw)}",
)
def test_a_fault_is_told_and_spoils_no_other_message(raw: bytes) -> None:
    before, refused, after = decoded(CONTENT, raw, PULL)
    assert before["type"] == "CONTENT"
    assert after["type"] == "PULL_BY_HASH"
    assert given(refused).keys() >= {"reason", "detail"}
    assert refused["uep12"] is None
    assert decoded(raw)[0] == refused


def test_good_messages_do_not_go_through_the_codec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(codec, "decode")
    raws = [encode(message) for message in SAMPLES.values()]
    raws.append(encode(PullByHash(msg_hashes=())))
    assert [row["type"] for row in decoded(*raws)] == [*SAMPLES, "PULL_BY_HASH"]


def test_the_struct_joins_the_fields_of_all_messages() -> None:
    assert [field.name for field in COLUMN.type] == [
        "pow_nonce",
        "timestamp",
        "ttl_epoch",
        "references",
        "reserved",
        "payload",
        "version",
        "msg_refer_count",
        "ticket",
        "start_time",
        "end_time",
        "msg_hashes",
        "count",
    ]
