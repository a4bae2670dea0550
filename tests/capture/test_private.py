"""Files that only their owner can read."""

import os
import stat
from pathlib import Path

import pytest

from wireloom.capture.private import LinkRefusedError, make_folder, opener


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_that_are_missing_are_made_for_the_owner_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "a" / "b")
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o700, 0o700)
    assert mode(tmp_path) == 0o755, "what was there stays as it was"


def test_a_folder_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_folder(tmp_path / "file" / "folder")


def test_a_file_that_others_could_read_is_the_owners_once_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    path.chmod(0o644)
    with open(path, "ab", opener=opener):
        assert mode(path) == 0o600


def test_a_link_is_not_followed_even_if_it_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to(tmp_path / "y")
    with pytest.raises(LinkRefusedError, match="x is a symbolic link, and nothing is written"):
        opener(tmp_path / "x", os.O_CREAT | os.O_WRONLY)
    assert not (tmp_path / "y").exists()
