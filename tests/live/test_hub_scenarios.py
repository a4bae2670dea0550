"""All that the hub's transcripts say, once more on real sockets, in JSON and in MessagePack."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from live.wired import Wired, scenarios
from protocols.signalhub.hub import (
    test_connections,
    test_delivery,
    test_discovery,
    test_fanout,
    test_lifecycle,
    test_recovery,
    test_session,
)
from protocols.signalhub.transcript import BEGIN_MS, Transcript

SCENARIOS: tuple[ModuleType, ...] = (
    test_delivery,
    test_discovery,
    test_fanout,
    test_lifecycle,
    test_recovery,
    test_connections,
    test_session,
)

JSON_ONLY = {
    "test_delivery__what_waits_survives_a_crash",
    "test_delivery__a_number_that_the_targets_encoding_has_not_got_is_an_error",
    "test_delivery__a_parcel_that_the_targets_encoding_cannot_carry_is_given_up",
    "test_fanout__a_subscriber_whose_encoding_cannot_carry_it_is_not_counted",
    "test_fanout__an_actor_with_unfit_encoding_counts_as_failed",
    "test_lifecycle__who_does_not_connect_in_time_is_closed",
    "test_lifecycle__a_stopping_hub_says_goodbye_to_all",
}
"""Numbers that only JSON has, and clients that have said nothing yet, whom a hub tells in JSON."""

UNWIRED = {"test_recovery__a_message_that_is_no_json_is_set_aside_and_the_next_arrives"}
"""They change what a transcript has written down; a server reads its own store."""

globals().update({name: test for name, test in scenarios(SCENARIOS).items() if name not in UNWIRED})


@pytest.fixture(autouse=True, params=[False, True], ids=["json", "msgpack"])
def wired(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Puts sockets between the hubs of a scenario and their clients."""
    if request.param and request.node.originalname in JSON_ONLY:
        pytest.skip("it is about JSON")
    places: list[Wired] = []

    def made(**settings: Any) -> Transcript:
        folder = tmp_path / str(len(places))
        folder.mkdir()
        places.append(Wired(folder, BEGIN_MS))
        return Transcript(place=places[-1], packed=request.param, **settings)

    for module in SCENARIOS:
        monkeypatch.setattr(module, "Transcript", made)
    yield
    for place in places:
        place.close()
