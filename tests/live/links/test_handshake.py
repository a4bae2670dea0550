"""Who gets in."""

from http import HTTPStatus
from typing import Any

import pytest

from wireloom.live.links.handshake import Fields, Gatekeeper, bearer, is_loopback

GOOD = {
    "Host": ["127.0.0.1:8787"],
    "Upgrade": ["websocket"],
    "Connection": ["keep-alive, Upgrade"],
    "Sec-WebSocket-Version": ["13"],
}


def fields(**changed: list[str]) -> Fields:
    values = {**GOOD, **{name.replace("_", "-"): value for name, value in changed.items()}}
    return lambda name: values.get(name, [])


def status(keeper: Gatekeeper, path: str = "/hub", **changed: list[str]) -> HTTPStatus | None:
    refusal = keeper.refusal(path, fields(**changed))
    return refusal.status if refusal else None


def test_a_good_request_gets_in() -> None:
    assert status(Gatekeeper("/hub")) is None
    assert status(Gatekeeper("/hub"), "/hub?x=1") is None


@pytest.mark.parametrize(
    ("expected", "changed"),
    [
        (426, {"Upgrade": []}),
        (426, {"Upgrade": ["h2c"]}),
        (426, {"Connection": ["close"]}),
        (426, {"Sec_WebSocket_Version": ["8"]}),
        (426, {"Sec_WebSocket_Version": ["13", "8"]}),
        (400, {"Host": []}),
        (400, {"Host": ["127.0.0.1", "127.0.0.1"]}),
        (421, {"Host": ["evil.example"]}),
        (421, {"Host": ["[::1"]}),
        (403, {"Origin": ["https://evil.example"]}),
        (403, {"Origin": ["null"]}),
        (403, {"Origin": ["http://localhost", "https://evil.example"]}),
        (None, {"Origin": ["http://localhost:3000"]}),
        (None, {"Host": ["[::1]:8787"]}),
        (None, {"Host": ["localhost"]}),
    ],
)
def test_what_a_request_must_have(expected: int | None, changed: dict[str, Any]) -> None:
    assert status(Gatekeeper("/hub"), **changed) == expected


def test_another_path_and_another_version_are_explained() -> None:
    keeper = Gatekeeper("/hub")
    refusal = keeper.refusal("/", fields())
    assert refusal is not None
    assert "/hub" in refusal.reason
    refusal = keeper.refusal("/hub", fields(Sec_WebSocket_Version=["7"]))
    assert refusal is not None
    assert refusal.headers["Sec-WebSocket-Version"] == "13"


def test_beyond_this_machine_only_listed_origins_get_in() -> None:
    keeper = Gatekeeper("/hub", origins=["https://App.example/"], is_local=False)
    assert status(keeper, Host=["hub.example"], Origin=["https://app.example"]) is None
    assert status(keeper, Host=["hub.example"], Origin=["http://localhost"]) == 403
    assert status(keeper, Host=["hub.example"]) is None


def test_tokens() -> None:
    assert bearer(fields()) is None
    assert bearer(fields(Authorization=["Basic abc"])) is None
    assert bearer(fields(Authorization=["Basic abc", "bEARER  t.o.k "])) == "t.o.k"


def test_this_machine() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "LOCALHOST")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.com", "")))
