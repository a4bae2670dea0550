"""`wireloom swarm` against a real node."""

import json
from collections.abc import Iterator
from datetime import datetime

import pytest

from cli.talking import invoke, meanwhile
from live.clients.processes import Process, serving
from wireloom.live.clients.swarm import SwarmClient


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("node"), metrics=True) as process:
        yield process


def test_what_is_posted_is_read_followed_and_counted(node: Process) -> None:
    peer = f"--peer={node.swarm}"
    posted = invoke("swarm", "post", "hello", peer, "--ttl=5")
    assert posted.exit_code == 0, posted.output
    msg_hash = posted.stdout.strip()
    assert len(bytes.fromhex(msg_hash)) == 8
    second = invoke("swarm", "post", "-", peer, "--json", input=b"\xff\x00")
    assert len(json.loads(second.stdout)["hash"]) == 16

    lines = invoke("swarm", "read", peer).stdout.splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["hello", "0xff00"]
    datetime.strptime(lines[0].split(" ")[0], "%H:%M:%S")
    (first,) = invoke("swarm", "read", peer, "--json", "--count=1").stdout.splitlines()
    shown = json.loads(first)
    assert (shown["hash"], shown["ttl_epoch"]) == (msg_hash, 5)

    async def post() -> None:
        async with SwarmClient(node.swarm) as swarm:
            await swarm.synced()
            await swarm.post(b"later")

    followed = meanwhile(post, "swarm", "read", peer, "--follow", "--count=3").stdout
    assert [line.split(" ", 1)[1] for line in followed.splitlines()] == ["hello", "0xff00", "later"]

    metrics = f"--metrics={node.metrics}"
    said = invoke("swarm", "status", metrics).stdout
    assert said.startswith("swarm: 3 total, 1 unreferred, 0 missing; ")
    (status,) = invoke("swarm", "status", metrics, "--json").stdout.splitlines()
    assert json.loads(status)["total"] == 3
    assert " proven" in invoke("swarm", "peers", metrics).stdout
    peers = invoke("swarm", "peers", metrics, "--json").stdout.splitlines()
    assert {json.loads(line)["swarm"] for line in peers} == {"swarm"}


def test_what_is_wrong_is_one_sentence_and_a_status() -> None:
    for arguments, status, words in (
        (["post", "x", "--peer=nowhere"], 2, "is no host and port"),
        (["status", "--metrics=nowhere"], 2, "is no address of metrics"),
        (["status", "--metrics=http://127.0.0.1:9/metrics"], 3, "no node tells its metrics"),
        (["peers", "--metrics=http://127.0.0.1:9/metrics"], 3, "no node tells its metrics"),
    ):
        result = invoke("swarm", *arguments)
        assert result.exit_code == status, result.output
        assert words in result.output
        assert "Traceback" not in result.output


def test_a_ttl_that_the_swarm_does_not_allow_is_misuse(node: Process) -> None:
    result = invoke("swarm", "post", "x", f"--peer={node.swarm}", "--max-ttl=3", "--ttl=4")
    assert result.exit_code == 2
    assert "the swarm allows 0 to 3 epochs" in result.output
