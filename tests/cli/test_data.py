"""What lies below `--data`."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.tree import LEAVES
from support.faults import Faults, Mood
from wireloom.cli.data import DataPath, captures, existing, on_this_machine, tables
from wireloom.cli.main import wireloom
from wireloom.cli.misuse import MisuseError
from wireloom.remote import RemotePath


def test_captures_and_tables_have_their_folders() -> None:
    assert captures(Path("d")) == Path("d/captures")
    assert tables(Path("d")) == Path("d/tables")


def test_a_data_folder_is_there_or_it_is_misuse(tmp_path: Path) -> None:
    assert existing(tmp_path) == tmp_path
    with pytest.raises(MisuseError, match="does not exist"):
        existing(tmp_path / "nope")


def test_a_url_is_data_too_where_the_command_knows_object_storage(bucket: str) -> None:
    data = RemotePath(bucket) / "lake"
    assert captures(data) == RemotePath(f"{bucket}/lake/captures")
    with pytest.raises(MisuseError, match=f"{data} does not exist"):
        existing(data)
    (data / "captures" / "a").write_bytes(b"")
    assert existing(data) == data
    assert on_this_machine(Path("d")) == Path("d")
    with pytest.raises(MisuseError, match=f"{data} is on object storage"):
        on_this_machine(data)


@pytest.mark.parametrize("name", ["capture tail", "generate", "serve"])
def test_a_command_that_needs_a_folder_says_so(name: str) -> None:
    result = CliRunner().invoke(wireloom, [*name.split(), "--data", "s3://bucket/lake"])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "s3://bucket/lake is on object storage" in result.stderr


def test_an_unknown_store_is_misuse() -> None:
    result = CliRunner().invoke(wireloom, ["capture", "stat", "--data", "gopher://lake"])
    assert result.exit_code == 2
    assert "gopher://lake is of no store that is known: abfs://" in result.stderr


def test_a_store_that_does_not_answer_is_told_in_one_sentence(faults: Faults, bucket: str) -> None:
    faults.fail(Mood.BUSY)
    result = CliRunner().invoke(wireloom, ["capture", "stat", "--data", f"{bucket}/lake"])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert f"{bucket}/lake cannot be reached: " in result.stderr


CREATING = {"capture import", "generate", "serve", "simulate play", "simulate sweep"}
"""Commands that make the folder."""

NEEDED = {"capture prune": ["--max-bytes=1000"], "sql": ["select 1"], "trace": ["ab"]}
"""What must be typed beside the folder."""

READING = [
    name
    for name, found in LEAVES.items()
    if any(one.name == "data" and isinstance(one.type, DataPath) for one in found.params)
    and name not in CREATING
]


@pytest.mark.parametrize("name", READING)
def test_a_missing_folder_is_misuse_and_one_sentence(name: str, tmp_path: Path) -> None:
    typed = [*name.split(), *NEEDED.get(name, []), "--data", str(tmp_path / "nope")]
    result = CliRunner().invoke(wireloom, typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert f"{tmp_path}/nope" in result.stderr
    assert "does not exist" in result.stderr
    assert not list(tmp_path.iterdir())
