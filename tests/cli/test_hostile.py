"""Every command with data of somebody who wants the terminal: frames, names, folders, answers.

A new command fails the first test here until its cases are listed.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import msgspec
import pytest
from websockets.sync.server import ServerConnection, serve

from capture.made import frame
from cli.talking import invoke, meanwhile
from cli.tree import LEAVES
from live.clients.processes import Process, serving
from protocols.dtn import samples as dtn
from protocols.signalhub import samples as hub
from support.lakes import HOSTILE, write_hostile
from wireloom.capture.writer import CaptureWriter
from wireloom.live.clients.cthun import CthunClient
from wireloom.live.clients.hub import HubClient
from wireloom.protocols.dtn import codec as dtn_codec
from wireloom.protocols.dtn.identity import short_id
from wireloom.protocols.signalhub import codec as hub_codec
from wireloom.protocols.uep12 import codec as uep12_codec
from wireloom.protocols.uep12.messages import Content

NAME = HOSTILE.replace("/", "")
"""The same for names of files."""

ADDRESS = "@([bold red]m[/]/\u202e)"
"""An address that the hub takes."""

ANNOUNCED = msgspec.structs.replace(
    dtn.ANNOUNCE,
    group_id_string=HOSTILE,
    short_id=short_id(HOSTILE),
    display_name=HOSTILE,
    extra={HOSTILE: HOSTILE},
)
TOLD = msgspec.structs.replace(hub.SAMPLES["application"], type=HOSTILE, payload={HOSTILE: HOSTILE})
CONTENT = Content(
    pow_nonce=0, timestamp=0, ttl_epoch=1, references=(), payload=HOSTILE.encode() * 9
)
FRAMES = {
    "dtn": dtn_codec.encode(ANNOUNCED),
    "signalhub": hub_codec.encode(TOLD),
    "uep12": uep12_codec.encode(CONTENT),
}


class Case(NamedTuple):
    """What is typed, what comes in meanwhile."""

    arguments: tuple[str, ...]
    stdin: str = ""
    meanwhile: Callable[[], Any] | None = None


class World(NamedTuple):
    """Where hostile things are."""

    data: Path
    odd: Path
    """With a hostile name, and captures alone: Delta has no tables in such a folder."""

    file: Path
    server: Process
    rogue: str


def rogue(line: ServerConnection) -> None:
    """Answers every request with a refusal that is made for the reader's terminal."""
    for raw in line:
        asked = json.loads(raw)
        answer = {
            "id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
            "type": "hub:error",
            "from": "@(cloudflare/signal-hub)",
            "to": asked["from"],
            "pattern": "tell",
            "correlationId": asked["id"],
            "timestamp": asked["timestamp"],
            "payload": {"code": "internal_error", "message": HOSTILE, "retryable": False},
            "metadata": {},
            "ttl": None,
            "signature": None,
        }
        line.send(json.dumps(answer))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("world")
    data, odd = root / "data", root / NAME
    for folder in (data, odd):
        with CaptureWriter(folder / "captures", "node") as writer:
            for number, (protocol, raw) in enumerate(FRAMES.items()):
                writer.append(frame(number, node="node", protocol=protocol, raw=raw, peer=HOSTILE))
            writer.append(frame(9, node="node", protocol=None, raw=HOSTILE.encode(), peer=HOSTILE))
    write_hostile(data / "tables")
    file = root / f"{NAME}.jsonl"
    file.write_text(json.dumps({"protocol": HOSTILE, HOSTILE: HOSTILE}) + "\n" + HOSTILE)
    with (
        serving(tmp_path_factory.mktemp("server"), metrics=True) as server,
        serve(rogue, "127.0.0.1", 0) as listening,
    ):
        Thread(target=listening.serve_forever, daemon=True).start()
        port = listening.socket.getsockname()[1]
        yield World(data, odd, file, server, f"ws://127.0.0.1:{port}/")
        listening.shutdown()


