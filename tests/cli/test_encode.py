"""`wireloom encode`: the way back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from protocols.dtn.samples import KEY
from support.cases import ALL, Case
from wireloom.cli.identity import write
from wireloom.cli.main import wireloom


def run(command: str, protocol: str, stdin: str, *more: str) -> Result:
    return CliRunner().invoke(wireloom, [command, protocol, *more], input=stdin)


@pytest.fixture
def identity(tmp_path: Path) -> str:
    """An identity that the samples name as their sender."""
    path = tmp_path / "me.key"
    write(path, KEY)
    return str(path)


def document(protocol: str, name: str, change: Callable[[dict[str, Any]], None]) -> str:
    """A sample as `decode` prints it, changed."""
    case = ALL[[one.name for one in ALL].index(protocol)]
    raw = case.protocol.codec.encode(case.samples[name])
    shown = json.loads(run("decode", protocol, raw.hex()).stdout)
    change(shown["fields"])
    return json.dumps(shown)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_decode_then_encode_gives_the_same_frames(case: Case) -> None:
    # A DTN DeliveryReceipt is deprecated: read and carried, never composed.
    samples = [m for name, m in case.samples.items() if "DeliveryReceipt" not in name]
    frames = "\n".join(case.protocol.codec.encode(message).hex() for message in samples) + "\n"
    decoded = run("decode", case.name, frames)
    assert decoded.exit_code == 0
    encoded = run("encode", case.name, decoded.stdout)
    assert (encoded.exit_code, encoded.stdout, encoded.stderr) == (0, frames, "")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "malformed"),
        ("[]", "malformed"),
        ("{", "malformed"),
        ('{"ok": false, "reason": "malformed"}', "malformed"),
        ('{"type": "CONTENT"}', "malformed"),
        ('{"protocol": "dtn", "type": "CONTENT", "fields": {}}', "malformed"),
        ('{"type": "CONTENT", "fields": {}}', "malformed"),
        ('{"type": "HELLO", "fields": {}}', "unknown_type"),
        ('{"type": "PULL_BY_HASH", "fields": {"msg_hashes": ["11"]}}', "malformed"),
        ('{"type": "PULL_BY_HASH", "fields": {"msg_hashes": [], "msg_hashes": []}}', "malformed"),
    ],
)
def test_a_bad_line_is_refused_by_number_and_the_rest_goes_on(line: str, reason: str) -> None:
    good = '{"type": "PULL_BY_HASH", "fields": {"msg_hashes": []}}'
    result = run("encode", "uep12", f"{line}\n{good}\n")
    assert (result.exit_code, result.stdout) == (1, "792000\n")
    (refusal,) = [json.loads(one) for one in result.stderr.splitlines()]
    assert (refusal["reason"], refusal["line"]) == (reason, 1)


@pytest.mark.parametrize(
    ("protocol", "name", "field"),
    [
        ("dtn", "DeliveryAck", "latency_ms"),
        ("dtn", "DeliveryAck in a bundle", "payload.latency_ms"),
        ("myriadmesh", "DATA", "timestamp"),
    ],
)
def test_a_changed_message_is_signed_anew(
    identity: str, protocol: str, name: str, field: str
) -> None:
    def change(fields: dict[str, Any]) -> None:
        *parents, last = field.split(".")
        for parent in parents:
            fields = fields[parent]
        fields[last] = 1_704_067_200_001

    line = unlengthed(document(protocol, name, change))
    encoded = run("encode", protocol, line, "--sign", identity)
    assert (encoded.exit_code, encoded.stderr) == (0, "")
    decoded = run("decode", protocol, encoded.stdout, "--key", KEY.public.hex())
    shown = json.loads(decoded.stdout)
    assert shown["auth"] == "valid"
    assert shown["inner_auth"] in (None, "valid")


def unlengthed(line: str) -> str:
    """Without the lengths that follow from the other fields."""
    shown = json.loads(line)
    for name in ("header_length", "payload_length"):
        shown["fields"].pop(name, None)
    return json.dumps(shown)


@pytest.mark.parametrize(
    ("protocol", "words"),
    [("cthun", "certificate"), ("signalhub", "token"), ("uep12", "proves work")],
)
def test_a_protocol_without_signatures_says_so(identity: str, protocol: str, words: str) -> None:
    result = run("encode", protocol, "{}\n", "--sign", identity)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_another_sender_s_message_is_not_signed(identity: str) -> None:
    line = document("myriadmesh", "DATA", lambda fields: fields.update(source_node_id="00" * 32))
    result = run("encode", "myriadmesh", line, "--sign", identity)
    assert result.exit_code == 1
    assert "does not belong to the frame's source" in json.loads(result.stderr)["detail"]


def test_an_identity_that_is_none_is_misuse(tmp_path: Path) -> None:
    assert run("encode", "dtn", "", "--sign", str(tmp_path / "none")).exit_code == 2


def test_an_address_is_explained_without_a_pattern() -> None:
    line = document("signalhub", "hub:connect", lambda fields: fields.update({"from": "bob"}))
    detail = json.loads(run("encode", "signalhub", line).stderr)["detail"]
    assert detail == "from: an address looks like @(desk/bob)"


def test_choices_are_listed() -> None:
    line = document("dtn", "DeliveryCancel", lambda fields: fields.update(reason="BORED"))
    assert "choose one of " in json.loads(run("encode", "dtn", line).stderr)["detail"]
    detail = json.loads(run("encode", "uep12", '{"type": "CONTENTS", "fields": {}}').stderr)
    assert "Did you mean CONTENT?" in detail["detail"]
