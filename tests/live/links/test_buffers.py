"""Buffers for large frames: a bound over all connections, and who pays for it."""

from wireloom.live.links.buffers import Buffers


class Reader:
    def __init__(self, network: str) -> None:
        self.network = network
        self.is_cut = False

    def cut(self) -> None:
        self.is_cut = True


def test_who_keeps_most_loses_the_largest() -> None:
    buffers = Buffers(100)
    honest, greedy = Reader("a"), [Reader("b") for _ in range(4)]
    buffers.grow(honest, 30)
    for number, one in enumerate(greedy):
        buffers.grow(one, 20 + number)
    assert [one.is_cut for one in greedy] == [False, False, False, True]
    assert not honest.is_cut
    assert buffers.total == 30 + 20 + 21 + 22


def test_a_buffer_counts_once_and_until_its_connection_ends() -> None:
    buffers = Buffers(100)
    one = Reader("a")
    for size in (40, 60, 10, 60):
        buffers.grow(one, size)
    assert buffers.total == 60
    buffers.forget(one)
    buffers.forget(one)
    assert buffers.total == 0
    buffers.grow(one, 101)
    assert one.is_cut
    assert buffers.total == 0
