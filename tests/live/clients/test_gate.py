"""When a client may send."""

import asyncio

import pytest

from live.clients.processes import run
from wireloom.live.clients.errors import ClosedError, LostError
from wireloom.live.clients.gate import Gate


async def _is_free(gate: Gate) -> bool:
    passing = asyncio.ensure_future(gate.passed())
    await asyncio.sleep(0.001)
    return not passing.cancel()


def test_messages_pass_while_the_connection_is_up_and_not_paused() -> None:
    async def main() -> None:
        gate = Gate()
        gate.begin()
        assert not await _is_free(gate)
        gate.raise_up()
        assert await _is_free(gate)
        gate.pause()
        assert not await _is_free(gate)
        gate.resume()
        assert await _is_free(gate)
        gate.pause()
        gate.take_down()
        gate.raise_up()
        assert await _is_free(gate)

    run(main())


def test_a_pause_can_be_waited_for_alone() -> None:
    async def main() -> None:
        gate = Gate()
        gate.begin()
        gate.pause()
        waiting = asyncio.ensure_future(gate.resumed())
        await asyncio.sleep(0)
        assert not waiting.done()
        gate.resume()
        await waiting

    run(main())


def test_nothing_passes_before_the_beginning_and_after_the_end() -> None:
    async def main() -> None:
        gate = Gate()
        with pytest.raises(ClosedError):
            await gate.passed()
        gate.begin()
        waiting = asyncio.ensure_future(gate.passed())
        await asyncio.sleep(0)
        gate.end(LostError(1001, "gone"))
        gate.end(ClosedError())
        with pytest.raises(LostError, match="gone"):
            await waiting

    run(main())
