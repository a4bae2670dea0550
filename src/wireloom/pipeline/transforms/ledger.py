"""`ledger`: the blocks of the MyriadMesh ledger, and how they hang together.

A block names the hash of the one before it and stands one higher. Only blocks in frames with a
valid signature are linked; others are shown as `unverified`, since anyone could have made them
up, and change nothing for the rest.
"""

from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.functions import arrow_udf

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.protocols.myriadmesh.integrity import block_hash, merkle_root
from wireloom.protocols.myriadmesh.messages import LedgerBlock

TABLE: Final = Table(
    "ledger",
    "One row a distinct block of the MyriadMesh ledger.",
    (
        Column("block_hash", "string", "The block's hash, hex."),
        Column("block_height", "bigint", "Its place in the chain."),
        Column("previous_hash", "string", "The hash of the block before, hex."),
        Column(
            "state",
            "string",
            "`linked`: the block before is known, or this is the first; `fork`: so it is, and "
            "another block takes the same place; `orphan`: the block before is not known; `gap`: "
            "it is known and not one lower; `unverified`: no valid signature vouches for it.",
        ),
        Column("missing_below", "bigint", "Heights right below it at which no block is known."),
        Column("rivals", "bigint", "Other blocks with the same height and predecessor."),
        Column("merkle_root", "string", "The root that it states, hex."),
        Column("merkle_ok", "boolean", "Whether that is the root of its entries."),
        Column("entry_count", "bigint", "How many entries it has."),
        Column("sources", "array<string>", "The nodes that published it, hex."),
        Column("first_seen", "timestamp", "Its first sighting.", "UTC"),
        Column("sightings", "bigint", "How often it was captured."),
        Column("nodes", "bigint", "At how many nodes."),
    ),
    ("block_hash",),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "auth",
        "captured_at",
        "myriadmesh.payload.block_height",
        "myriadmesh.payload.entries",
        "myriadmesh.payload.merkle_root",
        "myriadmesh.payload.previous_hash",
        "node",
        "protocol",
        "source",
        "type",
    ),
    protocol="myriadmesh",
    types=("LEDGER_BLOCK",),
)

HASHES: Final = pa.struct([("block_hash", pa.string()), ("root", pa.string())])

_FIELDS: Final = ("block_height", "previous_hash", "merkle_root", "entries")
_BLOCKS: Final = f"""
    select {", ".join(_FIELDS)}, bool_or(auth = 'valid') as verified,
           array_sort(collect_set(source)) as sources, min(captured_at) as first_seen,
           count(*) as sightings, count(distinct node) as nodes
    from (select auth, source, captured_at, node,
                 {", ".join(f"myriadmesh.payload.{name}" for name in _FIELDS)}
          from {{s}}
          where protocol = 'myriadmesh' and type = 'LEDGER_BLOCK' and auth <> 'invalid'
            and myriadmesh.payload.previous_hash is not null)
    group by {", ".join(_FIELDS)}
"""  # noqa: S608
"""Each distinct block once; sealed ones cannot be read."""

_CHECKED: Final = """
    select *, hashes.block_hash, hashes.root = merkle_root as merkle_ok,
           cast(size(entries) as bigint) as entry_count
    from {b}
"""

_LINKED: Final = """
    with valid as (select * from {b} where verified),
    places as (
        select previous_hash, block_height, count(*) as blocks from valid
        group by previous_hash, block_height),
    heights as (
        select block_height,
               block_height - lag(block_height, 1, -1L) over (order by block_height) - 1 as missing
        from (select distinct block_height from valid))
    select b.*, if(b.verified, h.missing, null) as missing_below,
           if(b.verified, s.blocks - 1, null) as rivals,
           case when not b.verified then 'unverified'
                when p.block_height + 1 <> b.block_height then 'gap'
                when p.block_height is null and b.block_height > 0 then 'orphan'
                when s.blocks > 1 then 'fork' else 'linked' end as state
    from {b} b
    left join valid p on p.block_hash = b.previous_hash
    left join places s on s.previous_hash = b.previous_hash and s.block_height = b.block_height
    left join heights h on h.block_height = b.block_height
"""


def ledger(sightings: DataFrame) -> DataFrame:
    """The blocks in `sightings`, linked."""
    spark = sightings.sparkSession
    # The stub knows only the form that PySpark itself warns of.
    hashed = arrow_udf(hashes, "struct<block_hash: string, root: string>")  # type: ignore[call-overload]
    blocks = spark.sql(_BLOCKS, s=sightings).withColumn("hashes", hashed(*_FIELDS))
    return spark.sql(_LINKED, b=spark.sql(_CHECKED, b=blocks))


def hashes(heights: pa.Array, previous: pa.Array, roots: pa.Array, entries: pa.Array) -> pa.Array:
    """The hash of each block, and the root that its entries make; all columns are hex."""
    rows = zip(*[one.to_pylist() for one in (heights, previous, roots, entries)], strict=True)
    return pa.array([_hashed(*row) for row in rows], HASHES)


def _hashed(height: int, previous: str, root: str, entries: list[str]) -> dict[str, Any]:
    block = LedgerBlock(
        block_height=height,
        previous_hash=bytes.fromhex(previous),
        merkle_root=bytes.fromhex(root),
        entries=tuple(bytes.fromhex(entry) for entry in entries),
    )
    return {"block_hash": block_hash(block).hex(), "root": merkle_root(block.entries).hex()}
