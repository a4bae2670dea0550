"""How often something may happen."""

from wireloom.live.links.allowance import Allowance


def test_so_many_at_once_and_so_many_a_second() -> None:
    allowance = Allowance(3, 2)
    assert [allowance.take(10.0) for _ in range(4)] == [True, True, True, False]
    assert [allowance.take(10.5) for _ in range(2)] == [True, False]
    assert [allowance.take(100.0) for _ in range(4)] == [True, True, True, False]


def test_what_happens_anyway_is_counted_beyond_the_burst() -> None:
    allowance = Allowance(2, 1)
    for _ in range(5):
        allowance.use(1.0)
    assert allowance.used(1.0) == 5
    assert not allowance.take(3.0)
    assert allowance.used(3.0) == 3
    assert allowance.take(5.0)
