"""What an operator is told, line by line."""

import asyncio
import io
import json
import logging
import ssl
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop

from live.certificates import Authority
from live.links.wires import Server, serve
from live.parts import until
from wireloom.live import journal
from wireloom.live.journal import BURST, Style, configure, note
from wireloom.live.tls import server_context


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)


def told(style: Style = Style.TEXT) -> io.StringIO:
    stream = io.StringIO()
    configure(style, stream)
    return stream


def test_an_event_and_its_fields_are_a_line() -> None:
    stream = told()
    note("login", name="@(desk/bob)", count=3, why="", text='two "words"')
    time, rest = stream.getvalue().split(" ", 1)
    assert time.endswith("Z")
    assert rest == 'INFO login name=@(desk/bob) count=3 text="two \\"words\\""\n'


def test_lines_for_machines_are_json() -> None:
    stream = told(Style.JSON)
    note("refused", who="127.0.0.1\x1b[2J\n", why="rate")
    (line,) = stream.getvalue().splitlines()
    document = json.loads(line)
    assert (document["event"], document["level"]) == ("refused", "INFO")
    assert document["who"] == "127.0.0.1\x1b[2J\n"
    assert line.isprintable()


def test_text_from_outside_does_nothing_and_is_short() -> None:
    stream = told()
    note("login", name="\x1b]0;evil\x07\n\u202e" + "x" * 10_000)
    line = stream.getvalue().rstrip("\n")
    assert line.isprintable()
    assert r"\x1b]0;evil\x07\n\u202e" in line
    assert len(line) < 300


def test_a_kind_of_line_has_a_rate_and_others_are_not_lost_for_it() -> None:
    stream = told()
    for number in range(BURST * 20):
        note("refused", number=number)
    note("login")
    lines = stream.getvalue().splitlines()
    assert len(lines) <= BURST + 3
    assert lines[-1].endswith("INFO login")


def test_how_many_were_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = told()
    for _ in range(BURST + 7):
        note("refused")
    monkeypatch.setattr(journal, "monotonic", lambda: 1e12)
    note("refused")
    assert stream.getvalue().splitlines()[-1].endswith("refused left_out=7")


def test_kinds_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_KINDS", 2)
    stream = told()
    for number in range(BURST * 3):
        logging.getLogger("x").warning(f"kind {number}")
    assert len(stream.getvalue().splitlines()) <= BURST + 4


@pytest.mark.parametrize("style", Style)
def test_a_fault_of_our_own_has_its_traceback(style: Style) -> None:
    stream = told(style)
    try:
        raise RuntimeError("as you like")
    except RuntimeError:
        logging.getLogger("wireloom.live.driver").exception("not handled")
    assert "RuntimeError: as you like" in stream.getvalue()


def test_what_fails_on_the_loop_is_one_line_without_a_traceback() -> None:
    stream = told()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        journal.watch(loop)
        loop.call_soon(lambda: 1 / 0)
        loop.call_exception_handler({"message": "SSL handshake failed", "exception": OSError})
        loop.call_exception_handler({"message": "no files", "exception": OSError(24, "none")})
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    uvloop.run(main())
    assert "Traceback" not in stream.getvalue()
    assert "handshake" not in stream.getvalue()
    lines = sorted(line.split(" ", 2)[2] for line in stream.getvalue().splitlines())
    assert len(lines) == 2
    assert "error=ZeroDivisionError" in lines[0]
    assert lines[1] == 'no files error=OSError why="[Errno 24] none"'


def test_failed_handshakes_of_tls_are_a_line_each_with_the_remedy(tmp_path: Path) -> None:
    stream = told()
    authority = Authority(tmp_path / "certificates")
    context = server_context(*authority.issue("server"))

    async def test(server: Server) -> None:
        journal.watch(asyncio.get_running_loop())
        wire = await server.open()
        wire.send(b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert await wire.reader.read() == b""
        wire = await server.open()
        wire.writer.close()
        with suppress(ssl.SSLError):
            strict = ssl.create_default_context()
            await asyncio.open_connection("127.0.0.1", server.port, ssl=strict)
        await until(lambda: stream.getvalue().count("\n") == 3)

    serve(tmp_path, test, tls=context)
    for line in stream.getvalue().splitlines():
        assert "INFO refused protocol=echo who=127.0.0.1 why=" in line
        assert "wants wss://, clients that trust" in line


def test_a_status_that_clients_are_refused_with_is_explained() -> None:
    for status in ("403", "404", "421", "503"):
        assert journal.REMEDIES[status].startswith(f"{status}: ")
