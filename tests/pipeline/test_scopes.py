"""Scopes name columns and say when rows change."""

import pytest

from wireloom.pipeline import frame_tables
from wireloom.pipeline.scopes import MENTIONS, By, Scope, Waits


@pytest.mark.parametrize(
    ("by", "key"),
    [
        (By.MESSAGE, "message_id"),
        (By.CONTENT, "content"),
        (By.FRAME, "sighting"),
        (By.MINUTE, "minute"),
        (By.NODE, "node"),
    ],
)
def test_what_rows_depend_on_has_a_column(by: By, key: str) -> None:
    assert by.key == key


def test_rows_that_wait_are_told_by_one_column_or_two() -> None:
    assert Waits("outcome", "waiting").columns == ["outcome"]
    assert Waits("state", "in_flight", "deadline").columns == ["state", "deadline"]


def test_a_scope_says_nothing_that_nobody_asked_for() -> None:
    scope = Scope(By.WHOLE)
    assert (scope.looks_at, scope.refused, scope.made_of, scope.mentions) == ((), (), (), ())
    assert (scope.protocol, scope.types, scope.waits, scope.has_horizon) == (None, (), None, False)


def test_frames_name_messages_in_columns_that_they_have() -> None:
    assert set(MENTIONS) <= set(frame_tables.frames().arrow.names)
