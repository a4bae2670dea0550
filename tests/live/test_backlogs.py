"""What waits on all connections together."""

from live.parts import Pipe
from wireloom.live.backlogs import Backlogs
from wireloom.live.links.connection import Connection


class Endpoint:
    """Cuts whom it is told to cut."""

    def __init__(self) -> None:
        self.cut: list[Connection] = []

    def stalled(self, connection: Connection) -> None:
        self.cut.append(connection)

    def pipe(self, stuck: int) -> Pipe:
        made = Pipe(self)
        made.stuck = stuck
        return made


def test_the_worst_of_all_endpoints_are_cut_at_once() -> None:
    backlogs, hub, broker = Backlogs(1_000), Endpoint(), Endpoint()
    small, large, other = hub.pipe(300), hub.pipe(500), broker.pipe(400)
    for one in (small, large):
        backlogs.note(one, one.stuck)
    assert backlogs.total == 800
    backlogs.note(other, other.stuck)
    assert hub.cut == [large]
    assert broker.cut == []
    assert backlogs.total == 700


def test_those_who_have_read_meanwhile_are_not_cut() -> None:
    backlogs, hub = Backlogs(1_000), Endpoint()
    pipes = [hub.pipe(400) for _ in range(3)]
    backlogs.note(pipes[0], 400)
    backlogs.note(pipes[1], 400)
    pipes[0].stuck = 0
    backlogs.note(pipes[2], 400)
    assert hub.cut == []
    assert backlogs.total == 800


def test_after_a_cut_an_eighth_is_free() -> None:
    backlogs, hub = Backlogs(800), Endpoint()
    pipes = [hub.pipe(10) for _ in range(81)]
    for one in pipes:
        backlogs.note(one, 10)
    assert backlogs.total == 700
    assert len(hub.cut) == 11


def test_a_connection_is_weighed_once() -> None:
    backlogs, hub = Backlogs(1_000), Endpoint()
    pipe = hub.pipe(900)
    for _ in range(5):
        backlogs.note(pipe, 900)
    assert backlogs.total == 900
    backlogs.forget(pipe)
    backlogs.forget(pipe)
    assert backlogs.total == 0
    assert hub.cut == []
