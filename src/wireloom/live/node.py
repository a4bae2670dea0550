"""What `wireloom serve` runs: all endpoints of one node, with what they share."""

import asyncio
import secrets
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus
from pathlib import Path

from prometheus_client.exposition import CONTENT_TYPE_LATEST

from wireloom.capture.receipts import keep_receipt
from wireloom.capture.retention import Keeper
from wireloom.capture.writer import CaptureWriter
from wireloom.live import journal
from wireloom.live.backlogs import Backlogs
from wireloom.live.config import Config, capture_bounds
from wireloom.live.dialling import Dialer
from wireloom.live.driver import Driver
from wireloom.live.endpoint import AnyEndpoint, Context, Place
from wireloom.live.endpoints import all_endpoints
from wireloom.live.errors import NodeError
from wireloom.live.links.connection import Host
from wireloom.live.links.door import Room
from wireloom.live.links.sections import Link
from wireloom.live.listening import bound, shown
from wireloom.live.metrics import Meters, NodeMetrics
from wireloom.live.process import sockets
from wireloom.live.shipping import Shipper
from wireloom.live.status import Page, StatusServer
from wireloom.live.store import RecordStore, StoreError
from wireloom.live.tap import Tap
from wireloom.remote import any_path, reason
from wireloom.wire.ids import Ids
from wireloom.wire.session import Session
from wireloom.wire.visible import visible


