"""Files on object storage, on a real S3 server."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from support.faults import Faults, Mood
from wireloom.remote import RemotePath, UnreachableError, any_path, local, reason


@pytest.fixture
def folder(bucket: str) -> RemotePath:
    return RemotePath(f"{bucket}/some/folder")


def test_a_path_is_its_url() -> None:
    path = RemotePath("s3a://bucket/a/b.c/")
    assert str(path) == "s3://bucket/a/b.c"
    assert repr(path) == "RemotePath('s3://bucket/a/b.c')"
    assert (path.name, path.parent) == ("b.c", RemotePath("s3://bucket/a"))
    assert path.parent / "b.c" == path.absolute()
    assert path.parent < path
    assert pickle.loads(pickle.dumps(path)) == path
    assert {path: 1}[RemotePath("s3://bucket/a/b.c")] == 1
    assert path != "s3://bucket/a/b.c"
    assert path.is_known
    assert not RemotePath("gopher://a").is_known


def test_a_text_names_a_path_or_a_url() -> None:
    assert any_path("s3://a/b") == RemotePath("s3://a/b")
    assert any_path("file:///a/b") == Path("/a/b")
    assert any_path("a/b") == any_path(Path("a/b")) == Path("a/b")
    assert local(Path("a")) == Path("a")
    with pytest.raises(ValueError, match="s3://a is not on this machine"):
        local(RemotePath("s3://a"))


def test_a_reason_is_a_sentence() -> None:
    assert reason(OSError(5, "no disk")) == "no disk"
    assert reason(FileNotFoundError(2, "no file", "a")) == "a: no file"
    assert reason(ValueError("no number")) == "no number"


def test_what_is_written_is_read_listed_renamed_and_deleted(folder: RemotePath) -> None:
    path = folder / "a"
    assert not folder.exists()
    assert path.write_bytes(b"abc") == 3
    assert (path.exists(), path.is_dir(), folder.is_dir()) == (True, False, True)
    assert path.read_bytes() == b"abc"
    assert path.stat().st_size == 3
    assert path.stat().st_mtime > 1_000_000_000
    assert list(folder.iterdir()) == [path]
    assert path.rename(folder / "b").read_bytes() == b"abc"
    assert list(folder.iterdir()) == [folder / "b"]
    (folder / "b").unlink()
    (folder / "b").unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError, match=f"there is no {folder}/b"):
        (folder / "b").unlink()


def test_a_large_file_takes_few_requests_and_any_place_can_be_read(
    faults: Faults, folder: RemotePath
) -> None:
    data = bytes(range(256)) * 40_000
    with (folder / "a").open("wb") as written:
        written.write(data)
    faults.requests.clear()
    with (folder / "a").open() as file:
        read = b"".join(iter(lambda: file.read(70_000), b""))
        assert len(faults.requests) < 12
        assert read == data
        assert (file.seek(-3, 2), file.tell(), file.read()) == (len(data) - 3,) * 2 + (data[-3:],)
        file.seek(1_000_001)
        assert file.read(5) == data[1_000_001:1_000_006]
        file.seek(-5, 1)
        assert file.read(5) == data[1_000_001:1_000_006]
        assert file.seekable()


def test_what_is_not_there_is_told(folder: RemotePath) -> None:
    asked: list[Callable[[], object]] = [
        folder.stat,
        folder.read_bytes,
        folder.open,
        folder.iterdir,
    ]
    for ask in asked:
        with pytest.raises(FileNotFoundError, match=f"there is no {folder}"):
            ask()


def test_a_missing_bucket_is_told_in_a_sentence(bucket: str) -> None:
    path = RemotePath(f"{bucket}-other/a")
    assert not path.exists()
    with pytest.raises(UnreachableError, match=r"The specified bucket does not exist$") as told:
        path.write_bytes(b"abc")
    assert str(told.value.strerror).startswith(f"{path} cannot be reached: ")
    with pytest.raises(UnreachableError, match="does not exist"):
        list(path.iterdir())


@pytest.mark.parametrize("mood", [Mood.BUSY, Mood.DROPPING])
def test_a_store_that_fails_once_is_asked_again_and_one_that_goes_on_failing_is_told(
    faults: Faults, folder: RemotePath, mood: Mood
) -> None:
    path = folder / "a"
    path.write_bytes(b"abc")
    faults.fail(mood, times=1)
    assert path.read_bytes() == b"abc"
    assert faults.failed == 1
    faults.fail(mood)
    asked: list[Callable[[], object]] = [
        path.read_bytes,
        path.exists,
        path.open,
        path.unlink,
        folder.iterdir,
        lambda: path.write_bytes(b"other"),
        lambda: path.rename(folder / "b"),
    ]
    for ask in asked:
        with pytest.raises(UnreachableError, match="cannot be reached: ") as told:
            ask()
        assert "\n" not in str(told.value)
    faults.heal()
    assert path.read_bytes() == b"abc"


def test_an_answer_that_is_cut_off_is_asked_for_again(faults: Faults, folder: RemotePath) -> None:
    path = folder / "a"
    path.write_bytes(b"abc" * 1_000)
    with path.open() as file:
        faults.fail(Mood.CUTTING, times=1)
        assert file.read() == b"abc" * 1_000
    with path.open() as file:
        faults.fail(Mood.CUTTING)
        with pytest.raises(UnreachableError, match="cannot be reached"):
            file.read()


def test_a_file_that_became_shorter_is_told(folder: RemotePath) -> None:
    path = folder / "a"
    path.write_bytes(b"abc" * 100_000)
    with path.open() as file:
        file.read(1)
        path.write_bytes(b"abc")
        file.seek(250_000)
        with pytest.raises(UnreachableError):
            file.read(1)


def test_a_store_that_is_not_there_is_told(
    folder: RemotePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(UnreachableError, match="Could not connect"):
        folder.exists()
