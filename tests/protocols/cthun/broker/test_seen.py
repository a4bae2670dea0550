"""Repetitions are told, in bounded memory."""

from wireloom.protocols.cthun.broker.seen import Seen


def test_a_message_is_known_by_its_id_and_its_sender() -> None:
    seen = Seen(10)
    seen.add("1", "a")
    assert seen.knows("1", "a")
    assert not seen.knows("1", "b")
    assert not seen.knows("2", "a")


def test_the_latest_are_remembered_and_no_more_than_twice_as_many() -> None:
    seen = Seen(10)
    for number in range(1_000):
        seen.add(str(number), "a")
        known = sum(seen.knows(str(earlier), "a") for earlier in range(number + 1))
        assert min(10, number + 1) <= known <= 20
        assert seen.knows(str(number), "a")


def test_another_sender_of_the_same_id_is_remembered_in_turn() -> None:
    seen = Seen(10)
    seen.add("1", "a")
    seen.add("1", "b")
    assert seen.knows("1", "b")
    assert not seen.knows("1", "a")
