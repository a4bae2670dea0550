"""The shape of the tree: five packages alike, every module small and with a test of its own."""

import ast
import re
import subprocess
import sys
from enum import Enum
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType

import pytest

from wireloom.live.endpoint import Endpoint
from wireloom.live.links.sections import LinkSection
from wireloom.live.sections import Section
from wireloom.registry import NAMES, protocol
from wireloom.wire import content as wire_content
from wireloom.wire.client.session import ClientSession
from wireloom.wire.settings import Settings

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "wireloom"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
PARTS = {
    "__init__.py",
    "codec.py",
    "columns.py",
    "constants.py",
    "integrity.py",
    "messages.py",
    "recognition.py",
    "record.py",
}
OPTIONAL_PARTS = {"announcement.py", "batches.py", "content.py", "redaction.py"}
"""What a protocol has where it differs from the default, and what the registry asks it for."""

UNTESTED = {"__init__.py", "constants.py"}
"""Files without behaviour."""


def _folder(name: str) -> Path:
    return SOURCE / "protocols" / name


ENDPOINTS = sorted(path.stem for path in (SOURCE / "live" / "endpoints").glob("[!_]*.py"))
PROTOCOL = re.compile("|".join(NAMES))

MAX_LINES = 400
MAX_FUNCTION_LINES = 45


@pytest.mark.parametrize("name", NAMES)
def test_every_protocol_has_the_same_modules(name: str) -> None:
    found = {path.name for path in (SOURCE / "protocols" / name).glob("*.py")}
    assert found >= PARTS


@pytest.mark.parametrize("name", NAMES)
def test_the_registry_gives_every_part_that_a_protocol_has(name: str) -> None:
    found = {path.name for path in (SOURCE / "protocols" / name).glob("*.py")}
    given = {part for part in OPTIONAL_PARTS if _given(name, part) is not None}
    assert found & OPTIONAL_PARTS == given


def _given(name: str, part: str) -> object | None:
    given: object | None = getattr(protocol(name), part.removesuffix(".py"))
    return None if given is wire_content else given


def test_only_the_five_protocols_are_there() -> None:
    found = {path.name for path in (SOURCE / "protocols").iterdir() if (path / "codec.py").exists()}
    assert found == set(NAMES)


@pytest.mark.parametrize("module", [m for m in MODULES if m.name not in UNTESTED], ids=str)
def test_every_module_has_its_test_file(module: Path) -> None:
    assert (ROOT / "tests" / module.parent / f"test_{module.name}").exists()


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_no_module_and_no_function_is_long(module: Path) -> None:
    text = (SOURCE / module).read_text()
    assert len(text.splitlines()) <= MAX_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno <= MAX_FUNCTION_LINES, node.name


@pytest.mark.parametrize("name", NAMES)
def test_every_protocol_is_documented_under_the_same_headings(name: str) -> None:
    lines = (ROOT / "docs" / "protocols" / f"{name}.md").read_text().splitlines()
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == ["## Wire", "## Messages", "## Integrity", "## Readings", "## Limits"]


@pytest.mark.parametrize("name", NAMES)
def test_every_reading_that_code_cites_is_written_down(name: str) -> None:
    page = (ROOT / "docs" / "protocols" / f"{name}.md").read_text()
    for path in (SOURCE / "protocols" / name).rglob("*.py"):
        for cited in _citations(path.read_text()):
            assert f"{cited}." in page, f"{path.name} cites {cited}"


def test_importing_wireloom_loads_nothing_heavy() -> None:
    script = "import sys, wireloom; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pyspark", "click", "rich", "msgspec", "nacl", "numpy", "asyncio"} & set(loaded)


def _citations(text: str) -> set[str]:
    words = text.replace("(", " ").replace(")", " ").replace(",", " ").replace(".", " ").split()
    return {word for word in words if word[0] == "R" and word[1:].isdigit()}


def test_every_bound_names_a_test_that_exists() -> None:
    for name in re.findall(r"`(tests/\S+::\w+)`", (ROOT / "docs" / "security.md").read_text()):
        path, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / path).read_text(), name


@pytest.mark.parametrize("name", ENDPOINTS)
def test_a_module_of_endpoints_declares_the_one_of_its_protocol(name: str) -> None:
    module = import_module(f"wireloom.live.endpoints.{name}")
    found = [value for value in vars(module).values() if isinstance(value, Endpoint)]
    assert found == [module.ENDPOINT]
    assert name in NAMES
    endpoint = module.ENDPOINT
    assert endpoint.name == name
    assert endpoint.settings.__module__.startswith(f"wireloom.protocols.{name}.")
    assert set(endpoint.derived) < set(endpoint.settings.__struct_fields__)


