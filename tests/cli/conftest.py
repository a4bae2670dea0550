"""What tests of commands share."""

from pathlib import Path

import pytest

from sim import plays
from wireloom.sim.scenario import text_of


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """The file of a small scenario with a hub."""
    path = tmp_path / "hub.toml"
    path.write_text(text_of(plays.hub()))
    return path
