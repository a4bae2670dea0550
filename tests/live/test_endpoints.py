"""The table of endpoints."""

import sys
from types import ModuleType

import pytest

from live.echoes import TCP
from wireloom import registry
from wireloom.live import endpoints
from wireloom.live.endpoints import all_endpoints


def test_the_hub_comes_first_and_then_the_broker() -> None:
    assert [endpoint.name for endpoint in all_endpoints()][:2] == ["signalhub", "cthun"]


def test_a_protocol_has_an_endpoint_if_there_is_a_module_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("wireloom_protocols.tcpecho.endpoint")
    module.ENDPOINT = TCP  # type: ignore[attr-defined]
    module.__spec__ = sys.__spec__
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(registry, "NAMES", ("cthun", "dtn", "tcpecho"))
    found = endpoints.all_endpoints.__wrapped__()
    assert [endpoint.name for endpoint in found] == ["signalhub", "cthun", "tcpecho"]
