"""Tokens and names out of frames, which keep their length and their form."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.redaction import MARKS, is_redacted, redact, rename
from wireloom.wire.errors import WireError

SECRET = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2lnbmF0dXJl"
KEYS = {
    "hub:connect": ("metadata", "authToken"),
    "hub:registered": ("payload", "renewalToken"),
    "hub:renew": ("payload", "renewalToken"),
    "hub:renewed": ("payload", "renewalToken"),
}


def document(type_: str, secret: str = SECRET) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(codec.encode(SAMPLES[type_]))
    part, key = KEYS[type_]
    found[part][key] = secret
    return found


def packed(value: object) -> bytes:
    return msgspec.msgpack.encode(value)


def spaced(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()


WRITERS: list[Callable[[object], bytes]] = [msgspec.json.encode, spaced, packed]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("type_", KEYS)
@pytest.mark.parametrize("secret", [SECRET, f"bearer {SECRET}", "x", "x" * 40, "x" * 300, "ü" * 99])
def test_a_token_is_hidden_and_the_frame_still_decodes(
    write: Callable[[object], bytes], type_: str, secret: str
) -> None:
    raw = write(document(type_, secret))
    shown = redact(raw)
    part, key = KEYS[type_]
    message = codec.decode(shown)
    assert len(shown) == len(raw)
    told = json.loads(codec.encode(message))[part][key]
    assert is_redacted(told)
    expected = document(type_, told)
    assert json.loads(codec.encode(message)) == expected, "nothing else is changed"


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("type_", KEYS)
def test_a_frame_that_is_cut_anywhere_shows_nothing_of_its_token(
    write: Callable[[object], bytes], type_: str
) -> None:
    raw = write(document(type_))
    for size in range(len(raw)):
        shown = redact(raw[:size])
        assert len(shown) == size
        assert SECRET[:3].encode() not in shown


@pytest.mark.parametrize("write", WRITERS)
def test_no_flipped_bit_outside_of_the_key_shows_the_token(
    write: Callable[[object], bytes],
) -> None:
    raw = write(document("hub:connect"))
    key = raw.index(b"authToken")
    secret = raw.index(SECRET.encode())
    for place in (*range(key - 4), *range(secret, len(raw))):
        for bit in range(8):
            spoilt = bytearray(raw)
            spoilt[place] ^= 1 << bit
            assert SECRET[-12:].encode() not in redact(bytes(spoilt)) or place >= secret


def test_a_key_that_is_spelt_with_escapes_hides_nothing() -> None:
    raw = codec.encode(SAMPLES["hub:connect"]).replace(b'"authToken"', b'"auth\\u0054o\\u006Ben"')
    assert b'"authToken"' not in raw
    before = json.loads(raw)["metadata"]["authToken"]
    assert is_redacted(json.loads(redact(raw))["metadata"]["authToken"])
    assert before.encode() not in redact(raw)


@pytest.mark.parametrize("write", WRITERS)
def test_tokens_of_the_application_and_headers_are_hidden_too(
    write: Callable[[object], bytes],
) -> None:
    payload = {
        "authToken": SECRET,
        "text": json.dumps({"renewalToken": SECRET, "b": 1}),
        "deeper": json.dumps(json.dumps({"authToken": SECRET})),
        "headers": [f"Authorization: Bearer {SECRET}", f"authorization: bearer  {SECRET}"],
        "loud": [f"AUTHORIZATION: BEARER {SECRET}", f"Bearer\t{SECRET}"],
        "quoted": f'say "authToken": null, "renewalToken" : "{SECRET}\\"',
    }
    raw = write({"type": "chat:line", "payload": payload})
    shown = redact(raw)
    assert len(shown) == len(raw)
    assert SECRET.encode() not in shown
    read = msgspec.msgpack.decode(shown) if write is packed else json.loads(shown)
    assert json.loads(read["payload"]["text"])["b"] == 1


def test_a_token_that_is_packed_as_bytes_is_hidden_too() -> None:
    for size in (20, 300, 70_000):
        raw = packed({"authToken": b"s" * size})
        shown = redact(raw)
        assert msgspec.msgpack.decode(shown)["authToken"].startswith(b"***")
        assert b"ssss" not in shown


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"authToken",
        b"\xa9authToken",
        b"\x81\xa9authToken\xc0",
        b'{"authToken":null,"x":"y"}',
        b'{"authToken":7}',
        b'{"Token":"kept"}',
        '{"text":"the authTokenٹ was lost"}'.encode(),
        b'{"text":"ein \\u00fcbler Tag"}',
    ],
)
def test_what_is_no_token_stays_as_it_is(raw: bytes) -> None:
    assert redact(raw) == raw


@pytest.mark.parametrize("message", SAMPLES.values(), ids=SAMPLES)
def test_frames_without_tokens_have_no_mark_or_stay_as_they_are(message: Any) -> None:
    for raw in (codec.encode(message), codec.encode_msgpack(message)):
        if not any(f'"{key}"'.encode() in codec.encode(message) for _, key in KEYS.values()):
            assert redact(raw) == raw
        else:
            assert any(mark in raw for mark in MARKS)


def test_many_quotes_and_slashes_take_no_time_of_their_own() -> None:
    for part in (b'"authToken":"', b'\\"authToken\\":\\"', b"\\" * 9, b'"authToken":', b"Bearer "):
        raw = part * (1_000_000 // len(part))
        assert len(redact(raw)) == len(raw)


@pytest.mark.parametrize("write", WRITERS)
def test_addresses_are_renamed_in_their_length(write: Callable[[object], bytes]) -> None:
    raw = write(document("hub:connect"))
    shown = rename(raw, lambda name: b"z" * len(name))
    assert len(shown) == len(raw)
    message: Any = codec.decode(shown)
    assert (
        message.from_
        == "@(" + "z" * (len(json.loads(codec.encode(SAMPLES["hub:connect"]))["from"]) - 3) + ")"
    )


def test_a_text_that_only_begins_as_an_address_is_no_name() -> None:
    raw = b'{"text":"mail me @(home","other":"x)"}'
    assert rename(raw, lambda name: b"z" * len(name)) == raw


def test_a_token_can_still_be_followed_and_a_short_one_cannot_be_guessed() -> None:
    registered, renew = document("hub:registered"), document("hub:renew")
    shown = redact(msgspec.json.encode(registered)), redact(packed(renew))
    one, other = (codec.decode(raw) for raw in shown)
    assert one.payload.renewal_token == other.payload.renewal_token  # type: ignore[attr-defined]
    assert redact(b'{"authToken":"%s"}' % SECRET.encode()) != redact(
        b'{"authToken":"%s"}' % SECRET[::-1].encode()
    )
    assert redact(b'{"authToken":"hunter2"}') == b'{"authToken":"*******"}'


def test_stars_tell_a_redacted_token() -> None:
    assert is_redacted("***abc")
    assert is_redacted("**")
    assert not is_redacted("")
    assert not is_redacted("**a*")


def test_redacted_frames_stay_refused_or_taken_as_they_were() -> None:
    for raw in (b'{"authToken":"', b'{"type":"hub:connect","metadata":{"authToken":"x"}}'):
        with pytest.raises(WireError):
            codec.decode(redact(raw))
