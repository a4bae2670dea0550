"""`wireloom keys`: identities in files."""

import json
import stat
from pathlib import Path

from click.testing import CliRunner, Result

from wireloom.cli.main import wireloom

SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"


def run(*args: str) -> Result:
    return CliRunner().invoke(wireloom, ["keys", *args])


def test_a_new_identity_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "me.key"
    result = run("new", str(path))
    assert result.exit_code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert run("show", str(path)).stdout == result.stdout
    assert json.loads(path.read_text())["seed"] not in result.stdout


def test_two_identities_differ(tmp_path: Path) -> None:
    assert run("new", str(tmp_path / "a")).stdout != run("new", str(tmp_path / "b")).stdout


def test_show_names_the_identity_in_each_protocol(tmp_path: Path) -> None:
    path = tmp_path / "test1.key"
    path.write_text(json.dumps({"seed": SEED}))
    path.chmod(0o600)
    assert run("show", str(path)).stdout.splitlines() == [
        "public key  d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "UID         21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9",
        "MycTag      myc:EH7DDX5BKQ",
        "node id     7849ac3049680be1ef762efe0d36e01733c3464eb0c7c558138acf24bb263bd3",
    ]


def test_an_identity_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "me.key"
    run("new", str(path))
    before = path.read_text()
    result = run("new", str(path))
    assert result.exit_code == 1
    assert "choose another name" in result.stderr
    assert path.read_text() == before


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    result = run("new", str(tmp_path / "no" / "such" / "folder"))
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


def test_an_identity_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "me.key"
    run("new", str(path))
    path.chmod(0o644)
    result = run("show", str(path))
    assert result.exit_code == 2
    assert f"chmod 600 {path}" in result.stderr


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "cannot be read" in run("show", str(tmp_path / "nobody")).stderr
