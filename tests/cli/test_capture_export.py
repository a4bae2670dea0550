"""`wireloom capture export`, and what comes back by import."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from capture.made import BARE, FULL, frame, log, spoil
from support.cases import ALL
from wireloom.capture.fanout import Fanout
from wireloom.capture.frame import CapturedFrame, from_batch
from wireloom.capture.pseudonyms import Pseudonyms
from wireloom.capture.reader import Damage, read
from wireloom.capture.redaction import redacted
from wireloom.capture.segment import segments
from wireloom.cli.main import wireloom

KEY = "000102030405060708090a0b0c0d0e0f"


def run(*args: str) -> Result:
    return CliRunner().invoke(wireloom, ["capture", *args])


def captured(data: Path) -> list[CapturedFrame]:
    batches = [item for item in read(data / "captures") if not isinstance(item, Damage)]
    return [one for batch in batches for one in from_batch(batch)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with Fanout(tmp_path / "data" / "captures") as out:
        for one in (FULL, BARE):
            out.append(one)
        for case in ALL:
            for number, raw in enumerate(case.frames):
                out.append(frame(number, node=case.name, protocol=case.name, raw=raw))
    return tmp_path / "data"


@pytest.mark.parametrize("format_", ["jsonl", "pcapng"])
def test_what_is_exported_is_imported_the_same(data: Path, tmp_path: Path, format_: str) -> None:
    file, again = tmp_path / f"out.{format_}", tmp_path / "again"
    out = run("export", "--data", str(data), "--format", format_, "--output", str(file))
    assert out.exit_code == 0, out.stderr
    back = run("import", str(file), "--data", str(again))
    assert back.exit_code == 0, back.stderr
    shown = [replace(one, raw=redacted(one.protocol, one.raw)) for one in captured(data)]
    assert captured(again) == shown


@pytest.mark.parametrize("pseudonyms", [[], ["--pseudonyms", KEY]])
@pytest.mark.parametrize("format_", ["jsonl", "pcapng"])
def test_no_token_is_exported(tmp_path: Path, format_: str, pseudonyms: list[str]) -> None:
    with Fanout(tmp_path / "captures") as out:
        for protocol in ("signalhub", None):
            raw = b'{"from":"@(desk/bob)","authToken":"a secret that lets me in"}'
            out.append(frame(raw=raw, protocol=protocol))
    file = tmp_path / "out"
    export = ["export", "--data", str(tmp_path), "--format", format_, "--output", str(file)]
    assert run(*export, *pseudonyms).exit_code == 0
    raw = file.read_bytes()
    for said in (b"a secret", b"a secret".hex().encode()):
        assert said not in raw
    names = b"desk/bob", b"desk/bob".hex().encode()
    assert any(name in raw for name in names) == (not pseudonyms)


def test_lines_go_to_standard_output_without_numbers(data: Path) -> None:
    lines = run("export", "--data", str(data), "--node", "swarm-a-04").stdout.splitlines()
    assert len(lines) == 1
    assert "sequence" not in json.loads(lines[0])


def test_pseudonyms_replace_the_names_and_only_the_key_links_them(data: Path) -> None:
    arguments = ["export", "--data", str(data), "--node", "swarm-a-04", "--pseudonyms", KEY]
    result = run(*arguments)
    names = Pseudonyms(bytes.fromhex(KEY))
    shown = json.loads(result.stdout)
    assert shown["node"] == names.of("swarm-a-04")
    assert shown["peer"] == names.of("mesh-02")
    assert "swarm-a-04" not in result.stdout
    packets = CliRunner().invoke(wireloom, ["capture", *arguments, "--format", "pcapng"])
    assert b"swarm-a-04" not in packets.stdout_bytes
    assert names.of("swarm-a-04").encode() in packets.stdout_bytes


@pytest.mark.parametrize("key", ["", "xyz", "123"])
def test_a_key_that_is_none_is_misuse(data: Path, key: str) -> None:
    assert run("export", "--data", str(data), "--pseudonyms", key).exit_code == 2


def test_damage_is_told_and_the_rest_is_written(tmp_path: Path) -> None:
    log(tmp_path / "captures")
    (segment,) = segments(tmp_path / "captures")
    spoil(segment.path, segment.sums()[0].end + 200)
    result = run("export", "--data", str(tmp_path))
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 4


def test_frames_too_large_for_a_packet_are_counted(tmp_path: Path) -> None:
    with Fanout(tmp_path / "captures") as out:
        out.append(frame(raw=bytes(70_000)))
        out.append(frame(raw=bytes(7)))
    result = run("export", "--data", str(tmp_path), "--format", "pcapng")
    assert result.exit_code == 1
    assert "1 frames are too large for a packet and left out." in result.stderr
    assert run("export", "--data", str(tmp_path)).exit_code == 0


def test_an_output_that_cannot_be_written_is_misuse(data: Path) -> None:
    result = run("export", "--data", str(data), "--output", "/nonexistent/file")
    assert result.exit_code != 0
    assert "No such file" in result.stderr