def decode(_: World) -> list[Case]:
    cases = [Case(("decode", name), raw.hex()) for name, raw in FRAMES.items()]
    text = Case(("decode", "signalhub", "--text"), json.dumps({"type": HOSTILE, HOSTILE: 1}))
    return [*cases, text, Case(("decode", HOSTILE)), Case(("decode", "dtn", "--key", HOSTILE))]


def encode(world: World) -> list[Case]:
    odd = [
        {"protocol": HOSTILE},
        {"type": HOSTILE, "fields": {}},
        {"type": "SubMsg", "fields": {HOSTILE: 1}},
    ]
    cases = [Case(("encode", "dtn"), json.dumps(one)) for one in odd]
    return [*cases, Case(("encode", "dtn", "--sign", str(world.file)))]


def inspect(_: World) -> list[Case]:
    cases = [
        Case(("inspect", name, raw.hex(), *more))
        for name, raw in FRAMES.items()
        for more in ((), ("--full",))
    ]
    damaged = FRAMES["signalhub"].decode().replace('"tell"', json.dumps(HOSTILE))
    return [*cases, Case(("inspect", "signalhub", damaged)), Case(("inspect", "dtn", HOSTILE))]


def keys_new(world: World) -> list[Case]:
    path = str(world.odd / f"{NAME}.key")
    return [Case(("keys", "new", path)), Case(("keys", "new", path))]


def hub_cases(world: World, *words: str) -> list[Case]:
    """A good hub, a rogue, and addresses of nobody."""
    return [
        Case(("hub", *words, "--url", world.server.hub, "--as", ADDRESS)),
        Case(("hub", *words, "--url", world.server.hub, "--as", HOSTILE)),
        Case(("hub", *words, "--url", world.rogue)),
        Case(("hub", *words, "--url", f"ws://{HOSTILE}")),
        Case(("hub", *words, "--url", world.server.hub, "--token-file", str(world.file))),
    ]


def hub_heard(world: World, *words: str) -> list[Case]:
    """Messages that come in."""

    async def talk() -> None:
        async with HubClient(world.server.hub, "@(a/rogue\u202e)") as rogue:
            await rogue.register([HOSTILE])
            while not (await rogue.discover(ADDRESS)).actors:
                await asyncio.sleep(0.15)
            await rogue.send(ADDRESS, HOSTILE, {HOSTILE: HOSTILE})

    async def publish() -> None:
        async with HubClient(world.server.hub, "@(a/rogue\u202e)") as rogue:
            while not (await rogue.publish("news", HOSTILE, HOSTILE)).subscriber_count:
                await asyncio.sleep(0.15)

    act = talk if words[0] == "connect" else publish
    to = ("--url", world.server.hub, "--as", ADDRESS, "--count=1")
    return [Case(("hub", *words, *to, *more), "", act) for more in ((), ("--json",))]


def hub_discover(world: World) -> list[Case]:
    return [
        *hub_cases(world, "discover"),
        *hub_cases(world, "discover", HOSTILE),
        Case(("hub", "discover", "--json", "--url", world.server.hub)),
    ]


def swarm_read(world: World) -> list[Case]:
    """What another peer has posted."""
    to = ("--peer", world.server.swarm)
    posted = Case(("swarm", "post", HOSTILE, *to))
    return [posted, *(Case(("swarm", "read", *to, *more)) for more in ((), ("--json",)))]


def swarm_asked(name: str) -> Callable[[World], list[Case]]:
    """What a node tells of its swarms."""
    wheres = (HOSTILE, f"http://127.0.0.1:9/{HOSTILE}")
    return lambda world: [
        Case(("swarm", name, "--metrics", where, *more))
        for where in (*wheres, world.server.metrics)
        for more in ((), ("--json",))
    ]


def broker_cases(world: World, *words: str) -> list[Case]:
    return [
        Case(("broker", *words, "--url", world.server.broker, "--as", HOSTILE)),
        Case(("broker", *words, "--url", world.server.broker, "--certificate", str(world.file))),
        Case(("broker", *words, "--url", f"ws://{HOSTILE}")),
    ]


