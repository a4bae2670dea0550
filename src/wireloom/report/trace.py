"""The whole life of one message: where it was seen, what answered it, what became of it."""

from typing import Any, Final, NamedTuple

from wireloom.lake import Lake, LakeError
from wireloom.report.causality import ordered
from wireloom.wire.visible import visible

NEEDED: Final = ("messages", "fates", "frames", "verdicts", "nodes")


class Life(NamedTuple):
    """What the tables hold about a message."""

    protocol: str
    message_id: str
    message: dict[str, Any]
    fates: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    names: dict[str, str]
    """Nodes by the identities that they use: names for hashes."""


def trace(lake: Lake, wanted: str) -> Life:
    """The life of the message whose id is, or begins with, `wanted`.

    Raises:
        LakeError: If there is none, or more than one, or a table is missing.
    """
    lake.require(*NEEDED)
    protocol, message_id = _found(lake, wanted)
    (message,) = lake.rows(
        "SELECT * FROM messages WHERE protocol = ? AND message_id = ?", protocol, message_id
    )
    fates = lake.rows(
        "SELECT * FROM fates WHERE protocol = ? AND message_id = ? ORDER BY destination",
        protocol,
        message_id,
    )
    steps = ordered(_steps(lake, protocol, message_id))
    return Life(protocol, message_id, message, fates, steps, names(lake, protocol))


def _found(lake: Lake, wanted: str) -> tuple[str, str]:
    rows = lake.rows(
        """SELECT protocol, message_id FROM messages WHERE starts_with(message_id, ?)
           ORDER BY message_id = ? DESC, message_id LIMIT 6""",
        wanted,
        wanted,
    )
    ids = [(str(row["protocol"]), str(row["message_id"])) for row in rows]
    exact = [one for one in ids if one[1] == wanted]
    if len(exact or ids) == 1:
        return (exact or ids)[0]
    if not ids:
        raise LakeError(visible(f"no message has an id that begins with {wanted}"))
    listed = "\n".join(visible(f"  {protocol} {message_id}") for protocol, message_id in ids)
    raise LakeError(f"several messages have such an id; name one:\n{listed}")


def _steps(lake: Lake, protocol: str, message_id: str) -> list[dict[str, Any]]:
    """Its own sightings and those of messages that refer to it."""
    return lake.rows(
        """SELECT captured_at, node, direction, peer, link, type, outcome, outcome_reason, hops,
                  coalesce(verdicts.auth, 'unchecked') AS auth, message_id = ? AS own, sighting,
                  message_id
           FROM frames LEFT JOIN verdicts USING (protocol, content)
           WHERE protocol = ? AND (message_id = ? OR reply_to = ?)""",
        message_id,
        protocol,
        message_id,
        message_id,
    )


def names(lake: Lake, protocol: str) -> dict[str, str]:
    """Nodes by the identities that they use."""
    rows = lake.rows(
        "SELECT node, unnest(identities) AS identity FROM nodes WHERE protocol = ? ORDER BY node",
        protocol,
    )
    return {str(row["identity"]): str(row["node"]) for row in rows}