@pytest.mark.parametrize("name", ENDPOINTS)
def test_an_endpoint_is_configured_by_a_section_with_links_limits_and_defaults(name: str) -> None:
    endpoint = import_module(f"wireloom.live.endpoints.{name}").ENDPOINT
    section = endpoint.section()
    assert section.limits == {}
    assert isinstance(section, Section)
    assert endpoint.places()
    for place in endpoint.places():
        assert isinstance(place.section, LinkSection)
        assert place.section.listens_at(place.name).is_local


@pytest.mark.parametrize(
    "path",
    [*(SOURCE / "live").glob("*.py"), *(SOURCE / "live" / "links").glob("*.py")],
    ids=lambda path: path.name,
)
def test_only_endpoints_and_clients_of_the_live_side_name_a_protocol(path: Path) -> None:
    assert not PROTOCOL.search(path.read_text())


@pytest.mark.parametrize("path", [*(SOURCE / "sim").glob("*.py")], ids=lambda path: path.name)
def test_only_casts_of_the_simulator_name_a_protocol(path: Path) -> None:
    assert not PROTOCOL.search(path.read_text())


ROOMS = ("hub", "broker", "node", "peer")
"""What the folder of a protocol's live side is called, by what the protocol calls it."""

LIVING = [(name, room) for name in NAMES for room in ROOMS if (_folder(name) / room).exists()]
CLIENTS = [name for name in NAMES if (_folder(name) / "client").exists()]


def test_whatever_has_an_endpoint_has_one_room_for_its_session() -> None:
    assert [name for name, _ in LIVING] == sorted(ENDPOINTS, key=NAMES.index)


@pytest.mark.parametrize(("name", "room"), LIVING)
def test_a_session_is_made_and_run_as_the_contract_says(name: str, room: str) -> None:
    package = f"wireloom.protocols.{name}.{room}"
    session = _only_class(import_module(f"{package}.session"), "Session")
    settings = _only_class(import_module(f"{package}.settings"), "Settings")
    assert issubclass(settings, Settings)
    assert [*signature(session).parameters] == ["settings", "ids"]
    _check_contract(session)


@pytest.mark.parametrize(("name", "room"), LIVING)
def test_the_states_of_a_session_are_a_table(name: str, room: str) -> None:
    modules = [
        import_module(f"wireloom.protocols.{name}.{room}.{path.stem}")
        for path in (_folder(name) / room).glob("[!_]*.py")
    ]
    tables = [vars(module)["TRANSITIONS"] for module in modules if "TRANSITIONS" in vars(module)]
    assert tables
    for table in tables:
        kind = type(next(iter(table)))
        assert issubclass(kind, Enum)
        assert set(table) == set(kind)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_is_a_session_of_the_same_contract(name: str) -> None:
    package = f"wireloom.protocols.{name}.client"
    found = {path.name for path in (_folder(name) / "client").glob("*.py")}
    assert found >= {"errors.py", "requests.py", "session.py", "settings.py"}
    session = _only_class(import_module(f"{package}.session"), "Session")
    settings = import_module(f"{package}.settings").ClientSettings
    assert issubclass(session, ClientSession)
    assert issubclass(settings, Settings)
    assert [*signature(session).parameters] == ["settings", "ids", "random"]
    _check_contract(session)


@pytest.mark.parametrize("name", NAMES)
def test_the_codec_side_does_not_know_the_rooms(name: str) -> None:
    rooms = "|".join((*ROOMS, "client"))
    for path in _folder(name).glob("*.py"):
        assert not re.search(rf"protocols\.{name}\.({rooms})\b", path.read_text()), path.name


def _only_class(module: ModuleType, ending: str) -> type:
    """The class of a module that others know, by the end of its name."""
    found = [
        value
        for key, value in vars(module).items()
        if key.endswith(ending) and getattr(value, "__module__", "") == module.__name__
    ]
    assert len(found) == 1
    cls: type = found[0]
    return cls


def _check_contract(session: type) -> None:
    """A session is handed its turns, and makes none."""
    assert [*signature(session.handle).parameters] == ["self", "event", "turn"]  # type: ignore[attr-defined]
    assert [*signature(session.restore).parameters] == ["self", "records", "turn"]  # type: ignore[attr-defined]
    assert callable(session.gauges)  # type: ignore[attr-defined]


def test_serving_names_no_protocol() -> None:
    assert not PROTOCOL.search((SOURCE / "cli" / "serve.py").read_text())
