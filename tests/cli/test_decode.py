"""`wireloom decode`: what scripts rely on."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from protocols.dtn.samples import ACK, bundled, signed
from support.cases import ALL, Case, vectors
from wireloom.cli.main import wireloom
from wireloom.protocols.dtn import codec as dtn
from wireloom.registry import protocol

KEYS = [
    "ok",
    "protocol",
    "type",
    "id",
    "source",
    "destination",
    "created_at",
    "expires_at",
    "priority_rank",
    "auth",
    "inner_auth",
    "size",
    "fields",
]
TEST1 = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
CONTENT = "79100505580000000000007b5c766887013c000068656c6c6f20737761726d"
HUB = bytes.fromhex(vectors("signalhub")[0]["hex"])


def run(*args: str, stdin: bytes | str = b"") -> Result:
    return CliRunner().invoke(wireloom, ["decode", *args], input=stdin)


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_every_vector_gives_one_object(case: Case) -> None:
    lines = [v for v in vectors(case.name) if v.get("check", "decode") == "decode"]
    result = run(case.name, stdin="\n".join(v["hex"] for v in lines) + "\n")
    shown = objects(result)
    assert [one["ok"] for one in shown] == [v["expect"]["ok"] for v in lines]
    assert result.exit_code == 1
    for one in shown:
        assert list(one) == (
            KEYS if one["ok"] else ["ok", "protocol", "reason", "detail", "offset"]
        )
        assert one["protocol"] == case.name


def test_an_accepted_frame_in_full() -> None:
    result = run("uep12", stdin=CONTENT)
    assert result.exit_code == 0
    assert objects(result) == [
        {
            "ok": True,
            "protocol": "uep12",
            "type": "CONTENT",
            "id": "545220ba8a4f6e35",
            "source": None,
            "destination": None,
            "created_at": "2023-04-10T00:00:00.123Z",
            "expires_at": "2023-04-10T01:00:00.123Z",
            "priority_rank": None,
            "auth": "valid",
            "inner_auth": None,
            "size": 31,
            "fields": {
                "version": 5,
                "pow_nonce": 22533,
                "timestamp": 1681084800123,
                "ttl_epoch": 60,
                "msg_refer_count": 0,
                "references": [],
                "reserved": 0,
                "payload": "68656c6c6f20737761726d",
            },
        }
    ]


def test_a_refused_frame_in_full() -> None:
    result = run("uep12", stdin="791004")
    assert result.exit_code == 1
    assert objects(result) == [
        {
            "ok": False,
            "protocol": "uep12",
            "reason": "unsupported_version",
            "detail": "version 4, not 5",
            "offset": 2,
        }
    ]


@pytest.mark.parametrize("line", ["zz", "123", "ä", "0x79"])
def test_a_line_that_is_not_hex_is_refused_and_the_rest_goes_on(line: str) -> None:
    result = run("uep12", stdin=f"{line}\n{CONTENT}\r\n\n")
    assert [one["ok"] for one in objects(result)] == [False, True, False]
    assert objects(result)[0]["reason"] == "malformed"


def test_no_line_is_no_frame() -> None:
    result = run("uep12")
    assert (result.exit_code, result.stdout) == (0, "")


def test_upper_case_and_spaces_are_hex() -> None:
    assert run("uep12", stdin="79 10 05" + CONTENT[6:].upper()).exit_code == 0


def test_binary_input_is_one_frame() -> None:
    assert objects(run("uep12", "--binary", stdin=bytes.fromhex(CONTENT)))[0]["size"] == 31
    (empty,) = objects(run("uep12", "--binary"))
    assert empty["reason"] == "malformed"


def test_text_input_is_one_json_message_a_line() -> None:
    shown = objects(run("signalhub", "--text", stdin=HUB + b"\n{\n" + HUB))
    assert [one["ok"] for one in shown] == [True, False, True]
    assert shown[0]["type"] == "hub:connect"


def test_a_key_turns_unknown_into_valid_or_invalid() -> None:
    (vector,) = [v for v in vectors("dtn") if v["name"] == "delivery_ack"]
    spoilt = vector["hex"].replace("2deb1f9a", "2deb1f9b")

    def auth(raw: str, *keys: str) -> str:
        options = [arg for key in keys for arg in ("--key", key)]
        return str(objects(run("dtn", *options, stdin=raw))[0]["auth"])

    assert auth(vector["hex"]) == "unknown_key"
    assert auth(vector["hex"], "00" * 32) == "unknown_key"
    assert auth(vector["hex"], "00" * 32, TEST1) == "valid"
    assert auth(spoilt, TEST1) == "invalid"


@pytest.mark.parametrize(
    "args",
    [
        ("smtp",),
        ("uep12", "--text"),
        ("signalhub", "--text", "--binary"),
        ("dtn", "--key", "00"),
        ("dtn", "--key", "xyz"),
        ("dtn", "/nonexistent/file"),
        (),
    ],
)
def test_misuse_ends_with_status_two(args: tuple[str, ...]) -> None:
    assert run(*args).exit_code == 2


def test_a_fault_of_ours_is_internal_and_the_next_frame_is_decoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken:
        def decode(self, raw: bytes, *, lenient: bool = False) -> None:
            raise ZeroDivisionError("oops")

    monkeypatch.setattr(protocol("uep12"), "codec", Broken())
    result = run("uep12", stdin=f"{CONTENT}\n{CONTENT}")
    assert [one["reason"] for one in objects(result)] == ["internal", "internal"]
    assert objects(result)[0]["detail"] == "ZeroDivisionError: oops"


def test_what_an_inner_signature_says_stands_beside_the_bundle_s() -> None:
    raw = dtn.encode(bundled(signed(ACK))).hex()
    (shown,) = objects(run("dtn", stdin=raw))
    assert (shown["auth"], shown["inner_auth"]) == ("valid", "valid")
