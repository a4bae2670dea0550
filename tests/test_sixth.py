"""A sixth protocol, found on `sys.path`: it has its place everywhere without a change in `src`.

`tests/sixth` is what CONTRIBUTING.md describes under "A further protocol": these modules and no
others. The registry looks for protocols when it is imported, so each test is a process of its own.
"""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from textwrap import dedent
from time import monotonic, sleep
from typing import Any, Self

import pytest

SIXTH = Path(__file__).parent / "sixth"
WIRELOOM = (sys.executable, "-c", "from wireloom.cli.main import main; main()")


def printed(script: str, *arguments: str, folder: Path = SIXTH) -> Any:
    """What a script prints as JSON, with `folder` on its path."""
    done = ran(script, *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ran(script: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", dedent(script), *arguments],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )


def environment(folder: Path) -> dict[str, str]:
    """This process's environment, with `folder` on the path."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def test_it_has_the_modules_that_contributing_names_and_no_others() -> None:
    text = (SIXTH.parents[1] / "CONTRIBUTING.md").read_text()
    served = text.partition("## A further protocol")[2].partition("\n## ")[0]
    needed = re.findall(r"^\| `(\w+)` \|.*\| must be there \|$", text, re.MULTILINE)
    needed += re.findall(r"^\| `(\w+)` \|", served, re.MULTILINE)
    found = {path.stem for path in (SIXTH / "wireloom_protocols" / "tiny").glob("*.py")}
    assert found == {"__init__", *needed}


def test_it_comes_after_the_five() -> None:
    script = """
        import json
        from wireloom.registry import NAMES, protocol
        tiny = protocol("tiny")
        print(json.dumps([NAMES, tiny.package, tiny.endpoint_module, tiny.evidence_module]))
    """
    assert printed(script) == [
        ["cthun", "dtn", "myriadmesh", "signalhub", "uep12", "tiny"],
        "wireloom_protocols.tiny",
        "wireloom_protocols.tiny.endpoint",
        "wireloom_protocols.tiny.evidence",
    ]


def test_it_cannot_have_the_name_of_another(tmp_path: Path) -> None:
    package = tmp_path / "wireloom_protocols" / "dtn"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    done = ran("import wireloom.registry", folder=tmp_path)
    assert "wireloom_protocols.dtn has the name of a built-in protocol" in done.stderr


def test_it_is_decoded_and_recognised() -> None:
    script = """
        import json
        from wireloom.capture.recognition import recognise
        from wireloom.registry import protocol
        tiny = protocol("tiny")
        raw = b"TINY MSG 7 ada bob how are you"
        message = tiny.codec.decode(raw)
        assert tiny.codec.encode(message) == raw
        summary = tiny.record.summarise(message, raw)
        print(json.dumps([recognise(raw), recognise(b"{}"), summary.id, message.text]))
    """
    assert printed(script) == ["tiny", "signalhub", "7", "how are you"]


def test_it_is_imported_from_lines_and_packets() -> None:
    script = """
        import json
        from wireloom.capture.importers.datagrams import Datagrams
        from wireloom.capture.importers.packets import Datagram, SocketAddress
        from wireloom.capture.jsonl import take_line
        from wireloom.capture.pcapng import PORTS
        raw = b"TINY ACK 7 bob ada"
        line = {"captured_at": 1, "node": "n", "protocol": "tiny", "link": "udp",
                "direction": "in", "peer": None, "raw": raw.hex()}
        named = take_line(json.dumps(line).encode())
        found = take_line(json.dumps({**line, "protocol": None}).encode())
        ends = SocketAddress(bytes(4), 1), SocketAddress(bytes(4), 2)
        framed = Datagrams().feed(Datagram(*ends, raw), now_ms=0)
        print(json.dumps([named.protocol, found.protocol, framed.protocol, PORTS["tiny"]]))
    """
    assert printed(script) == ["tiny", "tiny", "tiny", 7717]


def test_it_has_a_column_and_a_content() -> None:
    script = """
        import json
        from wireloom.capture.frame import CapturedFrame, to_batch
        from wireloom.wire.outcome import Direction
        from wireloom.pipeline.decoding import decode_batch
        raws = [b"TINY MSG 7 ada bob hi", b"TINY ACK 7 bob ada", b"TINY NO"]
        frames = [
            CapturedFrame(captured_at=1, node="n", protocol="tiny", link="udp",
                     direction=Direction.IN, raw=raw)
            for raw in raws
        ]
        rows = decode_batch(to_batch(frames, first_sequence=0)).to_pylist()
        shown = ("kind", "type", "message_id", "reply_to", "reason", "tiny")
        assert len({row["content"] for row in rows}) == 3
        print(json.dumps([[row[name] for name in shown] for row in rows]))
    """
    ada = {"id": "7", "from": "ada", "to": "bob", "text": "hi"}
    bob = {"id": "7", "from": "bob", "to": "ada", "text": None}
    assert printed(script) == [
        ["frames", "MSG", "7", None, None, ada],
        ["frames", "ACK", None, "7", None, bob],
        ["quarantine", None, None, None, "unknown_type", None],
    ]


@pytest.mark.spark
def test_it_is_ingested_and_refined(tmp_path: Path) -> None:
    script = """
        import json, sys
        from pathlib import Path
        from wireloom.capture.frame import CapturedFrame
        from wireloom.wire.outcome import Direction
        from wireloom.capture.writer import CaptureWriter
        from wireloom.pipeline import frame_tables
        from wireloom.pipeline.spark import Started, session
        from wireloom.pipeline.stages.ingest import ingest
        from wireloom.pipeline.stages.refine import refine
        from wireloom.pipeline.store import TableStore
        folder = Path(sys.argv[1])
        with CaptureWriter(folder / "captures", "n") as writer:
            for protocol, raw in (("tiny", b"TINY MSG 7 ada bob hi"), ("uep12", b"\\x79\\x20\\0")):
                writer.append(CapturedFrame(captured_at=1, node="n", protocol=protocol, link="udp",
                                       direction=Direction.IN, raw=raw))
        spark, store = session(), TableStore(folder / "tables")
        ingest(Started(spark), folder / "captures", store, on_batch=lambda batch: None)
        refine(Started(spark), store)
        rows = store.read(spark, frame_tables.frames()).orderBy("protocol").toArrow().to_pylist()
        print(json.dumps([[row["protocol"], row["type"], row["tiny"]] for row in rows]))
    """
    ada = {"id": "7", "from": "ada", "to": "bob", "text": "hi"}
    assert printed(script, str(tmp_path)) == [
        ["tiny", "MSG", ada],
        ["uep12", "PULL_BY_HASH", None],
    ]


class Caller:
    """A client of the switchboard: lines on TCP, each behind its size."""

    def __init__(self, port: int, name: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.says(f"ACK 0 {name} switchboard")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def says(self, text: str) -> None:
        raw = f"TINY {text}".encode()
        self._socket.sendall(len(raw).to_bytes(4, "big") + raw)

    def hears(self) -> str:
        size = int.from_bytes(self._read(4), "big")
        return self._read(size).decode()

    def _read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            found += self._socket.recv(size - len(found))
        return found


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """The port of a switchboard that `wireloom serve` runs."""
    ready = folder / "ready"
    elsewhere = [f"--{name}-listen=" for name in ("signalhub", "cthun", "uep12", "metrics")]
    wish = ["serve", f"--data={folder}", "--tiny-listen=127.0.0.1:0", f"--ready-file={ready}"]
    command = [*WIRELOOM, *wish, *elsewhere]
    with subprocess.Popen(command, env=environment(SIXTH)) as server:
        try:
            until = monotonic() + 30
            while not ready.exists():
                assert server.poll() is None
                assert monotonic() < until
                sleep(0.05)
            (line,) = ready.read_text().splitlines()
            yield int(line.rpartition(":")[2])
        finally:
            server.send_signal(SIGTERM)
            assert server.wait(20) == 0


def wireloom(*words: str) -> str:
    """What a command of the command line prints."""
    done = subprocess.run(
        [*WIRELOOM, *words], env=environment(SIXTH), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.spark
def test_it_is_served_captured_and_gets_its_fates(tmp_path: Path) -> None:
    with serving(tmp_path) as port, Caller(port, "bob") as bob, Caller(port, "ada") as ada:
        ada.says("MSG 7 ada bob hi")
        assert bob.hears() == "TINY MSG 7 ada bob hi"
        bob.says("ACK 7 bob ada")
        assert ada.hears() == "TINY ACK 7 bob ada"
        ada.says("MSG 8 ada bob are you there")
        assert bob.hears() == "TINY MSG 8 ada bob are you there"
        ada.says("MSG 9 ada eve hello")
        ada.says("MSG 10 ada bob last")
        assert bob.hears() == "TINY MSG 10 ada bob last"
    wireloom("pipeline", "run", "--data", str(tmp_path))
    query = "SELECT message_id, destination, state, reason FROM fates ORDER BY message_id::int"
    rows = wireloom("sql", query, "--data", str(tmp_path), "--format", "csv").splitlines()
    assert rows[1:] == [
        "7,bob,delivered,",
        "8,bob,lost,",
        "9,eve,rejected,unknown_destination",
        "10,bob,lost,",
    ]
