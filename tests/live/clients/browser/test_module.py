"""`wireloom-hub.js` in a real browser, through a real server and a scripted one."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from live.clients.browser.chromium import Page, chromium, pages
from live.clients.processes import Process, free_port, run, serving
from live.clients.scripted import HUB, Scripted, scripted
from live.clients.test_hub import QUICK, name
from wireloom.live.clients.hub import HubClient

HTML = """<!doctype html><title>test</title><script type="module">
import * as hub from "./wireloom-hub.js";
Object.assign(globalThis, hub, { isReady: true });
</script>"""

CONNECT = """
  globalThis.states = []; globalThis.failures = []; globalThis.naps = [];
  const sleep = (ms) => {
    if (ms === 25000) return new Promise(() => {});
    naps.push(ms);
    return new Promise((done) => setTimeout(done, Math.min(ms, 20)));
  };
  globalThis.hub = new HubClient(%s, %s, { sleep, random: () => 0.5, tries: 500 });
  hub.addEventListener("state", (event) => states.push(event.detail));
  hub.addEventListener("failure", (event) => failures.push(event.detail));
  globalThis.inbox = hub.messages();
"""


def play(folder: Path, act: Callable[[Page], Awaitable[None]]) -> None:
    """Runs an act with a page that has the module."""
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text(HTML)
    with as_file(files("wireloom.live.clients.browser") / "wireloom-hub.js") as module:
        shutil.copy(module, site)

    async def main() -> None:
        async with pages(site) as where, chromium(folder / "profile") as page:
            await page.visit(f"{where}/index.html")
            await act(page)

    run(main(), 120)


def connecting(url: str, address: str) -> str:
    return CONNECT % (json.dumps(url), json.dumps(address))


def test_a_page_talks_through_a_real_hub(tmp_path: Path, server: Process) -> None:
    web, ada = name("web"), name("ada")

    async def act(page: Page) -> None:
        await page.run(connecting(server.hub, web) + "await hub.connect();")
        assert await page.run("return states") == ["connected"]
        assert await page.run("return hub.session.heartbeatInterval") == 25_000
        made = await page.run("return hub.register(['web'], {metadata: {page: 1}})")
        assert (made["actorAddress"], made["version"]) == (web, 1)
        async with HubClient(server.hub, ada, tuning=QUICK) as at_ada:
            found = await at_ada.discover(web)
            assert [one.metadata for one in found.actors] == [{"page": 1}]
            await at_ada.register(["x"])
            sent = await page.run(f"return hub.send('{ada}', 'chat:line', {{text: 'grüße'}})")
            assert sent["status"] == "delivered"
            heard = await anext(at_ada.messages)
            assert (heard.from_, heard.payload) == (web, {"text": "grüße"})
            told = await page.run(f"return hub.tell('{ada}', 'aside')")
            heard = await anext(at_ada.messages)
            assert isinstance(heard.metadata, dict)
            assert heard.metadata["originalMessageId"] == told
            assert (await at_ada.send(web, "chat:line", [1])).status == "delivered"
            got = await page.run("return (await inbox.next()).value")
            assert (got["from"], got["type"], got["payload"]) == (ada, "chat:line", [1])
            topic = f"web/{web[-9:-1]}"
            made = await page.run(f"return hub.subscribe('{topic}')")
            assert made["topic"] == topic
            assert (await at_ada.publish(topic, "n", 2)).subscriber_count == 1
            got = await page.run("return (await inbox.next()).value")
            assert (got["payload"], got["metadata"]["topic"]) == (2, topic)
            published = await page.run(f"return hub.publish('{topic}', 'n', 3)")
            assert published["subscriberCount"] == 1
            assert await page.run("return (await inbox.next()).value.payload") == 3
            await page.run(f"await hub.unsubscribe('{made['subscriptionId']}')")
        assert (await page.run("return hub.renew()"))["renewalToken"]
        assert (await page.run(f"return hub.discover('{web}')"))["actors"][0]["version"] == 2
        assert (await page.run("return hub.queueStats()"))["pauseThreshold"] == 1_000
        done = await page.run("return hub.broadcast('b', null, {capability: 'none'})")
        assert done["deliveredCount"] == 0
        refused = "return hub.send('@(no/body)', 'x').catch((error) => ({...error}))"
        error = await page.run(refused)
        assert (error["code"], error["retryable"]) == ("unknown_actor", False)
        await page.run("await hub.unregister(); await hub.queueStats(); hub.close();")
        assert await page.run("return (await inbox.next()).done")
        late = await page.run("return hub.queueStats().catch((error) => error.name)")
        assert late == "LostError"
        assert await page.run("return failures.length") == 0

    play(tmp_path, act)


def test_a_page_outlives_its_server(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "s").mkdir()

    async def act(page: Page) -> None:
        with serving(tmp_path / "s", port) as process:
            await page.run(connecting(process.hub, "@(web/page)") + "await hub.connect();")
            await page.run("await hub.register(['web']); await hub.subscribe('t', {durable: true})")
            process.kill()
            await page.run("while (!states.includes('reconnecting')) await new Promise(setTimeout)")
            await page.run(
                "globalThis.waiting = hub.ask('hub:publish', {topic: 't', message: {type: 'n', "
                "payload: 1}}, 'hub:published', {pattern: 'tell', timeoutMs: 60000})"
            )
        with serving(tmp_path / "s", port):
            assert await page.run("return (await waiting).subscriberCount") == 1
            assert await page.run("return (await inbox.next()).value.payload") == 1
            found = await page.run("return hub.discover('@(web/page)')")
            assert found["actors"][0]["version"] == 2
            naps = await page.run("return naps")
            assert naps[:4] == [1_000, 2_000, 4_000, 8_000]
            assert set(naps[7:]) <= {60_000}
            await page.run(
                f"const other = new HubClient({json.dumps(process.hub)}, '@(web/page)');"
                "await other.connect(); while (states.at(-1) !== 'closed') {"
                "await new Promise(setTimeout); } other.close();"
            )
            last = await page.run("return (await inbox.next().catch((error) => error)).reason")
            assert last == "duplicate_connection"

    play(tmp_path, act)


def test_pauses_heartbeats_and_refusals(tmp_path: Path) -> None:
    async def act(page: Page) -> None:
        async with scripted() as hub:
            await _pauses(page, hub)
            await _beats(page, hub)
            await _is_refused(page, hub)
            await _cannot_read(page, hub)
        nobody = f"return new HubClient('ws://127.0.0.1:{free_port()}/', '@(w)').connect()"
        assert await page.run(f"{nobody}.catch((error) => error.name)") == "LostError"
        delays = await page.run("return [0, 3, 9].flatMap((n) => [backoff(n, 0), backoff(n, 1)])")
        assert [round(one) for one in delays] == [800, 1_200, 6_400, 9_600, 48_000, 72_000]

    play(tmp_path, act)


async def _pauses(page: Page, hub: Scripted) -> None:
    await page.run(connecting(hub.url, "@(w)") + "globalThis.opening = hub.connect()")
    peer = await hub.accept()
    assert (await peer.welcome())["to"] == "@(cloudflare/signal-hub)"
    await page.run("await opening")
    await peer.say("hub:pause", {"reason": "outbound_queue_full"})
    await page.run("while (states.at(-1) !== 'paused') await new Promise(setTimeout)")
    await page.run("globalThis.sending = hub.send('@(b)', 'x')")
    late = "return hub.send('@(b)', 'y', null, {timeoutMs: 20}).catch((error) => error.name)"
    assert await page.run(late) == "TimeoutError"
    await peer.say("hub:resume", {})
    heard = await peer.hear("hub:send")
    assert heard["payload"]["message"]["type"] == "x"
    assert heard["to"] == HUB  # as the hub called itself
    ack = {"messageId": heard["id"], "deliveredAt": 1, "status": "queued"}
    await peer.say("hub:delivery_ack", ack, heard)
    assert await page.run("return (await sending).status") == "queued"
    fault = {"code": "timeout", "message": "late", "retryable": True}
    await peer.say("hub:error", fault, heard)
    await page.run("while (!failures.length) await new Promise(setTimeout)")
    assert await page.run("return [failures[0].code, failures[0].about]") == [
        "timeout",
        heard["id"],
    ]
    await peer.connection.send("nonsense")
    await page.run("while (failures.length < 2) await new Promise(setTimeout)")
    await peer.say("hub:pause", {"reason": "r"})
    await page.run("while (states.at(-1) !== 'paused') await new Promise(setTimeout)")
    await page.run("hub.close()")
    assert (await peer.hear("hub:disconnect"))["payload"] == {"reason": "client_requested"}


async def _beats(page: Page, hub: Scripted) -> None:
    start = connecting(hub.url, "@(w)").replace("tries: 500", "tries: 500, deadAfterMs: 2000")
    await page.run(start + "globalThis.opening = hub.connect()")
    peer = await hub.accept()
    await peer.welcome(heartbeat_ms=10)
    await page.run("await opening")
    beat = await peer.hear("hub:heartbeat")
    sent_at = beat["payload"]["timestamp"]
    await peer.say("hub:heartbeat_ack", {"timestamp": sent_at, "serverTime": sent_at + 70})
    await page.run("while (hub.skewMs !== 70) await new Promise(setTimeout)")
    await peer.hear("hub:heartbeat")  # and no answer: the connection is dead
    again = await hub.accept()
    await again.welcome()
    await page.run("while (states.at(-1) !== 'connected') await new Promise(setTimeout)")
    await page.run("hub.close()")


async def _is_refused(page: Page, hub: Scripted) -> None:
    await page.run(connecting(hub.url, "@(w)") + "globalThis.opening = hub.connect()")
    peer = await hub.accept()
    await peer.welcome()
    await page.run("await opening; globalThis.registering = hub.register(['x'])")
    heard = await peer.hear("hub:register")
    made: dict[str, Any] = {"actorAddress": "@(w)", "expiresAt": 1, "version": 1}
    await peer.say("hub:registered", {**made, "renewalToken": "t1"}, heard)
    await page.run("await registering")
    await peer.connection.close(1001)
    peer = await hub.accept()
    await peer.welcome()
    refusal = {"action": "renew", "reason": "the token does not hold"}
    await peer.say("hub:rate_limited", {"retryAfter": 5}, await peer.hear("hub:renew"))
    await peer.say("hub:unauthorized", refusal, await peer.hear("hub:renew"))
    heard = await peer.hear("hub:register")
    await peer.say("hub:registered", {**made, "renewalToken": "t2"}, heard)
    await page.run("while (states.at(-1) !== 'connected') await new Promise(setTimeout)")
    assert await page.run("return naps") == [1_000, 5]
    await peer.connection.close(1001)
    peer = await hub.accept()
    refusal = {"action": "connect", "reason": "the token is over"}
    await peer.say("hub:unauthorized", refusal, await peer.hear("hub:connect"))
    error = await page.run("return inbox.next().catch((error) => ({...error}))")
    assert error["code"] == "unauthorized"
    await asyncio.sleep(0.1)
    assert hub.waiting == 0
    assert await page.run("return states.at(-1)") == "closed"


async def _cannot_read(page: Page, hub: Scripted) -> None:
    """An answer that cannot be read is no time-out."""
    await page.run(connecting(hub.url, "@(w)") + "globalThis.opening = hub.connect()")
    peer = await hub.accept()
    await peer.welcome()
    await page.run("await opening")
    ask = "globalThis.asking = [hub.queueStats(), hub.discover()].map((one) => one.catch((e) => e))"
    names = "return (await Promise.all(asking)).map((one) => one.name ?? one.hasMore)"
    for frame in ("nonsense", "[]", "null", '{"type": 1}'):
        await page.run(ask)
        await peer.hear(), await peer.hear()
        await peer.connection.send(frame)
        assert await page.run(names) == ["UnreadableError", "UnreadableError"]
    for type_, payload in (
        ("hub:queue_stats_response", None),
        ("hub:error", None),
        ("hub:resumed", {}),
    ):
        await page.run(ask)
        first, second = await peer.hear(), await peer.hear()
        await peer.say(type_, payload, first)
        await peer.say("hub:discovered", {"actors": [], "hasMore": False}, second)
        assert await page.run(names) == ["UnreadableError", False]
    await page.run("hub.close()")
