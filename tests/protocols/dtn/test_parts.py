"""Keys on the wire, and headers."""

import msgspec
import pytest

from protocols.dtn.samples import ONES, SAMPLES, TWOS
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.messages import ALL_TYPES, Bundle
from wireloom.protocols.dtn.parts import BundleHeader, DtnMap, camel


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("bundle_id", "bundleId"),
        ("ack_h3r5", "ackH3r5"),
        ("geo_h3r7", "geoH3r7"),
        ("delivered_at_ms", "deliveredAtMs"),
        ("sig", "sig"),
    ],
)
def test_fields_are_spelt_on_the_wire_as_specified(name: str, key: str) -> None:
    assert camel(name) == key


def test_every_class_spells_its_keys_so() -> None:
    classes: list[type[DtnMap]] = [*ALL_TYPES.values(), BundleHeader]
    for cls in classes:
        for field in msgspec.structs.fields(cls):
            assert field.encode_name == camel(field.name)


def test_a_header_tells_its_destinations() -> None:
    bundle = SAMPLES["Data"]
    assert isinstance(bundle, Bundle)
    assert bundle.header.destinations() == {Destination.USER: TWOS}
    both = msgspec.structs.replace(bundle.header, dst_topic=ONES)
    assert both.destinations() == {Destination.USER: TWOS, Destination.TOPIC: ONES}
