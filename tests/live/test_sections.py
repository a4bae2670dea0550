"""Addresses in the configuration."""

import pytest

from wireloom.live.errors import ConfigError
from wireloom.live.sections import Address, take_address


def test_addresses() -> None:
    assert take_address("[::1]:80", "x") == Address("::1", 80)
    assert str(Address("::1", 80)) == "[::1]:80"
    assert str(Address("localhost", 0)) == "localhost:0"
    assert Address("localhost", 0).is_local
    assert not Address("0.0.0.0", 0).is_local


@pytest.mark.parametrize("text", ["", "8787", ":8787", "x:", "x:99999", "x:-1", "1:2:3:4"])
def test_what_is_no_address_is_told_by_its_key(text: str) -> None:
    with pytest.raises(ConfigError, match=f"^x.listen = '{text}' is no address"):
        take_address(text, "x.listen")
