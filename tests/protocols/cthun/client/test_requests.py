"""What an application can ask of a broker is a message that the broker's codec takes."""

from typing import Any

import pytest
from msgspec import UNSET

from wireloom.protocols.cthun import codec
from wireloom.protocols.cthun.client import requests
from wireloom.protocols.cthun.client.requests import Draft
from wireloom.protocols.cthun.messages import DestinationReport, InventoryResponse

ID = "11111111-1111-4111-8111-111111111111"
ANN = "cth://ann/agent"


@pytest.mark.parametrize(
    ("draft", "answer"),
    [
        (requests.associate(), None),
        (requests.send([ANN], "t", b"x", 3), None),
        (requests.send([ANN], "t", None, 3, in_reply_to=ID), None),
        (requests.send_reported([ANN], "t", b"x", 3), DestinationReport),
        (requests.inventory(["cth://*/*"], 3), InventoryResponse),
    ],
)
def test_drafts_become_messages(draft: Draft[Any], answer: type | None) -> None:
    packet = draft.packet(ID, ANN, 1_430_136_000_000)
    assert codec.decode(codec.encode(packet)) == packet
    assert (packet.envelope.id, packet.envelope.sender) == (ID, ANN)
    assert requests.request(ID, draft, 5).answer is answer


def test_a_message_expires_after_its_time_to_live() -> None:
    envelope = requests.send([ANN], "t", None, 1.5).packet(ID, ANN, 1_430_136_000_000).envelope
    assert envelope.expires == "2015-04-27T12:00:01.500Z"
    assert envelope.destination_report is UNSET
