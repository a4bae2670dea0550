"""All that the broker's transcripts say, once more on real sockets."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from live.wired import WiredStage, scenarios
from protocols.cthun.broker import test_delivery, test_redelivery, test_session
from wireloom.protocols.cthun.broker.settings import BrokerSettings

SCENARIOS: tuple[ModuleType, ...] = (test_delivery, test_redelivery, test_session)

globals().update(scenarios(SCENARIOS))


@pytest.fixture(autouse=True)
def wired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Puts sockets between the brokers of a scenario and their clients."""
    brokers: list[WiredStage] = []

    def made(*settings: BrokerSettings) -> WiredStage:
        folder = tmp_path / str(len(brokers))
        folder.mkdir()
        brokers.append(WiredStage(folder, *settings))
        return brokers[-1]

    for module in SCENARIOS:
        monkeypatch.setattr(module, "Stage", made)
    yield
    for broker in brokers:
        broker.wire.close()
