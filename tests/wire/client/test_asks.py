"""Requests that wait for their answers."""

import asyncio

import pytest

from live.clients.processes import run
from wireloom.live.clients.errors import ClosedError
from wireloom.live.clients.pending import Pending


def test_an_answer_reaches_who_waits_for_it_once() -> None:
    async def main() -> None:
        pending: Pending[int] = Pending()
        answer = pending.expect("a", int)
        assert pending.answer("a", 1)
        assert not pending.answer("a", 2)
        assert not pending.fail("a", ClosedError())
        assert not pending.answer("b", 1)
        assert not pending.answer(None, 1)
        assert await answer == 1

    run(main())


def test_a_failure_reaches_all() -> None:
    async def main() -> None:
        pending: Pending[int] = Pending()
        answers = [pending.expect(name, int) for name in "ab"]
        pending.fail_all(ClosedError())
        for answer in answers:
            with pytest.raises(ClosedError):
                await answer

    run(main())


def test_a_frame_that_cannot_be_read_fails_those_it_names_or_else_all() -> None:
    async def main() -> None:
        pending: Pending[int] = Pending()
        answers = {name: pending.expect(name, int) for name in ("one", "two")}
        assert not pending.fail_unread(b"??", ClosedError(), named_only=True)
        assert pending.fail_unread(b"? two ?", ClosedError())
        assert (answers["one"].done(), answers["two"].done()) == (False, True)
        assert not pending.fail_unread(b"? two ?", ClosedError())
        assert pending.fail_unread(b"??", ClosedError())
        for answer in answers.values():
            with pytest.raises(ClosedError):
                await answer
        assert not Pending[int]().fail_unread(b"", ClosedError())

    run(main())


def test_the_oldest_of_a_kind_is_found() -> None:
    async def main() -> None:
        pending: Pending[object] = Pending()
        for name, kind in (("a", int), ("b", str), ("c", str)):
            pending.expect(name, kind)
        assert pending.oldest(str) == "b"
        assert pending.oldest(bytes) is None

    run(main())


def test_what_is_forgotten_leaves_nothing_behind() -> None:
    async def main() -> None:
        problems: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: problems.append(what))
        pending: Pending[int] = Pending()
        pending.expect("a", int)
        pending.expect("b", int)
        pending.fail("b", ClosedError())
        for name in ("a", "b", "c"):
            pending.forget(name)
        assert len(pending) == 0
        assert not problems

    run(main())
