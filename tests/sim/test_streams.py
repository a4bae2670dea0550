"""Chance from a seed and a name."""

from wireloom.sim.streams import Streams


def test_a_stream_follows_from_the_seed_and_its_name_alone() -> None:
    one, same, other = Streams(7), Streams(7), Streams(8)
    one.stream("a further one").random()
    assert one.stream("a").random() == same.stream("a").random()
    assert one.stream("a").random() != one.stream("b").random()
    assert one.stream("a").random() != other.stream("a").random()
