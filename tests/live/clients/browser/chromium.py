"""A headless Chromium with one page, driven over its debugging protocol."""

import asyncio
import itertools
import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

NAMES = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--remote-debugging-port=0",
)


def program() -> str:
    found = next(filter(None, (shutil.which(name) for name in NAMES if name)), None)
    assert found, "Chromium is missing: sh tools/chromium.sh installs it"
    return found


class Page:
    """A page in which a test runs JavaScript."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)

    async def call(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        await self._connection.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            heard = json.loads(await self._connection.recv())
            if heard.get("id") == number:
                assert "error" not in heard, heard
                return heard["result"]

    async def run(self, script: str) -> Any:
        """What the body of an async function returns in the page."""
        result = await self.call(
            "Runtime.evaluate",
            expression=f"(async () => {{ {script} }})()",
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    async def visit(self, url: str) -> None:
        await self.call("Page.navigate", url=url)
        async with asyncio.timeout(20):
            while not await self.run("return globalThis.isReady === true"):
                await asyncio.sleep(0.05)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *about: object) -> None:
        del about


@asynccontextmanager
async def pages(folder: Path) -> AsyncIterator[str]:
    """Serves the files of a folder; gives where."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Page]:
    """Starts a browser that keeps its things in a folder."""
    command = [program(), *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        async with asyncio.timeout(60):
            where = await _debugger(process, folder / "DevToolsActivePort")
        async with connect(where, max_size=None, open_timeout=30, proxy=None) as connection:
            yield Page(connection)
    finally:
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, 10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def _debugger(process: subprocess.Popen[bytes], ready: Path) -> str:
    while not ready.exists() or not ready.read_text().count("\n"):
        assert process.poll() is None, "Chromium ended"
        await asyncio.sleep(0.05)
    port = ready.read_text().split("\n")[0]
    while True:
        listed = await asyncio.to_thread(_listed, port)
        for target in listed:
            if target["type"] == "page":
                return str(target["webSocketDebuggerUrl"])
        await asyncio.sleep(0.05)


def _listed(port: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
        return json.load(answer)
