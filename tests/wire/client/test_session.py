"""One connection after the other, as long as that makes sense."""

import asyncio
from collections.abc import Callable

import pytest

from live.clients.processes import run
from live.clients.scripted import Naps, quick
from live.parts import until
from wireloom.live.clients.errors import ClientError, LostError, UnreachableError
from wireloom.live.clients.lifeline import Lifeline
from wireloom.live.clients.sockets import Socket


class FakeSocket(Socket):
    """A connection of which a test says when it ends."""

    def __init__(self) -> None:
        self.sent: list[tuple[bytes, bool]] = []
        self.closed = False
        self._frames: asyncio.Queue[bytes | ClientError] = asyncio.Queue()

    def give(self, frame: bytes | ClientError) -> None:
        self._frames.put_nowait(frame)

    async def send(self, raw: bytes, *, text: bool = False) -> None:
        self.sent.append((raw, text))

    async def receive(self) -> tuple[bytes, bool]:
        frame = await self._frames.get()
        if isinstance(frame, ClientError):
            raise frame
        return frame, False

    async def close(self) -> None:
        self.closed = True


class FakeSpeaker:
    """Writes down what happens to it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.greeting: Callable[[], None] = lambda: None
        self.attending: Callable[[], None] = lambda: None
        self.final: set[ClientError] = set()

    async def greet(self, socket: Socket) -> None:
        self.greeting()
        self.log.append("greet")

    async def attend(self) -> None:
        self.attending()

    async def hear(self, raw: bytes, *, text: bool) -> None:
        self.log.append(raw.decode())

    def is_final(self, error: ClientError) -> bool:
        return error in self.final

    def lose(self, error: ClientError) -> None:
        self.log.append(f"lose {error}")

    def end(self, error: ClientError) -> None:
        self.log.append(f"end {error}")


class Bench:
    """A lifeline whose sockets a test makes."""

    def __init__(self) -> None:
        self.naps = Naps()
        self.speaker = FakeSpeaker()
        self.sockets: list[FakeSocket] = []
        self.failures: list[ClientError] = []
        self.line = Lifeline(self.speaker, self.dial, quick(self.naps))

    async def dial(self) -> Socket:
        if self.failures:
            raise self.failures.pop(0)
        self.sockets.append(FakeSocket())
        return self.sockets[-1]


def test_frames_go_both_ways() -> None:
    async def main() -> None:
        bench = Bench()
        with pytest.raises(LostError):
            await bench.line.send(b"early")
        await bench.line.open()
        await bench.line.send(b"out", text=True)
        assert bench.sockets[0].sent == [(b"out", True)]
        bench.sockets[0].give(b"in")
        await until(lambda: bench.speaker.log == ["greet", "in"])
        await bench.line.close()
        await bench.line.close()
        assert bench.sockets[0].closed
        assert bench.speaker.log == ["greet", "in"]

    run(main())


def test_a_first_attempt_that_fails_is_the_callers() -> None:
    async def main() -> None:
        bench = Bench()
        bench.failures = [UnreachableError("nobody")]
        with pytest.raises(UnreachableError):
            await bench.line.open()

        def refuse() -> None:
            raise LostError(1008)

        bench.speaker.greeting = refuse
        with pytest.raises(LostError):
            await bench.line.open()
        assert bench.sockets[0].closed
        await bench.line.close()
        assert not bench.naps.taken

    run(main())


def test_a_lost_connection_is_opened_again_after_longer_and_longer_pauses() -> None:
    async def main() -> None:
        bench = Bench()
        await bench.line.open()
        bench.failures = [UnreachableError("nobody") for _ in range(3)]
        bench.sockets[0].give(LostError(1001, "server_shutdown"))
        await until(lambda: bench.speaker.log.count("greet") == 2)
        assert bench.naps.taken == [1, 2, 4, 8]
        assert bench.sockets[0].closed
        await bench.line.send(b"again")
        assert bench.sockets[1].sent == [(b"again", False)]
        bench.sockets[1].give(LostError(None))
        await until(lambda: bench.speaker.log.count("greet") == 3)
        assert bench.naps.taken[4:] == [1]
        await bench.line.close()

    run(main())


def test_a_close_holds_even_if_the_connection_is_lost_at_that_moment() -> None:
    async def main() -> None:
        bench = Bench()
        await bench.line.open()
        await asyncio.sleep(0)
        bench.sockets[0].give(LostError(None))
        await asyncio.sleep(0)  # the reader has failed, its group does not know yet
        await bench.line.close()
        assert (bench.speaker.log, bench.naps.taken) == (["greet"], [])

    run(main())


def test_after_ten_attempts_the_client_gives_up() -> None:
    async def main() -> None:
        bench = Bench()
        await bench.line.open()
        bench.failures = [UnreachableError("nobody") for _ in range(10)]
        bench.sockets[0].give(LostError(None))
        await until(lambda: bench.speaker.log[-1] == "end nobody")
        assert bench.naps.taken == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
        await bench.line.close()

    run(main())


def test_nobody_comes_back_from_a_final_error() -> None:
    async def main() -> None:
        bench = Bench()
        await bench.line.open()
        over = LostError(1000, "duplicate_connection")
        bench.speaker.final = {over}
        bench.sockets[0].give(over)
        await until(lambda: bench.speaker.log[-1] == f"end {over}")
        assert not bench.naps.taken
        await bench.line.close()

    run(main())


def test_a_final_error_on_the_way_back_ends_it() -> None:
    async def main() -> None:
        bench = Bench()
        await bench.line.open()
        over = UnreachableError("never")
        bench.speaker.final = {over}
        bench.failures = [UnreachableError("nobody"), over]
        bench.sockets[0].give(LostError(None))
        await until(lambda: bench.speaker.log[-1] == "end never")
        assert len(bench.naps.taken) == 2
        await bench.line.close()

    run(main())


def test_a_speaker_may_end_a_connection_from_within_a_group() -> None:
    async def main() -> None:
        bench = Bench()

        def fail() -> None:
            raise ExceptionGroup("inner", [LostError(None, "dead")])

        await bench.line.open()
        bench.speaker.attending = fail
        bench.sockets[0].give(LostError(None, "first"))
        await until(lambda: "lose the connection was lost: dead" in bench.speaker.log)
        await bench.line.close()

    run(main())


def test_a_bug_ends_the_client_and_is_told() -> None:
    async def main() -> None:
        bench = Bench()

        def fail() -> None:
            raise ZeroDivisionError

        bench.speaker.attending = fail
        await bench.line.open()
        await until(
            lambda: any(one.startswith("end the client failed") for one in bench.speaker.log)
        )
        with pytest.raises(ExceptionGroup):
            await bench.line.close()

    run(main())
