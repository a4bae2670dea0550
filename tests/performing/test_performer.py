"""The performer: commands are performed in their order, and what must wait waits."""

from collections.abc import Hashable, Sequence
from typing import Any

from live.parts import Pipe
from wireloom.capture.meanings import COMPOSED
from wireloom.capture.rows import Rows
from wireloom.live.metrics import Meters
from wireloom.performing.performer import Performer
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Abandon,
    Admit,
    Cancel,
    Close,
    Command,
    Compose,
    Compute,
    Conclude,
    Deliver,
    Dial,
    Forget,
    Send,
    Spread,
    Store,
    Swarm,
    WakeAt,
)


class Ledger:
    """Stands in for the store: it notes what is put, and the test says when that is on disk."""

    def __init__(self) -> None:
        self.records: list[tuple[tuple[str, str, str], bytes | None]] = []

    def put(self, key: tuple[str, str, str], value: bytes | None) -> int:
        self.records.append((key, value))
        return len(self.records)


class Stage:
    """A performer with two connections, on lines 1 and 2."""

    def __init__(self, tap: Any = None) -> None:
        self.store = Ledger()
        self.delivered: list[object] = []
        self.meters = Meters()
        store: Any = self.store
        self.times_out = 0
        self.logins: list[Any] = []
        self.dials: list[tuple[str, Dial]] = []
        self.jobs: list[object] = []
        self.performer = Performer(
            "echo",
            connections=self,
            records=store,
            tap=tap,
            counts=self.meters,
            deliver=self.delivered.append,
            workers=self,
        )
        self.pipes = [Pipe(self), Pipe(self)]
        for line, pipe in enumerate(self.pipes, 1):
            pipe.line = line
            self.performer.add(pipe)

    def let_out(self) -> None:
        self.times_out += 1

    def admitted(self, channel: Any) -> None:
        self.logins.append(channel)

    def dial(self, dial: Dial) -> None:
        self.dials.append(("dial", dial))

    def abandon(self, dial: Dial) -> None:
        self.dials.append(("abandon", dial))

    def compute(self, compute: Compute) -> None:
        self.jobs.append(compute)

    def cancel(self, task: Hashable) -> None:
        self.jobs.append(task)

    def closed(self, pipe: Pipe, code: int) -> None:
        """What a connection tells when it is closed."""

    def do(self, *commands: Command, source: Pipe | None = None) -> None:
        self.performer.perform([(commands, source, b"")], 0)

    def left(self) -> list[list[bytes]]:
        """What leaves on each connection now, in one write."""
        for pipe in self.pipes:
            pipe.flush()
        left = [pipe.writes[-1] if pipe.writes else [] for pipe in self.pipes]
        for pipe in self.pipes:
            pipe.writes.clear()
        return left


def test_a_send_is_put_to_its_line_and_counted() -> None:
    stage = Stage()
    stage.do(Send(1, b"a", outcome=Outcome.FORWARDED), Send(2, b"b"), Send(9, b"nobody there"))
    assert stage.left() == [[b"a"], [b"b"]]
    assert stage.meters.sent == {Outcome.FORWARDED: 1, None: 1}


def test_a_spread_is_a_frame_on_each_line() -> None:
    stage = Stage()
    stage.do(Spread([1, 2], [b"a", b"b"]))
    stage.do(Spread([1, 9, 2], [b"c", b"-", b"d"]))  # nobody is on line 9
    assert stage.left() == [[b"a", b"c"], [b"b", b"d"]]
    assert stage.meters.sent == {None: 4}


def test_a_spread_to_lines_that_are_known_leaves_out_who_has_gone_since() -> None:
    stage, lines = Stage(), [1, 2]
    stage.do(Spread(lines, [b"a", b"b"]))
    assert stage.performer.drop(stage.pipes[0])
    assert not stage.performer.drop(stage.pipes[0])
    stage.do(Spread(lines, [b"c", b"d"]))
    assert stage.left() == [[b"a"], [b"b", b"d"]]
    assert stage.meters.sent == {None: 3}


def test_what_is_remembered_of_spreads_is_bounded() -> None:
    stage = Stage()
    for _ in range(100):
        stage.do(Spread([1, 2], [b"a", b"b"]))
        assert len(stage.performer._reached) <= 16
    assert stage.left() == [[b"a"] * 100, [b"b"] * 100]


def test_a_spread_waits_for_the_store_and_behind_what_waits_for_it() -> None:
    stage = Stage()
    stage.do(Store("kept", "x", b"1"), Spread([1], [b"a"]))
    stage.do(Spread([1, 2], [b"b", b"c"]))
    assert stage.left() == [[], [b"c"]]
    stage.performer.release(1, 0)
    assert stage.left() == [[b"a", b"b"], []]


