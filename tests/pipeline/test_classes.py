"""The archive of classes: made where it can be, used where it is, in nobody's way otherwise."""

import os
from pathlib import Path

import pytest

from wireloom.pipeline import classes
from wireloom.pipeline.classes import Archive


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "wireloom"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    path = tmp_path / "java"
    path.write_text("one")
    return path


def test_it_is_made_if_there_is_none_and_somebody_waits_for_it(cache: Path, java: Path) -> None:
    archive = Archive.found(java)
    assert archive.options(make=False) == []
    assert f"-XX:ArchiveClassesAtExit={archive.unfinished}" in archive.options(make=True)
    assert archive.path.parent == cache
    assert cache.is_dir()


def test_it_is_used_once_it_is_there(cache: Path, java: Path) -> None:
    archive = Archive.found(java)
    archive.options(make=True)
    archive.unfinished.write_bytes(b"classes")
    archive.keep()
    assert list(cache.iterdir()) == [archive.path]
    for make in (False, True):
        options = Archive.found(java).options(make=make)
        assert f"-XX:SharedArchiveFile={archive.path}" in options
        assert not any("ArchiveClassesAtExit" in option for option in options)


def test_the_jvm_says_nothing_of_it(cache: Path, java: Path) -> None:
    assert "-Xlog:cds=off" in Archive.found(java).options(make=True)


def test_another_java_has_another_one(cache: Path, java: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("two")
    names = {Archive.found(one).path.name for one in (java, other, tmp_path / "gone", None)}
    os.utime(java, (1, 1))
    assert Archive.found(java).path.name not in names
    assert len(names) == 4


def test_the_latest_ones_are_kept(cache: Path, java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "MOST", 2)
    cache.mkdir()
    for age in range(4):
        old = cache / f"spark-{age}.jsa"
        old.touch()
        os.utime(old, (1_000_000 - age, 1_000_000 - age))
    (cache / "something-else").touch()
    archive = Archive.found(java)
    archive.unfinished.touch()
    archive.keep()
    kept = {path.name for path in cache.iterdir()}
    assert kept == {archive.path.name, "spark-0.jsa", "something-else"}


def test_what_was_never_written_is_not_kept(cache: Path, java: Path) -> None:
    Archive.found(java).keep()
    assert not cache.exists()


def test_a_folder_with_a_blank_has_none(
    tmp_path: Path, java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    assert Archive.found(java).options(make=True) == []


def test_without_a_folder_to_write_to_there_is_none(
    tmp_path: Path, java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert Archive.found(java).options(make=True) == []


def test_the_folder_is_in_the_home_unless_the_environment_says_otherwise(
    tmp_path: Path, java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Archive.found(java).path.parent == tmp_path / ".cache" / "wireloom"