def broker_listen(world: World) -> list[Case]:
    async def talk() -> None:
        async with CthunClient(world.server.broker, "cth://rogue/agent") as rogue:
            while not await rogue.inventory(["cth://me/agent"]):
                await asyncio.sleep(0.15)
            await rogue.send(["cth://me/agent"], "chat:line", HOSTILE.encode())

    to = ("--url", world.server.broker, "--as", "cth://me/agent", "--count=1")
    heard = [Case(("broker", "listen", *to, *more), "", talk) for more in ((), ("--json",))]
    return [*broker_cases(world, "listen"), *heard]


def with_data(*words: str) -> Callable[[World], list[Case]]:
    """A command that reads `--data`: what is there, and a folder that is not."""

    def cases(world: World) -> list[Case]:
        folders = (world.data, world.odd, world.odd / NAME)
        return [Case((*words, "--data", str(folder))) for folder in folders]

    return cases


def nowhere(*words: str) -> Callable[[World], list[Case]]:
    """A command that would start Spark: only a folder that is not there, and settings."""

    def cases(world: World) -> list[Case]:
        missing = ("--data", str(world.odd / NAME))
        return [Case((*words, *missing)), Case((*words, *missing, "--conf", HOSTILE))]

    return cases


def simulated(command: str, *words: str) -> Callable[[World], list[Case]]:
    """A command that plays a scenario: with words, with a change, and one that is not there."""

    def cases(world: World) -> list[Case]:
        path = world.odd / f"{NAME}.toml"
        lines = (f"about = {json.dumps(HOSTILE)}", "seconds = 1", "calm_seconds = 0")
        path.write_text("\n".join([*lines, "[cast.hub]", 'role = "hub"']))
        typed = ((str(path), *words), (str(path), "--set", HOSTILE), (str(world.odd / NAME),))
        return [Case(("simulate", command, *one)) for one in typed]

    return cases


def many(*makers: Callable[[World], list[Case]]) -> Callable[[World], list[Case]]:
    """The cases of all `makers`."""
    return lambda world: [case for maker in makers for case in maker(world)]


def typed(*words: str) -> Callable[[World], list[Case]]:
    """A command with nothing else."""
    return lambda _: [Case(words)]