class Node:
    """All endpoints of one process.

    Args:
        config: What the operator has set.
        endpoints: What is served, if not the endpoints of all protocols.
    """

    def __init__(self, config: Config, endpoints: Sequence[AnyEndpoint] | None = None) -> None:
        self._config = config
        self._endpoints = all_endpoints() if endpoints is None else endpoints
        self._context = Context(Path(config.node.data), secrets.token_hex(16))
        self._meters: dict[str, Meters] = {}
        self._drivers: dict[str, Driver] = {}
        self._links: list[Link] = []
        self._status: StatusServer | None = None
        self._shipper: Shipper | None = None
        self._failure: NodeError | None = None
        self._is_stopping = False
        self._overloads: set[str] = set()
        self._room = Room(sockets())
        self._backlogs = Backlogs()

    @property
    def is_shipping(self) -> bool:
        """Whether segments are still under way, after `run` has ended."""
        return self._shipper is not None and self._shipper.is_at_work

    async def run(self, ready: Callable[[Sequence[str]], None]) -> None:
        """Serves until a signal ends it.

        Args:
            ready: Called with a line for each link once all listen.

        Raises:
            NodeError: If something that is needed cannot be had, or is lost.
            ConfigError: If a setting turns out to be impossible.
        """
        data = self._context.data
        with ExitStack() as stack:
            journal.watch(asyncio.get_running_loop())
            self._stopped = asyncio.Event()
            self._catch_signals()
            self._store = self._opened_store(data, stack)
            self._tap = self._opened_tap(data)
            try:
                self._start_shipping()
                ready(await self._start())
                await self._serve()
            finally:
                self._stop_listening()
                self._close_tap()
                self._close_shipper()
        if self._failure is not None:
            raise self._failure

    def _opened_store(self, data: Path, stack: ExitStack) -> RecordStore:
        try:
            store = RecordStore(data / "store.db")
        except StoreError as error:
            raise NodeError(str(error)) from None
        stack.callback(self._close_store)
        return store

    def _close_store(self) -> None:
        try:
            self._store.close()
        except StoreError as error:
            raise NodeError(str(error)) from None

    def _opened_tap(self, data: Path) -> Tap | None:
        node = self._config.node
        if not node.capture:
            return None
        folder = data / "captures"
        try:
            writer = CaptureWriter(folder, node.name)
            self._shipper = self._made_shipper(folder, writer.identity)
        except (OSError, ValueError) as error:
            raise NodeError(f"frames cannot be captured: {error}") from None
        return Tap(
            writer,
            node.name,
            overloaded=partial(self._overload, "capture"),
            tokens=node.capture_tokens,
            keeper=Keeper(folder, node.name, capture_bounds(node)),
        )

    def _made_shipper(self, folder: Path, identity: str) -> Shipper | None:
        name, ship = self._config.node.name, self._config.node.ship
        target = any_path(ship)
        keep_receipt(folder, str(target) if ship else "", node=name)
        return Shipper(folder, name, identity, target) if ship else None

    def _start_shipping(self) -> None:
        if self._shipper is not None:
            self._shipper.start()

    def _close_shipper(self) -> None:
        if self._shipper is not None:
            self._shipper.close(self._config.node.stop_seconds)

    def _close_tap(self) -> None:
        if self._tap is not None:
            try:
                self._tap.close()
            except OSError as error:
                raise NodeError(f"the last frames were not captured: {error}") from None

    async def _start(self) -> list[str]:
        """Starts all that is configured; returns a line for each link, and one for the pages."""
        metrics = NodeMetrics(self._meters)
        self._store.sync_seconds = metrics.sync.observe
        metrics.gauges = self._gauges()
        lines: list[str] = []
        for endpoint in self._endpoints:
            lines += await self._start_endpoint(endpoint)
        lines += await self._start_status(metrics)
        self._store.start(
            synced=self._synced,
            failed=self._fail,
            call=asyncio.get_running_loop().call_soon_threadsafe,
            overloaded=partial(self._overload, "store"),
        )
        return lines

    async def _start_endpoint(self, endpoint: AnyEndpoint) -> list[str]:
        """Starts an endpoint, unless all its links are off; returns a line for each link."""
        section, context = self._config.of(endpoint), self._context
        places = [place for place in endpoint.places(section) if place.section.listen]
        if not places:
            return []
        settings = endpoint.settings_of(section, context)
        driver = self._driver(endpoint.name, endpoint.session(settings, Ids(context.boot)))
        size = settings.max_message_size
        links = {place.link: self._link(place, driver, size) for place in places}
        for name, link in links.items():
            if isinstance(link, Dialer):
                driver.add_link(name, link)
        try:
            driver.start()
        except StoreError as error:
            raise NodeError(str(error)) from None
        return [await self._listen(place, links[place.link]) for place in places]

    def _driver(self, name: str, session: Session) -> Driver:
        meters = self._meters[name] = Meters()
        meters.watch(session)
        driver = Driver(name, session, store=self._store, tap=self._tap, meters=meters)
        driver.backlogs = self._backlogs
        driver.overloaded = partial(self._overload, name)
        self._drivers[name] = driver
        return driver

    def _link(self, place: Place, host: Host, max_frame_size: int) -> Link:
        return place.section.link(place.name, host, max_frame_size=max_frame_size, room=self._room)

    async def _listen(self, place: Place, link: Link) -> str:
        """Has a link listen; returns the line that says where."""
        section, name = place.section, place.name
        listening = section.bind(name)
        where = shown(listening, section.listens_at(name))
        await link.listen(listening)
        self._links.append(link)
        return f"{name} {section.url(where)}"

    async def _start_status(self, metrics: NodeMetrics) -> list[str]:
        address = self._config.node.metrics_address()
        if address is None:
            return []
        pages = {
            "/metrics": lambda: Page(HTTPStatus.OK, metrics.text(), CONTENT_TYPE_LATEST),
            "/healthz": self._health,
        }
        listening = bound(address, "node.metrics")
        self._status = StatusServer(pages, is_local=address.is_local)
        await self._status.listen(listening)
        return [f"metrics http://{shown(listening, address)}/metrics"]

    def _health(self) -> Page:
        if self._is_stopping:
            return Page(HTTPStatus.SERVICE_UNAVAILABLE, b"stopping\n")
        if self._tap is not None and self._tap.is_failing:
            why = self._tap.failure.strerror if self._tap.failure else ""
            said = visible(f"frames cannot be captured: {why}")
            return Page(HTTPStatus.SERVICE_UNAVAILABLE, f"{said}\n".encode())
        lacks = []
        if self._tap is not None and self._tap.excess is not None:
            lacks.append(f"ok, but frames are not captured: {self._tap.excess.strerror}")
        if self._shipper is not None and self._shipper.failure is not None:
            lacks.append(f"ok, but segments are not shipped: {reason(self._shipper.failure)}")
        said = "\n".join(map(visible, lacks or ["ok"]))
        return Page(HTTPStatus.OK, f"{said}\n".encode())

    def _gauges(self) -> dict[str, Callable[[], float]]:
        gauges: dict[str, Callable[[], float]] = {
            "store_waiting": lambda: self._store.waiting,
            "store_unreadable": lambda: self._store.unreadable,
            "overloaded": lambda: bool(self._overloads),
            "tasks": lambda: len(asyncio.all_tasks()),
        }
        tap = self._tap
        if tap is not None:
            gauges["capture_waiting"] = lambda: tap.waiting
            gauges["capture_failing"] = lambda: tap.is_failing
            gauges["capture_full"] = lambda: tap.excess is not None
            gauges["capture_passed_over"] = lambda: tap.passed_over
            gauges["capture_bytes"] = lambda: tap.kept_bytes
        shipper = self._shipper
        if shipper is not None:
            gauges["ship_waiting"] = lambda: shipper.waiting
            gauges["ship_failing"] = lambda: shipper.failure is not None
            gauges["ship_failures"] = lambda: shipper.failures
            gauges["ship_sent"] = lambda: shipper.shipped
        return gauges

    def _catch_signals(self) -> None:
        """Makes signals stop the node in good order, from before anything listens.

        Only the main thread gets signals. In another one, they are left to whoever runs the node.
        """
        if threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self._stopped.set)

    async def _serve(self) -> None:
        """Waits for a signal or a failure, then stops in good order."""
        async with asyncio.TaskGroup() as tasks:
            if self._tap is not None:
                tasks.create_task(self._tap.run())
            await self._stopped.wait()
            await self._stop()

    async def _stop(self) -> None:
        self._is_stopping = True
        seconds = 0.0 if self._failure else self._config.node.stop_seconds
        for link in self._links:
            link.stop()
        async with asyncio.TaskGroup() as tasks:
            for driver in self._drivers.values():
                tasks.create_task(driver.stop(seconds))
        if self._tap is not None:
            self._tap.stop()

    def _stop_listening(self) -> None:
        for link in self._links:
            link.stop()
        if self._status is not None:
            self._status.stop()

    def _synced(self, ticket: int) -> None:
        for driver in self._drivers.values():
            driver.synced(ticket)

    def _fail(self, error: StoreError) -> None:
        """Ends the node: what it promises from now on, it could not keep."""
        self._failure = NodeError(str(error))
        self._stopped.set()

    def _overload(self, what: str, is_overloaded: bool) -> None:  # noqa: FBT001
        """Stops reading while anything has too much to write."""
        if is_overloaded:
            self._overloads.add(what)
        else:
            self._overloads.discard(what)
        for driver in self._drivers.values():
            if self._overloads:
                driver.pause()
            else:
                driver.resume()
