"""Which protocol a frame is of."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.dtn.samples import SAMPLES
from support.cases import ALL, Case
from wireloom.capture.recognition import decodes, recognise, recognitions
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.messages import Bundle


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_good_frame_is_recognised(case: Case) -> None:
    for raw in case.frames:
        assert recognise(raw) == case.name
        assert decodes(case.name, raw)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_frame_that_is_cut_short_is_recognised(case: Case) -> None:
    for raw in case.frames:
        assert recognise(raw[: max(8, len(raw) * 2 // 3)]) == case.name


@pytest.mark.parametrize(
    ("raw", "protocol"),
    [
        (b"", None),
        (b"\x00", None),
        (b"GET / HTTP/1.1", None),
        (b"MYMS", "myriadmesh"),
        (b"\x79", "uep12"),
        (b"\x01\x01", "cthun"),
        (b"\x01\xf1", "cthun"),
        (b"\x01\x02", None),
        (b' {"', "signalhub"),
        (b"\x81", "signalhub"),
        (b"\xa1", "dtn"),
        (bytes.fromhex("0001000000010000"), "dtn"),
    ],
)
def test_the_first_bytes_decide(raw: bytes, protocol: str | None) -> None:
    assert recognise(raw) == protocol


@pytest.mark.parametrize("first", [b"\x79", b"\x7b", b"\x81"])
def test_a_bundle_whose_length_looks_like_another_protocol_is_a_bundle(first: bytes) -> None:
    (bundle,) = [one for one in SAMPLES.values() if isinstance(one, Bundle)][:1]
    for size in range(256):
        header = msgspec.structs.replace(bundle.header, extra={"padding": "x" * size})
        raw = encode(msgspec.structs.replace(bundle, header=header))
        if raw.startswith(first):
            break
    assert raw.startswith(first)
    assert recognise(raw) == "dtn"
    assert recognise(raw[:-1]) != "dtn"


@given(st.binary(max_size=100))
def test_any_bytes_give_an_answer(raw: bytes) -> None:
    assert recognise(raw) in {None, "cthun", "dtn", "myriadmesh", "signalhub", "uep12"}


def test_the_surest_beginning_goes_first() -> None:
    assert list(recognitions()) == ["myriadmesh", "cthun", "uep12", "signalhub", "dtn"]
