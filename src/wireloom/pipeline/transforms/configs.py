"""`configs`: the settings that managers issued over DTN, in the order of their versions.

A ConfigUpdate counts if its issuer's own signature holds; whether a node trusts the issuer is
the node's to say. Versions count up: only the greatest of an issuer is in force, and when that
is void none is.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "configs",
    "One row a valid ConfigUpdate of a DTN manager, whatever the number of bundles it came in.",
    (
        Column("issuer_key", "string", "Public key of the manager, hex."),
        Column("issuer", "string", "The manager's UID, hex."),
        Column("version", "decimal(20,0)", "Counts up for each issuer."),
        Column("flags", "string", "The settings by name, as JSON."),
        Column("issued_ms", "bigint", "When it was issued, by its issuer.", "ms since 1970"),
        Column("expires_ms", "bigint", "When it is void; null for never.", "ms since 1970"),
        Column("state", "string", "`current`, `expired` at the horizon, or `superseded`."),
        Column("conflict", "boolean", "Whether the issuer gave the version to another one too."),
        Column("previous_version", "decimal(20,0)", "The next lower version that was seen."),
        Column("in_order", "boolean", "Whether no lower version was issued after this one."),
        Column("bundles", "bigint", "Distinct frames that carried it."),
        Column("nodes", "bigint", "At how many nodes it was seen."),
        Column("first_seen", "timestamp", "Its first sighting.", "UTC"),
    ),
    ("issuer_key", "version", "flags", "issued_ms", "expires_ms"),
)

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "auth",
        "captured_at",
        "content",
        "dtn.payload.expires_at_ms",
        "dtn.payload.extra",
        "dtn.payload.flags",
        "dtn.payload.issued_at_ms",
        "dtn.payload.issuer_key",
        "dtn.payload.version",
        "node",
        "protocol",
        "type",
    ),
    protocol="dtn",
    types=("ConfigUpdate",),
    has_horizon=True,
)


_CONFIGS: Final = """
    with issued as (
        select issuer_key, version, flags, issued_ms, expires_ms, extra,
               count(distinct content) as bundles, count(distinct node) as nodes,
               min(captured_at) as first_seen, sha2(unhex(issuer_key), 256) as issuer
        from (select dtn.payload.issuer_key, dtn.payload.version, dtn.payload.flags,
                     dtn.payload.issued_at_ms as issued_ms,
                     dtn.payload.expires_at_ms as expires_ms, dtn.payload.extra,
                     content, node, captured_at
              from {s} where protocol = 'dtn' and type = 'ConfigUpdate' and auth = 'valid')
        group by issuer_key, version, flags, issued_ms, expires_ms, extra)
    select *,
           case when version < max(version) over (partition by issuer_key) then 'superseded'
                when expires_ms <= :horizon_ms then 'expired' else 'current' end as state,
           count(*) over (partition by issuer_key, version) > 1 as conflict,
           max(version) over lower as previous_version,
           coalesce(max(issued_ms) over lower, issued_ms) <= issued_ms as in_order
    from issued
    window lower as (partition by issuer_key order by version
                     range between unbounded preceding and 1 preceding)
"""
"""Each update once; fields that this version does not know tell updates apart, too."""


def configs(sightings: DataFrame, horizon_ms: int) -> DataFrame:
    """The updates in `sightings`.

    Args:
        sightings: All frames, with `auth`.
        horizon_ms: The latest capture.
    """
    return sightings.sparkSession.sql(_CONFIGS, {"horizon_ms": horizon_ms}, s=sightings)
