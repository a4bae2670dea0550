"""Tokens out of whole batches."""

import pyarrow as pa

from wireloom.capture.redaction import redacted, suspects

TOKEN = b'{"authToken":"secret"}'
HIDDEN = b'{"authToken":"******"}'


def test_only_frames_that_may_hold_a_token_are_suspects() -> None:
    frames = [b"", TOKEN, b"{}", b"Bearer x", b'{"a":"\\u0041"}', b"\xff\xfeToken\x00", b"token"]
    column = pa.array(frames, pa.large_binary())
    assert suspects("signalhub", column) == [1, 3, 4, 5]
    assert suspects("signalhub", column.slice(2, 3)) == [1, 2]
    assert suspects("signalhub", column.slice(0, 0)) == []
    assert suspects("cthun", column) == []


def test_a_frame_is_redacted_by_the_rule_of_its_protocol() -> None:
    assert redacted("signalhub", TOKEN) == HIDDEN
    assert redacted("cthun", TOKEN) == TOKEN
    assert redacted("dtn", TOKEN) == TOKEN


def test_a_frame_of_no_known_protocol_is_redacted_by_all_rules() -> None:
    assert redacted(None, TOKEN) == HIDDEN
