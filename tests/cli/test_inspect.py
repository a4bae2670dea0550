"""`wireloom inspect`: a frame for a person."""

import pytest
from click.testing import CliRunner, Result

from support.cases import ALL, Case, vectors
from wireloom.cli.main import wireloom

CONTENT = "79100505580000000000007b5c766887013c000068656c6c6f20737761726d"


def run(*args: str, columns: int = 140, stdin: str = "") -> Result:
    return CliRunner().invoke(
        wireloom, ["inspect", *args], input=stdin, env={"COLUMNS": str(columns), "TERM": "dumb"}
    )


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_field_of_every_sample_is_shown(case: Case) -> None:
    for message in case.samples.values():
        raw = case.protocol.codec.encode(message)
        result = run(case.name, raw.hex())
        assert result.exit_code == 0
        for span in case.protocol.codec.spans(raw):
            assert span.name in result.stdout


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


def test_a_narrow_terminal_gets_values_without_meanings() -> None:
    text = run("uep12", CONTENT, columns=80).stdout
    assert "'hello swarm'" in text
    assert "Lifetime in epochs" not in text


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
