"""Files that let someone in."""

from pathlib import Path

import pytest

from wireloom.live.secret_files import SecretFileError, check_guarded, shared_secret


def written(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o640, 0o644])
def test_a_secret_is_what_stands_in_a_file_that_only_its_owner_writes(
    tmp_path: Path, mode: int
) -> None:
    path = written(tmp_path / "jwt.secret", b"  " + b"s" * 32 + b"\n", mode)
    assert shared_secret(path) == b"s" * 32
    check_guarded(path)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o777])
def test_a_file_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path / "jwt.secret", b"s" * 32, mode)
    for refuse in (check_guarded, shared_secret):
        with pytest.raises(SecretFileError, match=r"written by others .* chmod go-w .*jwt.secret"):
            refuse(path)


@pytest.mark.parametrize("size", [0, 1, 31])
def test_a_secret_that_could_be_guessed_is_refused(tmp_path: Path, size: int) -> None:
    path = written(tmp_path / "jwt.secret", b"s" * size + b" " * 40)
    with pytest.raises(SecretFileError, match=f"has {size} bytes, and 32 are needed"):
        shared_secret(path)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SecretFileError, match="missing cannot be read: No such file"):
        shared_secret(tmp_path / "missing")
    with pytest.raises(SecretFileError, match="cannot be read: Is a directory"):
        shared_secret(tmp_path)
