"""`CthunClient` against a real server process."""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from live.certificates import Authority
from live.clients.processes import Process, free_port, run, serving
from live.clients.test_hub import QUICK
from wireloom.live.clients import errors
from wireloom.live.clients.cthun import CthunClient
from wireloom.live.clients.tls import client_context

TYPE = "http://example.com/greeting"


def uri(kind: str) -> str:
    return f"cth://n{uuid4().hex:.8}/{kind}"


def test_nodes_find_each_other_and_talk(server: Process) -> None:
    kind = f"k{uuid4().hex:.8}"

    async def main() -> None:
        ann, ben = uri(kind), uri(kind)
        async with (
            CthunClient(server.broker, ann, tuning=QUICK) as at_ann,
            CthunClient(server.broker, ben, tuning=QUICK) as at_ben,
        ):
            everyone = f"cth://*/{kind}"
            assert await at_ann.inventory([everyone]) == tuple(sorted((ann, ben)))
            assert set(await at_ann.inventory()) >= {ann, ben}
            sent = await at_ann.send([ben], TYPE, b"hello")
            heard = await anext(at_ben.messages)
            assert (heard.envelope.id, heard.envelope.sender, heard.data) == (sent, ann, b"hello")
            assert [hop.stage for hop in heard.hops] == ["accepted", "deliver"]
            answer = await at_ben.send([ann], TYPE, b"\xff\x00", in_reply_to=sent)
            heard = await anext(at_ann.messages)
            assert (heard.envelope.id, heard.envelope.in_reply_to) == (answer, sent)
            report = await at_ann.send_reported([everyone], TYPE)
            assert report.targets == tuple(sorted((ann, ben)))
            for one in (at_ann, at_ben):
                assert (await anext(one.messages)).envelope.id == report.id

    run(main())


def test_refusals_and_expiries_are_told(server: Process) -> None:
    async def main() -> None:
        async with CthunClient(server.broker, uri("agent"), tuning=QUICK) as ann:
            with pytest.raises(errors.RefusedError, match="not handled by the broker") as refused:
                await ann.send_reported(["cth:///server"], TYPE)
            assert refused.value.about is not None
            told = await ann.send(["cth:///server"], TYPE)
            failure = await anext(ann.failures)
            assert isinstance(failure, errors.RefusedError)
            assert failure.about == told
            away = uri("agent")
            report = await ann.send_reported([away], TYPE, ttl_seconds=0.2)
            assert report.targets == (away,)
            failure = await anext(ann.failures)
            assert isinstance(failure, errors.ExpiredError)
            assert failure.about == report.id

    run(main())


def test_the_last_connection_of_a_node_wins(server: Process) -> None:
    async def main() -> None:
        name = uri("agent")
        async with (
            CthunClient(server.broker, name, tuning=QUICK) as first,
            CthunClient(server.broker, name, tuning=QUICK) as second,
        ):
            with pytest.raises(errors.LostError, match="superseded, code 4000"):
                await anext(first.messages)
            await second.inventory()

    run(main())


def test_a_client_outlives_its_server(tmp_path: Path) -> None:
    port = free_port()

    async def main() -> None:
        async with AsyncExitStack() as stack:
            process = stack.enter_context(serving(tmp_path, 0, port))
            ann, ben = [
                await stack.enter_async_context(CthunClient(process.broker, one, tuning=QUICK))
                for one in ("cth://ann/agent", "cth://ben/agent")
            ]
            process.kill()
            with pytest.raises((errors.LostError, errors.AnswerTimeoutError)):
                await ann.inventory(seconds=0.3)
            sending = asyncio.ensure_future(ann.send([ben.uri], TYPE, b"x", ttl_seconds=20))
            starting = serving(tmp_path, 0, port)
            await asyncio.to_thread(starting.__enter__)
            stack.callback(starting.__exit__, None, None, None)
            assert (await anext(ben.messages)).envelope.id == await sending

    run(main(), 60)


def test_a_certificate_says_who_the_client_is(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("server")
    env = {
        **os.environ,
        "WIRELOOM_CTHUN_TLS_CERTIFICATE": str(certificate),
        "WIRELOOM_CTHUN_TLS_KEY": str(key),
        "WIRELOOM_CTHUN_TLS_CLIENT_AUTHORITY": str(authority.path),
    }
    named = client_context(authority.path, *authority.issue("ann.example.com"))
    nameless = client_context(authority.path)

    async def main(url: str) -> None:
        assert url.startswith("wss://")
        async with CthunClient(url, "cth://ann.example.com/agent", tls=named, tuning=QUICK) as ann:
            assert await ann.inventory() == (ann.uri,)
        with pytest.raises(errors.AssociationError, match="not authenticated"):
            await CthunClient(url, "cth://ben.example.com/agent", tls=named, tuning=QUICK).open()
        with pytest.raises(errors.LostError, match="code 4003"):
            await CthunClient(url, "cth://ann.example.com/agent", tls=nameless, tuning=QUICK).open()

    with serving(tmp_path, env=env) as process:
        run(main(process.broker))


def test_a_message_held_for_many_survives_a_kill_and_comes_once(tmp_path: Path) -> None:
    names = [f"cth://n{number:02}/agent" for number in range(20)]
    port = free_port()

    async def got(process: Process, uris: list[str]) -> list[int]:
        """How many messages each of these finds when it comes."""
        counts = []
        for one in uris:
            async with CthunClient(process.broker, one, tuning=QUICK) as agent:
                await agent.inventory()  # what waited came before the answer
                await asyncio.sleep(0.05)
                counts.append(len(agent.messages))
        return counts

    async def main() -> None:
        with serving(tmp_path, 0, port) as process:
            async with CthunClient(process.broker, uri("controller"), tuning=QUICK) as ann:
                for _ in range(3):
                    report = await ann.send_reported(names, TYPE, bytes(100_000), ttl_seconds=600)
                    assert report.targets == tuple(names)
            assert await got(process, names[::2]) == [3] * 10
            await asyncio.sleep(0.5)
            process.kill()
        with serving(tmp_path, 0, port) as process:
            assert await got(process, names) == [0, 3] * 10
            await asyncio.sleep(0.5)
            process.kill()
        with serving(tmp_path, 0, port) as process:
            assert await got(process, names) == [0] * 20
        assert (tmp_path / "data" / "store.db").stat().st_size < 2_000_000

    run(main(), 120)
