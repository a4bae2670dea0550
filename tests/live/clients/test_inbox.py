"""What waits to be read."""

import asyncio

import pytest

from live.clients.processes import run
from wireloom.live.clients.errors import ClosedError, LostError
from wireloom.live.clients.inbox import Inbox


def test_items_come_in_order_and_the_end_after_them() -> None:
    async def main() -> None:
        inbox: Inbox[int] = Inbox(10)
        inbox.put(1)
        inbox.put(2)
        inbox.end()
        assert len(inbox) == 2
        assert [item async for item in inbox] == [1, 2]

    run(main())


def test_a_reader_waits_for_what_comes() -> None:
    async def main() -> None:
        inbox: Inbox[int] = Inbox(10)
        reading = asyncio.ensure_future(anext(inbox))
        await asyncio.sleep(0)
        inbox.put(7)
        assert await reading == 7

    run(main())


def test_the_first_end_holds_and_an_error_is_raised_to_every_reader() -> None:
    async def main() -> None:
        inbox: Inbox[int] = Inbox(10)
        reading = [asyncio.ensure_future(anext(inbox)) for _ in range(2)]
        await asyncio.sleep(0)
        inbox.end(LostError(1001, "gone"))
        inbox.end(ClosedError())
        for one in reading:
            with pytest.raises(LostError, match="gone"):
                await one

    run(main())


def test_room_waits_until_something_is_read_or_it_is_released() -> None:
    async def main() -> None:
        inbox: Inbox[int] = Inbox(2)
        inbox.put(1)
        await inbox.room()
        inbox.put(2)
        waiting = asyncio.ensure_future(inbox.room())
        await asyncio.sleep(0)
        assert not waiting.done()
        await anext(inbox)
        await waiting
        inbox.put(3)
        inbox.put(4)
        waiting = asyncio.ensure_future(inbox.room())
        await anext(inbox)
        await asyncio.sleep(0)
        assert not waiting.done()
        inbox.release()
        await waiting

    run(main())


def test_the_latest_are_kept() -> None:
    async def main() -> None:
        inbox: Inbox[int] = Inbox(2)
        for number in range(5):
            inbox.put_latest(number)
        inbox.end()
        assert [item async for item in inbox] == [3, 4]

    run(main())
