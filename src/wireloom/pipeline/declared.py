"""The tables that ingest fills: what was captured, decoded or refused."""

from functools import cache
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline.decoding import schema
from wireloom.pipeline.tables import Column, Store, Table, columns_of
from wireloom.registry import NAMES

REFUSAL: Final = ("reason", "detail", "offset")
KIND: Final = "kind"
"""Says which table a row goes to; no table has it as a column."""

MEANINGS: Final = {
    "sighting": "The row's identity: node, `#`, and the frame's sequence number there.",
    "captured_at": "When the node saw the frame, by the node's clock.",
    "node": "The node that saw it.",
    "protocol": "What it is.",
    "link": "The link that it was seen on; names that begin with `lora` are LoRa links.",
    "direction": "`in`, `out`, or `local` for a frame that was composed there.",
    "peer": "Who was at the other end.",
    "outcome": "What the node says became of the frame.",
    "outcome_reason": "Why the node refused it.",
    "swarm": "The swarm that it belongs to (UEP-12).",
    "epoch_ms": "That swarm's epoch.",
    "size": "Bytes of the frame.",
    "reason": "Why the frame is refused.",
    "detail": "What is wrong with it, for a person.",
    "offset": "The byte where it goes wrong.",
    "type": "The message type by its specification's own name.",
    "message_id": "The message's identity.",
    "source": "Who sent it.",
    "destination": "For whom it is.",
    "targets": "For whom it is, where the protocol addresses a list (Cthun).",
    "cast": "How many it is meant for.",
    "created_ms": "When it was made, by its sender's clock.",
    "expires_ms": "When its lifetime ends.",
    "priority_rank": "0 (most urgent) to 4.",
    "hops": "How many nodes carried it so far.",
    "reply_to": "The message that this one answers, acknowledges or reports on.",
    "payload_size": "Bytes of the frame that are its payload.",
    "content": "A hash of what does not change on the frame's way.",
    "decoder": "The version of Wireloom that decoded it.",
    "raw": "The frame.",
    **{name: f"All fields of a {name} message; null in other rows." for name in NAMES},
}
UNITS: Final = {
    "captured_at": "µs, UTC",
    "epoch_ms": "ms",
    "size": "bytes",
    "offset": "bytes",
    "created_ms": "ms since 1970",
    "expires_ms": "ms since 1970",
    "payload_size": "bytes",
}


@cache
def frames() -> Table:
    """One row a sighting of a frame that decodes."""
    return Table(
        "frames",
        "One row a sighting: a frame that decodes, as one node saw it.",
        tuple(column for column in _columns() if column.name not in REFUSAL),
        ("sighting",),
    )


@cache
def batched() -> Table:
    """One row a frame within a DATA_BATCH."""
    return frames()._replace(
        name="batched",
        about="One row a frame within a DATA_BATCH of the mesh, as if it had been seen by itself. "
        "Its sighting is the batch's, `/`, and its place.",
    )


@cache
def quarantine() -> Table:
    """One row a sighting of a frame that does not decode."""
    wanted = [
        "sighting",
        "captured_at",
        "node",
        "protocol",
        "link",
        "direction",
        "peer",
        "outcome",
        "outcome_reason",
        "swarm",
        "epoch_ms",
        "size",
        "reason",
        "detail",
        "offset",
        "content",
        "decoder",
        "raw",
    ]
    return Table(
        "quarantine",
        "One row a sighting of a frame that does not decode, with its bytes. Nothing is dropped.",
        tuple(column for column in _columns() if column.name in wanted),
        ("sighting",),
    )


def ingested() -> tuple[Table, ...]:
    """All tables that ingest fills."""
    return frames(), quarantine(), batched()


def version(store: Store) -> int:
    """Grows with every commit of ingest."""
    return sum(store.version(table.name) for table in ingested())


def decoded(spark: SparkSession, store: Store) -> DataFrame:
    """All frames that decode, batched ones included."""
    return store.read(spark, frames()).union(store.read(spark, batched()))


def _columns() -> tuple[Column, ...]:
    return tuple(
        column._replace(unit=UNITS.get(column.name, ""))
        for column in columns_of(schema(), MEANINGS)
        if column.name != KIND
    )
