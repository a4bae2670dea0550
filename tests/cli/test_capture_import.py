"""`wireloom capture import`."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner, Result
from rich.console import Console

from capture.made import raws
from capture.wire import Talk, on_ethernet, pcap_of, pcapng_of, udp_ip
from support.cases import case
from wireloom.capture.fanout import Fanout
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.cli import capture_import
from wireloom.cli.main import wireloom
from wireloom.remote import RemotePath

MESH = case("myriadmesh").frames[0]
HUB = next(raw for raw in case("signalhub").frames if raw.startswith(b"{"))
LINE = {
    "captured_at": 1,
    "node": "a",
    "protocol": None,
    "link": "udp",
    "direction": "in",
    "peer": None,
    "raw": MESH.hex(),
}


def run(data: Path, *args: str | Path) -> Result:
    command = ["capture", "import", "--data", str(data), *map(str, args)]
    return CliRunner().invoke(wireloom, command)


def saved(tmp_path: Path, name: str, raw: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(raw)
    return path


def packets() -> list[bytes]:
    talk = Talk("/hub")
    talk.say(True, HUB.decode())
    return [on_ethernet(udp_ip(MESH)), on_ethernet(udp_ip(b"query", dport=53)), *talk.packets()]


@pytest.mark.parametrize(
    ("name", "raw"), [("a.pcap", pcap_of(packets())), ("b.pcapng", pcapng_of(packets()))]
)
def test_savefiles_are_told_by_their_first_bytes(tmp_path: Path, name: str, raw: bytes) -> None:
    result = run(tmp_path, saved(tmp_path, name, raw))
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "taken 2: myriadmesh 1, signalhub 1",
        "passed over 1: a datagram of another protocol 1",
        "refused 0",
    ]
    assert raws(tmp_path / "captures") == [MESH, HUB]
    assert {one.node for one in segments(tmp_path / "captures")} == {name[0]}


def test_the_node_can_be_named(tmp_path: Path) -> None:
    run(tmp_path, saved(tmp_path, "a.pcap", pcap_of(packets())), "--node", "probe")
    assert {one.node for one in segments(tmp_path / "captures")} == {"probe"}


def test_a_bad_line_is_refused_with_its_number_and_the_rest_is_taken(tmp_path: Path) -> None:
    text = json.dumps(LINE) + "\nnot JSON\n" + json.dumps({**LINE, "node": "b"})
    result = run(tmp_path, saved(tmp_path, "a.jsonl", text.encode()))
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "taken 2: myriadmesh 2",
        "passed over 0",
        "refused 1: not a captured frame 1",
    ]
    assert "a.jsonl, line 2: not a captured frame: " in result.stderr
    assert [one.node for one in segments(tmp_path / "captures")] == ["a", "b"]


def test_many_refusals_are_counted_and_the_first_are_told(tmp_path: Path) -> None:
    result = run(tmp_path, saved(tmp_path, "a.jsonl", b'{"x":1}\n' * 100))
    assert "refused 100" in result.stdout
    assert result.stderr.count("not a captured frame") == capture_import.MAX_TOLD


def test_several_files_at_once(tmp_path: Path) -> None:
    lines = saved(tmp_path, "a.jsonl", json.dumps(LINE).encode())
    packets_ = saved(tmp_path, "b.pcap", pcap_of(packets()))
    result = run(tmp_path, lines, packets_)
    assert "taken 3" in result.stdout


@pytest.mark.parametrize("raw", [b"\x7fELF", b"plain text"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, raw: bytes) -> None:
    result = run(tmp_path, saved(tmp_path, "a.bin", raw))
    assert result.exit_code == 1
    assert "neither pcap nor pcapng nor JSON lines" in result.stderr


def test_an_empty_file_holds_no_frames(tmp_path: Path) -> None:
    result = run(tmp_path, saved(tmp_path, "a.jsonl", b""))
    assert result.exit_code == 0
    assert "taken 0" in result.stdout


@pytest.mark.parametrize("format_", ["pcap", "pcapng"])
def test_a_format_that_is_said_and_is_not_so_is_refused(tmp_path: Path, format_: str) -> None:
    result = run(tmp_path, saved(tmp_path, "a.jsonl", b"{}"), "--format", format_)
    assert result.exit_code == 1
    assert f"file header: not a {format_} file" in result.stderr


def test_frames_that_no_protocol_knows_are_kept(tmp_path: Path) -> None:
    text = json.dumps({**LINE, "raw": "00ff"})
    result = run(tmp_path, saved(tmp_path, "a.jsonl", text.encode()))
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "taken 1: unknown 1")
    assert raws(tmp_path / "captures") == [b"\x00\xff"]


@pytest.mark.parametrize("args", [(), ("/nonexistent.pcap",), ("--format", "smtp")])
def test_misuse_ends_with_status_two(tmp_path: Path, args: tuple[str, ...]) -> None:
    assert run(tmp_path, *args).exit_code == 2


def test_a_node_that_cannot_be_a_name_is_misuse(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.pcap", pcap_of(packets()))
    result = run(tmp_path, path, "--node", "")
    assert result.exit_code == 2
    assert "--node" in result.stderr


def test_a_directory_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "captures").write_text("a file in the way")
    result = run(tmp_path, saved(tmp_path, "a.jsonl", json.dumps(LINE).encode()))
    assert result.exit_code == 1
    assert "does not take the frames: File exists. The import stopped." in result.stderr


def test_a_node_that_another_process_writes_is_one_sentence(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "captures", "a"):
        result = run(tmp_path, saved(tmp_path, "a.jsonl", json.dumps(LINE).encode()))
    assert result.exit_code == 1
    assert "another process is writing frames of a" in result.stderr


def test_progress_is_shown_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()

    def console(*, stderr: bool) -> Console:
        assert stderr
        return Console(file=screen, force_terminal=True, width=80)

    monkeypatch.setattr(capture_import, "Console", console)
    run(tmp_path, saved(tmp_path, "long.jsonl", json.dumps(LINE).encode()))
    assert "long.jsonl" in screen.getvalue()


@pytest.mark.parametrize(
    ("compress", "suffix"), [(gzip.compress, "gz"), (zstandard.compress, "zst")]
)
def test_compressed_files_are_taken(
    tmp_path: Path, compress: Callable[[bytes], bytes], suffix: str
) -> None:
    lines = saved(tmp_path, f"a.jsonl.{suffix}", compress(json.dumps(LINE).encode()))
    packets_ = saved(tmp_path, f"seen.pcap.{suffix}", compress(pcap_of(packets())))
    result = run(tmp_path, lines, packets_)
    assert result.exit_code == 0, result.stderr
    assert "taken 3" in result.stdout
    assert {one.node for one in segments(tmp_path / "captures")} == {"a", "seen"}


def test_a_damaged_compressed_file_is_refused_from_there_on(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(json.dumps(LINE).encode() + b"\n" for _ in range(9_000)))
    result = run(tmp_path, saved(tmp_path, "a.jsonl.gz", whole[: len(whole) // 2]))
    assert result.exit_code == 1
    assert "compressed file: damaged compression" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("raw", [json.dumps(LINE).encode(), gzip.compress(pcap_of(packets()))])
def test_standard_input_is_taken(tmp_path: Path, raw: bytes) -> None:
    command = ["capture", "import", "--data", str(tmp_path), "-"]
    result = CliRunner().invoke(wireloom, command, input=raw)
    assert result.exit_code == 0, result.stderr
    assert MESH in raws(tmp_path / "captures")
    assert {one.node for one in segments(tmp_path / "captures")} <= {"a", "stdin"}
    again = CliRunner().invoke(wireloom, command, input=raw)
    assert "-: imported before on " in again.stderr


def test_a_file_that_was_imported_before_is_passed_over(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.pcap", pcap_of(packets()))
    run(tmp_path, path)
    moved = path.rename(tmp_path / "other.pcap")
    again = run(tmp_path, moved)
    assert again.exit_code == 0
    assert "other.pcap: imported before on 2" in again.stderr
    assert "; use --again to import it once more" in again.stderr
    assert len(raws(tmp_path / "captures")) == 2
    assert "imported before" not in run(tmp_path, moved, "--node", "b").stderr
    run(tmp_path, moved, "--again")
    assert len(raws(tmp_path / "captures")) == 6


def test_an_import_that_stopped_is_not_remembered(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.jsonl", json.dumps(LINE).encode())
    with CaptureWriter(tmp_path / "captures", "a"):
        assert run(tmp_path, path).exit_code == 1
    assert "taken 1" in run(tmp_path, path).stdout


def test_names_and_reasons_from_outside_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    path = saved(tmp_path, "a\x1b[31m.jsonl", b'{"node":"\\u001b[2J"}\n')
    result = run(tmp_path, path)
    assert "\x1b" not in result.stderr
    assert "\\x1b[31m" in result.stderr


def test_an_import_that_is_interrupted_says_what_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = saved(tmp_path, "frames.jsonl", f"{json.dumps(LINE)}\n".encode() * 2)
    append = Fanout.append

    def once(self: Fanout, captured: CapturedFrame) -> None:
        append(self, captured)
        raise KeyboardInterrupt

    monkeypatch.setattr(Fanout, "append", once)
    result = run(tmp_path / "data", lines)
    assert result.exit_code == 130
    assert result.stdout.startswith("taken 1: ")
    assert "stopped; what was taken stays" in result.stderr


def test_frames_are_imported_to_object_storage_shown_exported_and_deleted_there(
    bucket: str, tmp_path: Path
) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text(json.dumps(LINE) + "\n")
    where = ["--data", f"{bucket}/lake"]
    command = ["capture", "import", *where, str(lines)]
    assert CliRunner().invoke(wireloom, command).stdout.startswith("taken 1: myriadmesh 1")
    assert "imported before" in CliRunner().invoke(wireloom, command).stderr
    for name in ("cat", "export"):
        shown = CliRunner().invoke(wireloom, ["capture", name, *where])
        assert (shown.exit_code, json.loads(shown.stdout)["raw"]) == (0, LINE["raw"])
    assert CliRunner().invoke(wireloom, ["capture", "stat", *where]).exit_code == 0
    prune = ["capture", "prune", *where, "--max-bytes", "0"]
    assert CliRunner().invoke(wireloom, prune).exit_code == 1
    assert CliRunner().invoke(wireloom, [*prune, "--force"]).stdout.startswith("deleted a-")
    assert list(segments(RemotePath(f"{bucket}/lake/captures"))) == []


def test_a_missing_bucket_takes_no_frames_and_says_so(bucket: str, tmp_path: Path) -> None:
    lines = tmp_path / "a.jsonl"
    lines.write_text(json.dumps(LINE) + "\n")
    command = ["capture", "import", "--data", f"{bucket}-other/lake", str(lines)]
    result = CliRunner().invoke(wireloom, command)
    assert result.exit_code == 1
    assert "The specified bucket does not exist" in result.stderr
    assert result.stderr.count("\n") == 1
