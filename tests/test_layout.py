"""The shape of the tree: five packages alike, every module small and with a test of its own."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from wireloom.live.endpoint import Endpoint
from wireloom.live.links.sections import LinkSection
from wireloom.live.sections import Section
from wireloom.registry import NAMES, protocol
from wireloom.wire import content as wire_content

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


def test_serving_names_no_protocol() -> None:
    assert not PROTOCOL.search((SOURCE / "cli" / "serve.py").read_text())
