from typing import Any

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from support.bundles import ANN, BOB, EVE, bundle, sighting, signed
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.payments import TABLE, payments
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.constants import UNSIGNED
from wireloom.protocols.dtn.messages import Payment
from wireloom.wire.keys import SigningKey, uid

MOST = (1 << 64) - 1


def payment(payer: SigningKey, *, nonce: int, amount: int = 5, payee: SigningKey = BOB) -> Payment:
    made = Payment(payer=payer.public, payee=payee.public, amount=amount, nonce=nonce, sig=UNSIGNED)
    paid: Payment = signed(made, payer)
    return paid


PAID = payment(ANN, nonce=1)
FORGED = replace(PAID, nonce=9)
FRAMES = [
    sighting(bundle(PAID, ANN), at=10),
    sighting(bundle(PAID, ANN), at=11, node="n2"),
    sighting(bundle(PAID, BOB), at=20),
    sighting(bundle(payment(ANN, nonce=1, amount=6), ANN), at=30),
    sighting(bundle(payment(ANN, nonce=1, payee=EVE), ANN), at=40),
    sighting(bundle(payment(BOB, nonce=1, payee=ANN), BOB), at=50),
    sighting(encode(payment(ANN, nonce=MOST, amount=MOST)), at=60),
    sighting(bundle(FORGED, ANN), at=70),
    sighting(encode(FORGED), at=71),
    sighting(bundle(replace(PAID, sig=UNSIGNED, nonce=8), ANN), at=72),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> list[dict[str, Any]]:
    return _in_order(rows(TABLE, payments(seen(spark, FRAMES))))


def _in_order(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda row: row["first_seen"])


def test_a_nonce_pays_once(found: list[dict[str, Any]]) -> None:
    assert [(row["nonce"], row["amount"], row["verdict"]) for row in found] == [
        (1, 5, "paid"),
        (1, 5, "replay"),
        (1, 6, "double_spend"),
        (1, 5, "double_spend"),
        (1, 5, "paid"),
        (MOST, MOST, "paid"),
    ]


def test_a_payment_needs_its_payers_own_signature(found: list[dict[str, Any]]) -> None:
    assert not [row for row in found if row["nonce"] in (8, 9)]


def test_copies_of_one_bundle_are_one_payment(found: list[dict[str, Any]]) -> None:
    assert (found[0]["sightings"], found[0]["nodes"], found[0]["first_node"]) == (2, 2, "n1")


def test_a_replay_names_who_sent_it(found: list[dict[str, Any]]) -> None:
    assert found[1]["payer"] == ANN.public.hex()
    assert found[1]["sender"] == uid(BOB.public).hex()
    assert found[1]["message_id"] not in (None, found[0]["message_id"])


def test_a_payment_by_itself_has_no_bundle(found: list[dict[str, Any]]) -> None:
    assert found[-1]["message_id"] is None
    assert found[-1]["payee"] == BOB.public.hex()


def test_the_order_of_arrival_does_not_matter(
    spark: SparkSession, found: list[dict[str, Any]]
) -> None:
    assert _in_order(rows(TABLE, payments(seen(spark, FRAMES[::-1])))) == found
