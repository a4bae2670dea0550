"""`groups`: public groups as DTN nodes announced them.

An announcement counts if its creator's own signature holds. A group's id is free for anyone to
announce: of several announcements the latest is shown, and more than one creator, or two groups
with one short id, is a conflict for the reader to judge.
"""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
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

SCOPE: Final = Scope(
    By.WHOLE,
    looks_at=(
        "auth",
        "captured_at",
        "dtn.payload.created_at",
        "dtn.payload.creator_uid_hex",
        "dtn.payload.description",
        "dtn.payload.display_name",
        "dtn.payload.group_id_string",
        "dtn.payload.short_id",
        "protocol",
        "type",
    ),
    protocol="dtn",
    types=("GroupAnnounceMsg",),
)

_GROUPS: Final = """
    with announced as (
        select dtn.payload.short_id, dtn.payload.group_id_string as group_id,
               dtn.payload.display_name, dtn.payload.description,
               lower(dtn.payload.creator_uid_hex) as creator,
               dtn.payload.created_at as created_ms, captured_at
        from {s} where protocol = 'dtn' and type = 'GroupAnnounceMsg' and auth = 'valid'),
    grouped as (
        select short_id,
               max(struct(created_ms, creator, group_id, display_name, description)) as latest,
               size(collect_set(struct(group_id, display_name, description, creator, created_ms)))
                   as announcements,
               array_sort(collect_set(creator)) as creators,
               count(distinct group_id) as group_ids,
               min(captured_at) as first_seen, max(captured_at) as last_seen
        from announced group by short_id)
    select *, latest.*, sha2(latest.group_id, 256) as topic_id,
           size(creators) > 1 or group_ids > 1 as conflict
    from grouped
"""


def groups(sightings: DataFrame) -> DataFrame:
    """The groups in `sightings`."""
    return sightings.sparkSession.sql(_GROUPS, s=sightings)