def test_what_follows_a_record_waits_for_the_disk_and_what_stands_before_it_does_not() -> None:
    stage = Stage()
    stage.do(Send(1, b"before"), Store("kept", "x", b"1"), Send(1, b"after"), Send(2, b"too"))
    assert stage.store.records == [(("echo", "kept", "x"), b"1")]
    assert stage.left() == [[b"before"], []]
    stage.performer.release(1, 0)
    assert stage.left() == [[b"after"], [b"too"]]


def test_a_frame_does_not_overtake_one_that_waits_on_its_line() -> None:
    stage = Stage()
    stage.do(Store("kept", "x", b"1"), Send(1, b"first"))
    stage.do(Send(1, b"second"))
    stage.do(Forget("kept", "y"), Send(1, b"third"))
    stage.do(Close(1, 4000, "enough"))
    stage.do(Send(2, b"elsewhere"))
    assert stage.left() == [[], [b"elsewhere"]]
    assert stage.performer.held_count == 4
    stage.performer.release(1, 0)
    assert stage.left() == [[b"first", b"second"], []]
    assert stage.pipes[0].closes == []
    stage.performer.release(2, 0)
    assert stage.pipes[0].writes == [[b"third"]]
    assert stage.pipes[0].closes == [(4000, "enough")]


def test_deliveries_wait_for_the_disk_and_keep_their_order() -> None:
    stage = Stage()
    stage.do(Deliver("first"))
    stage.do(Store("kept", "k", b"v"), Deliver("second"))
    stage.do(Deliver("third"))
    stage.do(Forget("kept", "k"), Deliver("fourth"))
    assert stage.delivered == ["first"]
    stage.performer.release(1, 0)
    assert stage.delivered == ["first", "second", "third"]
    stage.performer.release(2, 0)
    assert stage.delivered[-1] == "fourth"


def test_commands_for_lines_that_are_gone_are_passed_over() -> None:
    stage = Stage()
    stage.do(Send(99, b"x"), Close(99, 1000), Spread([99], [b"y"]))
    assert stage.left() == [[], []]
    assert not stage.meters.sent


def test_timers_are_set_and_taken_back() -> None:
    stage = Stage()
    stage.do(WakeAt("a", 5), WakeAt("b", 9), WakeAt("a", None))
    assert stage.performer.next_timer_ms() == 9


def test_who_spoke_is_named_and_its_frame_has_the_first_outcome_that_is_given() -> None:
    outcomes: list[Sequence[Command]] = [
        [Conclude(Outcome.QUEUED, None, "alice", "said"), Conclude(Outcome.ACKED)],
        [Conclude(Outcome.REJECTED, Reason.MALFORMED)],
        [],
    ]
    stage = Stage()
    for commands in outcomes:
        stage.do(*commands, source=stage.pipes[0])
    assert stage.meters.received == {
        ("said", Outcome.QUEUED, None): 1,
        (None, Outcome.REJECTED, Reason.MALFORMED): 1,
        (None, Outcome.REJECTED, Reason.INTERNAL): 1,
    }
    assert stage.pipes[0].name == "alice"
    assert stage.performer._sources == {stage.pipes[0]}


def test_a_connection_is_admitted() -> None:
    stage = Stage()
    stage.do(Admit(2), Admit(9))
    assert [pipe.is_admitted for pipe in stage.pipes] == [False, True]


class Rolls:
    """Stands in for the capture."""

    def __init__(self) -> None:
        self.rows = Rows()


def test_a_record_is_captured_and_leaves_on_no_line() -> None:
    rolls = Rolls()
    stage = Stage(rolls)
    stage.do(Compose(b"too late", "alice"))
    assert stage.left() == [[], []]
    assert (rolls.rows.frames, list(rolls.rows.meanings)) == ([b"too late"], [COMPOSED])
    Stage().do(Compose(b"nobody captures", "alice"))


LARGE = b"x" * (6 << 20)


def test_what_has_many_bytes_leaves_before_the_turn_ends() -> None:
    stage = Stage()
    answers = [([Send(1, LARGE)], stage.pipes[1], b"") for _ in range(7)]
    stage.performer.perform(answers, 0)
    assert stage.times_out == 2
    assert stage.performer._sources == {stage.pipes[1]}
    stage.do(Spread([1, 2], [LARGE, LARGE]))
    assert stage.times_out == 3
    stage.performer.begin()
    stage.do(Store("kind", "key", LARGE), Store("kind", "key", LARGE))
    assert stage.times_out == 3
    stage.do(Store("kind", "key", LARGE))
    assert stage.times_out == 4
    stage.performer.perform([([], stage.pipes[0], LARGE) for _ in range(3)], 0)
    assert stage.times_out == 5


