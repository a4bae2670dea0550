"""What a field means, in the words of the class that declares it."""

import pytest

from protocols.dtn.samples import FULL_ACK, bundled, signed
from protocols.signalhub.samples import SAMPLES
from support.cases import ALL, Case
from wireloom.cli.meanings import meaning_among, meaning_in
from wireloom.protocols.dtn import messages as dtn
from wireloom.protocols.signalhub import messages as hub

BUNDLE = bundled(signed(FULL_ACK))
FRAMING = {
    "data_size",
    "envelope_size",
    "indicator",
    "length",
    "magic",
    "opcode",
    "size",
    "type",
}
"""What stands on the wire and is no field of a message."""


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_field_of_every_sample_has_its_meaning(case: Case) -> None:
    for message in case.samples.values():
        raw = case.protocol.codec.encode(message)
        decoded = case.protocol.codec.decode(raw)
        for span in case.protocol.codec.spans(raw):
            parent, _, name = span.name.rpartition(".")
            if not meaning_in(decoded, span.name):
                in_a_map = meaning_in(decoded, parent) != ""
                assert in_a_map or name in FRAMING or name.isdigit(), span


def test_a_meaning_is_that_of_the_class_which_has_the_field() -> None:
    assert "receipt" not in meaning_in(BUNDLE, "signature")
    assert meaning_in(BUNDLE, "signature").startswith("The sender's signature")
    assert meaning_in(BUNDLE, "payload.sig") == "The destination's signature."
    assert meaning_in(BUNDLE, "header.ttl_sec") == "Lifetime in seconds (R27)."


def test_a_header_s_lifetime_is_not_explained_with_a_payload_s_words() -> None:
    send = SAMPLES["hub:send"]
    assert meaning_in(send, "ttl").startswith("Lifetime in ms from `timestamp` on")
    assert meaning_in(send, "payload.ttl") != meaning_in(send, "ttl")


@pytest.mark.parametrize("name", ["", "nothing", "payload.extra.x", "header.9", "signature.x.y"])
def test_what_no_class_declares_means_nothing(name: str) -> None:
    assert meaning_in(BUNDLE, name) == ""


def test_a_refused_frame_has_the_meanings_that_all_classes_agree_on() -> None:
    classes = [*dtn.TYPES.values(), *dtn.PARTS]
    assert meaning_among(classes, "header.ttl_sec") == "Lifetime in seconds (R27)."
    assert meaning_among(classes, "payload.from_node").startswith("Public key (not UID)")
    assert meaning_among(classes, "payload.path.0.node") != ""
    assert meaning_among(classes, "sig") == ""  # the payer's, the destination's or the issuer's
    assert meaning_among(classes, "nothing") == ""


def test_a_field_with_a_python_word_for_a_name_has_its_meaning() -> None:
    assert meaning_among([hub.Connect], "from").startswith("Who sends it")
    assert meaning_in(SAMPLES["hub:connect"], "from").startswith("Who sends it")
