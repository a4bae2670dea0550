"""`groups`: public groups as DTN nodes announced them.

An announcement counts if its creator's own signature holds. A group's id is free for anyone to
announce: of several announcements the latest is shown, and more than one creator, or two groups
with one short id, is a conflict for the reader to judge.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "groups",
    "One row a short id of a public DTN group: its latest valid announcement.",
    (
        Column("short_id", "string", "Ten characters that follow from the group's id."),
        Column("group_id", "string", "The group, such as `group:hiking-club`."),
        Column("topic_id", "string", "The topic that its members subscribe to, hex."),
        Column("display_name", "string", "The name that people see."),
        Column("description", "string", "What the group is about."),
        Column("creator", "string", "UID of who announced it, hex."),
        Column("created_ms", "bigint", "When it was made, by its creator.", "ms since 1970"),
        Column("announcements", "bigint", "Different valid announcements."),
        Column("creators", "array<string>", "All who announced it."),
        Column("conflict", "boolean", "Whether creators or groups compete for the short id."),
        Column("first_seen", "timestamp", "The first sighting of any announcement.", "UTC"),
        Column("last_seen", "timestamp", "The last one.", "UTC"),
    ),
    ("short_id",),
)

_SAID: Final = ("group_id", "display_name", "description", "creator", "created_ms")


def groups(sightings: DataFrame) -> DataFrame:
    """The groups in `sightings`."""
    announcements = sightings.where(
        "protocol = 'dtn' and type = 'GroupAnnounceMsg' and auth = 'valid'"
    ).selectExpr(
        "dtn.payload.short_id",
        "dtn.payload.group_id_string as group_id",
        "dtn.payload.display_name",
        "dtn.payload.description",
        "lower(dtn.payload.creator_uid_hex) as creator",
        "dtn.payload.created_at as created_ms",
        "captured_at",
    )
    latest = f.max(f.struct("created_ms", "creator", "group_id", "display_name", "description"))
    return (
        announcements.groupBy("short_id")
        .agg(
            latest.alias("latest"),
            f.size(f.collect_set(f.struct(*_SAID))).cast("bigint").alias("announcements"),
            f.array_sort(f.collect_set("creator")).alias("creators"),
            f.countDistinct("group_id").alias("group_ids"),
            f.min("captured_at").alias("first_seen"),
            f.max("captured_at").alias("last_seen"),
        )
        .select("*", *[f.col(f"latest.{name}").alias(name) for name in _SAID])
        .withColumn("topic_id", f.sha2("group_id", 256))
        .withColumn("conflict", f.expr("size(creators) > 1 or group_ids > 1"))
    )