CASES: dict[str, Callable[[World], list[Case]]] = {
    "broker inventory": lambda world: broker_cases(world, "inventory", HOSTILE),
    "broker listen": broker_listen,
    "broker send": lambda world: broker_cases(world, "send", HOSTILE, "--type", HOSTILE),
    "capture cat": many(
        with_data("capture", "cat"), with_data("capture", "cat", "--node", HOSTILE)
    ),
    "capture export": many(
        with_data("capture", "export", "--format", "jsonl"),
        with_data("capture", "export", "--format", "jsonl", "--node", HOSTILE),
    ),
    "capture import": lambda world: [
        Case(("capture", "import", str(world.file), "--data", str(world.odd / "new"))),
        Case(("capture", "import", str(world.file) + "x", "--data", str(world.odd / "new"))),
    ],
    "capture prune": with_data("capture", "prune", "--max-bytes=1000000"),
    "capture stat": with_data("capture", "stat"),
    "capture tail": many(
        with_data("capture", "tail"),
        with_data("capture", "tail", "--raw"),
        with_data("capture", "tail", "--type", HOSTILE),
        with_data("capture", "tail", "--node", HOSTILE),
    ),
    "completion": typed("completion", HOSTILE),
    "decode": decode,
    "encode": encode,
    "generate": lambda world: [
        Case(("generate", "--frames=1000", "--data", str(world.odd / "made"))),
        Case(("generate", "--frames=1000", "--data", str(world.odd))),
        Case(("generate", "--frames", HOSTILE)),
    ],
    "hub connect": lambda world: [
        *hub_cases(world, "connect", "--count=1")[1:4],
        *hub_heard(world, "connect"),
    ],
    "hub discover": hub_discover,
    "hub publish": lambda world: [
        *hub_cases(world, "publish", "news", HOSTILE, HOSTILE, "--text"),
        *hub_cases(world, "publish", HOSTILE, HOSTILE, HOSTILE),
    ],
    "hub send": lambda world: [
        *hub_cases(world, "send", ADDRESS, HOSTILE, HOSTILE, "--text"),
        *hub_cases(world, "send", HOSTILE, HOSTILE, HOSTILE),
    ],
    "hub stats": lambda world: hub_cases(world, "stats"),
    "hub subscribe": lambda world: [
        *hub_cases(world, "subscribe", HOSTILE, "--count=1"),
        *hub_heard(world, "subscribe", "news"),
    ],
    "hub token": lambda world: [
        Case(("hub", "token", "--secret-file", str(world.file), "--as", ADDRESS)),
        Case(("hub", "token", "--secret-file", str(world.odd / NAME), "--as", HOSTILE)),
    ],
    "inspect": inspect,
    "keys new": keys_new,
    "keys show": lambda world: [
        Case(("keys", "show", str(world.file))),
        Case(("keys", "show", str(world.odd / NAME))),
    ],
    "pipeline compact": with_data("pipeline", "compact"),
    "pipeline reprocess": nowhere("pipeline", "reprocess"),
    "pipeline run": nowhere("pipeline", "run"),
    "pipeline status": with_data("pipeline", "status"),
    "pipeline vacuum": with_data("pipeline", "vacuum"),
    "pipeline watch": nowhere("pipeline", "watch"),
    "report": many(with_data("report"), with_data("report", "--json")),
    "serve": lambda world: [
        Case(("serve", "--config", str(world.file))),
        Case(("serve", "--config", str(world.odd / NAME))),
        Case(("serve", "--signalhub-listen", HOSTILE)),
    ],
    "simulate play": simulated("play"),
    "simulate sweep": simulated("sweep", "--picture", HOSTILE),  # without Spark
    "sql": many(
        *(
            with_data("sql", "select * from fates", "--format", form)
            for form in ("table", "json", "csv")
        ),
        with_data("sql", f"select '{NAME}' from nowhere"),
        with_data("sql", HOSTILE),
    ),
    "swarm peers": swarm_asked("peers"),
    "swarm post": lambda world: [
        Case(("swarm", "post", "x", "--peer", HOSTILE)),
        Case(("swarm", "post", HOSTILE * 900, "--peer", world.server.swarm)),
    ],
    "swarm read": swarm_read,
    "swarm status": swarm_asked("status"),
    "trace": many(with_data("trace", HOSTILE), with_data("trace", f"nobody{HOSTILE}")),
}


FOLDED = ("inspect", "simulate play")
"""Commands whose lines are folded, maybe within what is looked for."""


def test_every_command_is_walked() -> None:
    assert set(CASES) == set(LEAVES)


@pytest.mark.parametrize("name", CASES)
def test_nothing_that_a_terminal_obeys_comes_out(world: World, name: str) -> None:
    for case in CASES[name](world):
        result = (
            invoke(*case.arguments, input=case.stdin)
            if case.meanwhile is None
            else meanwhile(case.meanwhile, *case.arguments)
        )
        assert isinstance(result.exception, SystemExit | None), (case, result.exception)
        assert_harmless(result.stdout + result.stderr, is_folded=name in FOLDED)


@pytest.mark.parametrize("name", ["decode", "encode"])
def test_what_is_json_stays_json(world: World, name: str) -> None:
    for case in CASES[name](world):
        result = invoke(*case.arguments, input=case.stdin)
        if result.exit_code < 2:
            lines = (result.stdout if name == "decode" else result.stderr).splitlines()
            assert all(isinstance(json.loads(line), dict) for line in lines)


def assert_harmless(text: str, *, is_folded: bool) -> None:
    for line in text.split("\n"):
        assert line.isprintable(), line
        assert not line.startswith("=cmd|")  # data began this line
    if "[2J" in text and not is_folded:
        assert "[bold red]m[" in text  # taken for markup, it would be gone
