"""Texts that are too long to be kept, as transcripts."""

from typing import Any

import pytest

from protocols.signalhub.samples import SAMPLES
from protocols.signalhub.transcript import Transcript, note
from support.cases import vectors
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.hub import lengths

ADA, BOB = "@(a/ada)", "@(b/bob)"
LONG = "x" * 257
NAMES = [f"c{number}" for number in range(65)]


def registration(**more: Any) -> dict[str, Any]:
    return {"actorAddress": ADA, "capabilities": ["x"], "metadata": {}, **more}


CASES = {
    "the type of a send": ("hub:send", {"targetAddress": BOB, "message": note(LONG)}, {}),
    "the target of a send": (
        "hub:send",
        {"targetAddress": f"@({LONG * 2})", "message": note()},
        {},
    ),
    "a traceId": ("hub:send", {"targetAddress": BOB, "message": note()}, {"traceId": LONG}),
    "the type of a publish": ("hub:publish", {"topic": "t", "message": note(LONG)}, {}),
    "the type of a broadcast": ("hub:broadcast", {"message": note(LONG)}, {}),
    "the capability of a broadcast": (
        "hub:broadcast",
        {"message": note()},
        {"targetCapability": LONG},
    ),
    "an address": ("hub:register", registration(actorAddress=f"@({LONG * 2})"), {}),
    "a capability": ("hub:register", registration(capabilities=[LONG]), {}),
    "the list of capabilities": ("hub:register", registration(capabilities=NAMES), {}),
    "an address to forget": ("hub:unregister", {"actorAddress": f"@({LONG * 2})"}, {}),
    "a token": ("hub:renew", {"renewalToken": LONG}, {}),
    "a subscription": ("hub:unsubscribe", {"subscriptionId": LONG}, {}),
}
ASKED = {"hub:send", "hub:register", "hub:renew"}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("packed", [False, True])
def test_a_text_that_is_too_long_is_refused(case: str, packed: bool) -> None:
    type_, payload, metadata = CASES[case]
    hub = Transcript()
    bob, ada = hub.client(BOB), hub.client(ADA, packed=packed)
    bob.registers()
    bob.subscribes("t")
    pattern = "ask" if type_ in ASKED else "tell"
    ada.says(type_, payload, pattern=pattern, metadata=metadata)
    error = ada.hears("hub:error", payload__details__reason="invalid_message")
    assert "at most" in error["payload"]["message"]
    hub.concludes("rejected", "malformed")
    bob.hears_nothing()


def test_too_many_abilities_of_a_client_are_refused() -> None:
    hub = Transcript()
    ada = hub.stranger(ADA)
    ada.connects(capabilities=NAMES)
    ada.hears("hub:error", payload__details__reason="invalid_message")


def test_texts_of_the_greatest_length_are_taken() -> None:
    hub = Transcript()
    bob, ada = hub.client(BOB), hub.client(ADA)
    bob.registers()
    ada.asks(
        "hub:send",
        {"targetAddress": BOB, "message": note(LONG[1:])},
        metadata={"traceId": LONG[1:]},
    )
    bob.hears(LONG[1:], metadata__traceId=LONG[1:])
    ada.asks("hub:register", registration(capabilities=NAMES[1:]))
    hub.concludes("accepted")


def test_all_samples_and_vectors_are_short_enough() -> None:
    for message in SAMPLES.values():
        lengths.check(message)
    for vector in vectors("signalhub"):
        if vector.get("check", "decode") == "decode" and vector["expect"]["ok"]:
            lengths.check(codec.decode(bytes.fromhex(vector["hex"])))
