"""All that the broker's transcripts say, once more on real sockets."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from live.wired import Wired, scenarios
from protocols.cthun.broker import test_delivery, test_redelivery, test_session
from protocols.cthun.transcript import START_MS, Stage
from wireloom.protocols.cthun.broker.settings import BrokerSettings

SCENARIOS: tuple[ModuleType, ...] = (test_delivery, test_redelivery, test_session)

globals().update(scenarios(SCENARIOS))


@pytest.fixture(autouse=True)
def wired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Puts sockets between the brokers of a scenario and their clients."""
    places: list[Wired] = []

    def made(*settings: BrokerSettings) -> Stage:
        folder = tmp_path / str(len(places))
        folder.mkdir()
        places.append(Wired(folder, START_MS))
        return Stage(*settings, place=places[-1])

    for module in SCENARIOS:
        monkeypatch.setattr(module, "Stage", made)
    yield
    for place in places:
        place.close()
