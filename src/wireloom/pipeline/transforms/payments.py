"""`payments`: DTN payments that their payers signed, and nonces that were used twice.

A payer uses a nonce once. The first time that a payment is seen it is paid. The same payment in
another frame is a replay, whoever sends it; the same nonce for something else is a double
spending. Copies of one frame on its way are neither.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "payments",
    "One row a frame that carries a valid DTN payment, whatever the number of its sightings.",
    (
        Column("payer", "string", "Public key of who pays, hex."),
        Column("payee", "string", "Public key of who is paid, hex."),
        Column("amount", "decimal(20,0)", "How much."),
        Column("nonce", "decimal(20,0)", "The number that this payer may use once."),
        Column("verdict", "string", "`paid`, `replay` or `double_spend`."),
        Column("message_id", "string", "The bundle; null for a payment by itself."),
        Column("content", "string", "As in `frames`."),
        Column("sender", "string", "UID of who sent it, hex."),
        Column("first_seen", "timestamp", "Its first sighting.", "UTC"),
        Column("first_node", "string", "Where it was seen first."),
        Column("sightings", "bigint", "How often it was captured."),
        Column("nodes", "bigint", "At how many nodes."),
    ),
    ("content",),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "auth",
        "captured_at",
        "content",
        "dtn.payload.amount",
        "dtn.payload.extra",
        "dtn.payload.nonce",
        "dtn.payload.payee",
        "dtn.payload.payer",
        "message_id",
        "node",
        "protocol",
        "sighting",
        "source",
        "type",
    ),
    protocol="dtn",
    types=("Payment",),
)

_PAYMENTS: Final = """
    with presented as (
        select content, payer, nonce, payee, amount, extra,
               min_by(message_id, at) as message_id, min_by(source, at) as sender,
               min(captured_at) as first_seen, min_by(node, at) as first_node,
               count(*) as sightings, count(distinct node) as nodes
        from (select *, dtn.payload.payer, try_cast(dtn.payload.nonce as decimal(20, 0)) as nonce,
                     dtn.payload.payee, dtn.payload.amount, dtn.payload.extra,
                     struct(captured_at, sighting) as at
              from {s} where protocol = 'dtn' and type = 'Payment' and auth = 'valid')
        group by content, payer, nonce, payee, amount, extra)
    select *,
           case when row_number() over same = 1 then 'paid'
                when first(struct(payee, amount, extra)) over same = struct(payee, amount, extra)
                    then 'replay'
                else 'double_spend' end as verdict
    from presented window same as (partition by payer, nonce order by first_seen, content)
"""


def payments(sightings: DataFrame) -> DataFrame:
    """The payments in `sightings`, by payer and nonce in the order of their first sightings."""
    return sightings.sparkSession.sql(_PAYMENTS, s=sightings)
