"""`wireloom inspect`: a frame for a person."""

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from support.cases import ALL, Case, vectors
from wireloom.cli.main import wireloom
from wireloom.wire.plain import to_plain

CONTENT = "79100505580000000000007b5c766887013c000068656c6c6f20737761726d"


def run(*args: str, columns: int = 140, stdin: str = "") -> Result:
    return CliRunner().invoke(
        wireloom, ["inspect", *args], input=stdin, env={"COLUMNS": str(columns), "TERM": "dumb"}
    )


def samples(case: Case) -> list[bytes]:
    return [case.protocol.codec.encode(message) for message in case.samples.values()]


@pytest.mark.parametrize("columns", [80, 120, 140])
@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_field_of_every_sample_fits_and_is_whole(case: Case, columns: int) -> None:
    for raw in samples(case):
        result = run(case.name, raw.hex(), columns=columns)
        assert result.exit_code == 0
        _, _, table = result.stdout.partition("offset  length")
        assert all(cell_len(line) <= columns for line in table.splitlines())
        joined = "".join(result.stdout.split())
        decoded = to_plain(case.protocol.codec.decode(raw))
        for span in case.protocol.codec.spans(raw):
            assert span.name[:20] in joined
            value = decoded.get(span.name)
            if isinstance(value, int):
                assert str(value) in joined


def test_a_long_value_says_how_long_it_is() -> None:
    frame = CONTENT[:40] + "00" * 1_024
    short = run("uep12", frame, columns=80).stdout
    assert "00… 1,024 bytes in all" in " ".join(short.split())
    assert "… +1020" in short
    full = run("uep12", frame, "--full", columns=80).stdout
    assert "…" not in full
    assert full.count("00 00 00 00") >= 256


def test_long_text_says_how_long_it_is() -> None:
    frame = CONTENT[:40] + b"ab ".hex() * 500
    words = "1,502 characters in all"  # as Python writes it, in quotes
    assert words in " ".join(run("uep12", frame, columns=80).stdout.split())
    assert words not in " ".join(run("uep12", frame, "--full", columns=80).stdout.split())


def test_a_field_has_offset_length_bytes_value_and_meaning() -> None:
    (line,) = [one for one in run("uep12", CONTENT).stdout.splitlines() if "ttl_epoch" in one]
    assert line.split(maxsplit=5)[:6] == [
        "17",
        "2",
        "3c",
        "00",
        "ttl_epoch",
        line.split(maxsplit=5)[5],
    ]
    assert "60" in line
    assert "Lifetime in epochs" in line


def test_a_field_means_what_it_means_in_that_message() -> None:
    (vector,) = [v for v in vectors("dtn") if v["name"] == "delivery_ack"]
    (line,) = [one for one in run("dtn", vector["hex"]).stdout.splitlines() if " sig " in one]
    assert "payer" not in line


def test_a_narrow_terminal_gets_meanings_below_the_values() -> None:
    lines = run("uep12", CONTENT, columns=80).stdout.splitlines()
    (place,) = [number for number, line in enumerate(lines) if "ttl_epoch" in line]
    assert lines[place + 1].strip().startswith("Lifetime in epochs")


def test_a_timestamp_keeps_its_last_digits() -> None:
    for columns in (40, 60, 80):
        assert "1681084800123" in "".join(run("uep12", CONTENT, columns=columns).stdout.split())


def test_the_fault_is_marked_where_it_is() -> None:
    result = run("uep12", CONTENT[:4] + "04" + CONTENT[6:])
    assert result.exit_code == 1
    (line,) = [one for one in result.stdout.splitlines() if "▲ here" in one]
    assert line.split()[0] == "2"
    assert "refused: unsupported_version  version 4, not 5" in result.stdout


def test_a_frame_can_come_from_standard_input_or_as_json_text() -> None:
    assert run("uep12", "-", stdin=CONTENT + "\n").exit_code == 0
    text = bytes.fromhex(vectors("signalhub")[0]["hex"]).decode()
    assert "hub:connect" in run("signalhub", text).stdout


def test_a_frame_that_is_not_hex_is_misuse() -> None:
    result = run("uep12", "xyz")
    assert result.exit_code == 2
    assert "not hex" in result.stderr
