"""Identities in files."""

from pathlib import Path

import pytest

from wireloom.cli.identity import MAX_SIZE, load, write
from wireloom.cli.misuse import MisuseError
from wireloom.wire.keys import SigningKey

KEY = SigningKey(bytes(range(32)))


def test_what_was_written_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "me.key"
    write(path, KEY)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load(path).public == KEY.public
    with pytest.raises(FileExistsError):
        write(path, KEY)


def test_an_identity_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "my own.key"
    write(path, KEY)
    path.chmod(0o640)
    with pytest.raises(MisuseError, match=r"mode 0640\)\. Type: chmod 600 '.*my own\.key'"):
        load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"seed": 1}',
        b'{"seed": "00"}',
        b"\0\xff",
        b"[" * MAX_SIZE,
        b'{"seed": "' + b"00" * 32 + b'"}' + b" " * MAX_SIZE + b"x",
    ],
)
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_nobody_is_told_to_change_the_mode_of_what_is_no_identity(
    tmp_path: Path, content: bytes, mode: int
) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(MisuseError, match="holds no identity") as refused:
        load(path)
    assert "chmod" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="nobody cannot be read: No such file"):
        load(tmp_path / "nobody")
