"""Texts in both encodings."""

from wireloom.protocols.signalhub.hub.encodings import ENCODINGS, JSON, PACKED, exact, wire_text


def test_a_text_is_written_in_both_encodings() -> None:
    assert wire_text("@(é)") == (b"\xa5@(\xc3\xa9)", b'"@(\xc3\xa9)"')
    assert wire_text("@(é)")[JSON.text] == JSON.write("@(é)")
    assert wire_text("@(é)")[PACKED.text] == PACKED.write("@(é)")


def test_an_encoding_is_found_by_whether_its_frames_are_text() -> None:
    assert [one.text for one in ENCODINGS] == [False, True]


def test_bytes_to_be_kept_are_the_same_bytes() -> None:
    assert exact(JSON.write([1, 2])) == b"[1,2]"