def test_what_waited_for_the_store_leaves_in_portions_too() -> None:
    stage = Stage()
    for _ in range(6):
        stage.do(Store("kind", "key", b"v"), Send(1, LARGE))
    assert stage.performer.held_size == 6 * len(LARGE)
    stage.performer.release(6, 0)
    assert stage.performer.held_size == 0
    assert stage.times_out == 2


def test_who_is_admitted_is_told_by_the_name_that_it_said() -> None:
    stage = Stage()
    stage.do(Admit(1), Conclude(Outcome.ACCEPTED, None, "alice"), source=stage.pipes[0])
    assert [one.name for one in stage.logins] == ["alice"]


ADA = Dial("tcp", "ada.example:1")


def dialled(stage: Stage, dial: Dial = ADA) -> Pipe:
    pipe = Pipe(stage)
    pipe.line, pipe.dial = 3, dial
    assert stage.performer.add(pipe)
    return pipe


def test_equal_dials_are_one_attempt_until_it_failed() -> None:
    stage = Stage()
    stage.do(ADA, ADA)
    stage.do(ADA)
    assert stage.dials == [("dial", ADA)]
    assert stage.performer.fail(ADA)
    assert not stage.performer.fail(ADA)
    stage.do(ADA)
    assert stage.dials == [("dial", ADA)] * 2


def test_a_peer_is_not_dialled_while_its_connection_is_up() -> None:
    stage = Stage()
    stage.do(ADA)
    pipe = dialled(stage)
    stage.do(ADA, Send(3, b"hello"))
    assert stage.dials == [("dial", ADA)]
    pipe.flush()
    assert pipe.writes == [[b"hello"]]
    assert stage.performer.drop(pipe)
    stage.do(ADA)
    assert stage.dials == [("dial", ADA)] * 2


def test_an_attempt_that_is_abandoned_leads_to_no_connection() -> None:
    stage = Stage()
    stage.do(ADA, Abandon(ADA.link, ADA.address), Abandon("udp", "nobody:1"))
    assert stage.dials == [("dial", ADA), ("abandon", ADA)]
    late = Pipe(stage)
    late.line, late.dial = 3, ADA
    assert not stage.performer.add(late)
    stage.do(Send(3, b"nobody there"))
    assert not stage.meters.sent


def test_a_connection_that_is_abandoned_ends_after_what_was_sent_on_it() -> None:
    stage = Stage()
    stage.do(ADA)
    pipe = dialled(stage)
    stage.do(Store("kept", "x", b"1"), Send(3, b"last"), Abandon(ADA.link, ADA.address))
    assert pipe.closes == []
    stage.performer.release(1, 0)
    assert pipe.writes == [[b"last"]]
    assert [code for code, _ in pipe.closes] == [1000]


def test_workers_are_told_what_to_compute_and_what_not_to() -> None:
    stage = Stage()
    compute = Compute("nonce", lambda part: part)
    stage.do(compute, Cancel("nonce"))
    assert stage.jobs == [compute, "nonce"]


def test_the_capture_has_what_a_frame_was_read_as() -> None:
    rolls = Rolls()
    stage = Stage(rolls)
    stage.do(Conclude(Outcome.ACCEPTED, whole=b"put together"), source=stage.pipes[0])
    assert rolls.rows.frames == [b"put together"]


def test_the_capture_has_a_frame_in_parts_once_when_all_of_it_came_or_left() -> None:
    rolls = Rolls()
    stage = Stage(rolls)
    stage.do(Conclude(Outcome.QUEUED, whole=b""), source=stage.pipes[0])
    assert stage.meters.received[None, Outcome.QUEUED, None] == 1
    stage.do(Send(1, b"one", whole=b""), Send(1, b"two", whole=b"onetwo"))
    for raw, whole in ((b"one", b""), (b"two", b"onetwo")):
        stage.do(Spread([1, 2], [raw, raw], whole=whole))
        stage.do(Spread([1, 9], [raw, raw], whole=whole))  # nobody is on line 9
        stage.do(Store("kept", raw.decode(), b""), Send(2, raw, whole=whole))
    stage.performer.release(2, 0)
    assert rolls.rows.frames == [b"onetwo"] * 5
    stage.performer.begin()
    for pipe in stage.pipes:
        pipe.flush()
    assert [len(pipe.writes[0]) for pipe in stage.pipes] == [6, 4]


def test_what_is_composed_for_a_swarm_is_captured_as_its() -> None:
    rolls = Rolls()
    Stage(rolls).do(Compose(b"news", "tea", Swarm("tea", 1_000)))
    rolls.rows.pack()
    rolls.rows.join()
    (batch,) = rolls.rows.batches("n", first_sequence=1)
    assert (batch["swarm"].to_pylist(), batch["epoch_ms"].to_pylist()) == (["tea"], [1_000])
