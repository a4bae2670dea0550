import pytest

from protocols.myriadmesh.samples import SAMPLES
from wireloom.protocols.myriadmesh.constants import AdapterType, ErrorCode
from wireloom.protocols.myriadmesh.messages import Frame
from wireloom.protocols.myriadmesh.payloads import Adapter, Error
from wireloom.wire.plain import to_plain


@pytest.mark.parametrize("adapter_type", AdapterType)
def test_a_known_adapter_is_shown_by_name(adapter_type: AdapterType) -> None:
    assert Adapter(adapter_type=adapter_type.value, address="").adapter_name == adapter_type.name


def test_an_adapter_of_no_known_kind_keeps_its_number() -> None:
    shown = to_plain(Adapter(adapter_type=0x42, address="späť"))
    assert shown == {
        "adapter_type": 0x42,
        "address": "späť",
        "adapter_name": "UNKNOWN",
        "address_length": 6,
    }


def test_an_error_shows_its_command() -> None:
    error = Error(error_code=ErrorCode.TTL_EXCEEDED, original_message_id=bytes(16))
    shown = to_plain(error)
    assert shown["command"] == "ERROR"


@pytest.mark.parametrize(
    ("sample", "count", "items"),
    [
        ("DHT_RESPONSE", "result_count", "results"),
        ("DHT_STORE", "value_length", "value"),
        ("DISCOVERY", "adapter_count", "adapters"),
        ("LEDGER_BLOCK", "entry_count", "entries"),
        ("TEST_REQUEST", "payload_size", "test_payload"),
        ("DATA_BATCH", "batch_count", "messages"),
    ],
)
def test_counts_and_lengths_follow_from_the_items(sample: str, count: str, items: str) -> None:
    message = SAMPLES[sample]
    assert isinstance(message, Frame)
    payload = message.payload
    assert to_plain(payload)[count] == len(getattr(payload, items)) > 0
