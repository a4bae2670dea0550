"""`wireloom encode`: the way back."""

import json

import pytest
from click.testing import CliRunner, Result

from support.cases import ALL, Case
from wireloom.cli.main import wireloom


def run(command: str, protocol: str, stdin: str) -> Result:
    return CliRunner().invoke(wireloom, [command, protocol], input=stdin)


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
