"""The desk by itself."""

import re

from wireloom.protocols.signalhub.constants import UUID_PATTERN, ErrorCode
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.roster import Connection
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Opened, Send, Turn

SETTINGS = HubSettings(secret=b"s" * 16)


def test_ids_are_uuids_of_one_life() -> None:
    desk, other = Desk(SETTINGS, Ids("one")), Desk(SETTINGS, Ids("other"))
    ids = [desk.next_id() for _ in range(3)] + [other.next_id()]
    assert len(set(ids)) == 4
    assert all(re.search(UUID_PATTERN, one) for one in ids)
    assert {one[14] + one[19] for one in ids} == {"88"}
    assert ids[0].endswith("-000000000001")
    assert Desk(SETTINGS, Ids("one")).next_id() == ids[0]


def test_a_fault_that_may_be_tried_again_follows_from_its_code() -> None:
    desk = Desk(SETTINGS, Ids("one"))
    connection = Connection(Opened(1, "peer"), SETTINGS, "conn-1", 0)
    out = desk.begin(Turn(desk.ids, 5))
    desk.fail(connection, ErrorCode.TIMEOUT, "late", answers=None)
    desk.fail(connection, ErrorCode.MESSAGE_EXPIRED, "late", answers=None)
    desk.fail(connection, ErrorCode.INTERNAL_ERROR, "bad", answers=None, retryable=False)
    raws = [one.raw for one in out if isinstance(one, Send)]
    assert [b'"retryable":true' in raw for raw in raws] == [True, False, False]
    assert all(b'"details":null' in raw for raw in raws)


def test_slow_readers_are_counted_by_name_up_to_a_limit() -> None:
    desk = Desk(SETTINGS, Ids("one"))
    for number in range(1_002):
        desk.name_slow(f"@({number})")
    desk.name_slow("@(0)")
    assert desk.slow["@(0)"] == 2
    assert desk.slow["others"] == 2
    assert len(desk.slow) == 1_001
