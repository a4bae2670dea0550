"""The tables of a scenario."""

import msgspec
import pytest

from wireloom.sim.tables import Cast, Fault, Mobility, Traffic, Trouble


def test_what_is_not_said_has_a_default() -> None:
    cast = msgspec.convert({"role": "hub"}, Cast)
    assert (cast.count, cast.joins_seconds, cast.limits) == (1, 0.0, {})
    assert cast.traffic == Traffic()
    assert Mobility().contacts == ""


def test_a_fault_is_one_of_those_that_are_known() -> None:
    table = {"kind": "break", "who": "x", "every_seconds": 1.5}
    assert msgspec.convert(table, Fault).kind is Trouble.BREAK
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**table, "kind": "earthquake"}, Fault)
