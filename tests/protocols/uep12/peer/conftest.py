"""Work that takes microseconds: what a peer does does not depend on how much work is wanted."""

import pytest

from wireloom.protocols.uep12 import integrity, work

EASY_TARGET = (1 << 256) // 16


@pytest.fixture(autouse=True)
def easy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "hard" not in request.fixturenames:
        monkeypatch.setattr(work, "POW_TARGET", EASY_TARGET)
        monkeypatch.setattr(integrity, "_TARGET_BYTES", EASY_TARGET.to_bytes(32, "big"))


@pytest.fixture
def hard() -> None:
    """The target is the specification's."""
