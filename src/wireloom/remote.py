"""Files on object storage, as the part of `pathlib.Path` that a log of frames needs.

What is written for a `Path` and keeps to this part works for both. There are no folders: a folder
is there while something lies in it. A file appears when it is whole, and is read by ranges.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EIO, ENOENT
from functools import cached_property, total_ordering
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, cast

from wireloom.wire.visible import visible

if TYPE_CHECKING:
    from wireloom.roots import Root

_ID: Final = re.compile(r" \(Request ID: [^)]*\)")
SCHEMES: Final = frozenset({"s3", "gs", "gcs", "abfs", "abfss"})
FIRST_READ: Final = 64 * 1024
LARGEST_READ: Final = 8 * 1024 * 1024
"""A request for bytes asks for more than is wanted, twice as much each time that reading goes on:
few requests for who reads all, few bytes for who does not."""


class UnreachableError(OSError):
    """The store does not answer, or does not let us in."""


class Status(NamedTuple):
    """What is known of a file, by the names that `os.stat` has for it."""

    st_size: int
    st_mtime: float
    """Seconds since 1970."""


class RemoteFile(io.RawIOBase):
    """A file that is read by ranges.

    Args:
        path: Its path.
        file: The file as Arrow opened it.
    """

    def __init__(self, path: "RemotePath", file: Any) -> None:
        self._path = path
        self._file = file
        self._place = 0
        self._window = memoryview(b"")
        self._begin = 0
        self._ahead = FIRST_READ
        self.size: int = file.size()

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a place."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def readinto(self, buffer: Any) -> int:
        """Reads until the buffer is full or the file ends.

        Raises:
            UnreachableError: If the store does not answer.
        """
        view = memoryview(buffer).cast("B")
        size = min(len(view), max(0, self.size - self._place))
        done = 0
        while done < size:
            part = self._part(size - done)
            view[done : done + len(part)] = part
            done += len(part)
            self._place += len(part)
        return size

    def _part(self, size: int) -> memoryview:
        """At least one byte of those wanted from here on, and at most all."""
        at = self._place - self._begin
        if not 0 <= at < len(self._window):
            self._fetch(size)
            at = 0
        return self._window[at : at + size]

    def _fetch(self, size: int) -> None:
        goes_on = self._place == self._begin + len(self._window)
        self._ahead = min(2 * self._ahead, LARGEST_READ) if goes_on and self._place else FIRST_READ
        with told(self._path):
            read = self._file.read_at(max(size, self._ahead), self._place)
        if not read:
            raise UnreachableError(EIO, visible(f"{self._path} is shorter than it was"))
        self._window, self._begin = memoryview(read), self._place


class RemoteSink(io.RawIOBase):
    """A file that is written, and there when it is closed.

    Args:
        path: Its path.
        file: The file as Arrow opened it.
    """

    def __init__(self, path: "RemotePath", file: Any) -> None:
        self._path = path
        self._file = file

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Writes all of it.

        Raises:
            UnreachableError: If the store does not take it.
        """
        with told(self._path):
            return int(self._file.write(data))

    def close(self) -> None:
        """Has the file appear.

        Raises:
            UnreachableError: If the store does not take it; then it does not appear.
        """
        if not self.closed:
            super().close()
            with told(self._path):
                self._file.close()


@total_ordering
class RemotePath:
    """A place on object storage.

    Args:
        url: Its URL.

    Raises:
        ValueError: If no file system is known for the URL.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/").replace("s3a://", "s3://", 1)

    def __str__(self) -> str:
        return self._url

    def __repr__(self) -> str:
        return f"RemotePath({self._url!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and self._url == other._url

    def __lt__(self, other: "RemotePath") -> bool:
        return self._url < other._url

    def __hash__(self) -> int:
        return hash(self._url)

    def __reduce__(self) -> tuple[Any, ...]:
        return RemotePath, (self._url,)

    def __truediv__(self, name: str) -> "RemotePath":
        return RemotePath(f"{self._url}/{name}")

    @property
    def name(self) -> str:
        """The last part of it."""
        return self._url.rpartition("/")[2]

    @property
    def parent(self) -> "RemotePath":
        """All but the last part."""
        return RemotePath(self._url.rpartition("/")[0])

    @property
    def is_known(self) -> bool:
        """Whether its URL is of a store that there is a file system for."""
        return self._url.partition("://")[0] in SCHEMES

    def absolute(self) -> "RemotePath":
        """Itself: a URL is always whole."""
        return self

    def exists(self) -> bool:
        """Whether a file lies here, or something below."""
        return str(self._info().type.name) != "NotFound"

    def is_dir(self) -> bool:
        """Whether something lies below."""
        return str(self._info().type.name) == "Directory"

    def iterdir(self) -> Iterator["RemotePath"]:
        """What lies directly below, in any order.

        Raises:
            FileNotFoundError: If nothing does.
            UnreachableError: If the store does not answer.
        """
        from pyarrow.fs import FileSelector  # noqa: PLC0415 - help does not wait for Arrow

        with told(self):
            found = self._root.disk.get_file_info(FileSelector(self._root.base))
        return iter([self / info.base_name for info in found])

    def stat(self) -> Status:
        """The size and age of a file.

        Raises:
            FileNotFoundError: If there is none.
            UnreachableError: If the store does not answer.
        """
        info = self._info()
        if info.type.name != "File":
            raise FileNotFoundError(ENOENT, visible(f"there is no {self}"))
        return Status(int(info.size), (info.mtime_ns or 0) / 1e9)

    def open(self, mode: str = "rb") -> BinaryIO:
        """A file to read, or with `wb` one to write, which is there when it is closed.

        Raises:
            FileNotFoundError: If there is none to read.
            UnreachableError: If the store does not answer.
        """
        disk, base = self._root.disk, self._root.base
        with told(self):
            if mode == "wb":
                return cast("BinaryIO", RemoteSink(self, disk.open_output_stream(base)))
            return cast("BinaryIO", RemoteFile(self, disk.open_input_file(base)))

    def read_bytes(self) -> bytes:
        """All of a small file.

        Raises:
            FileNotFoundError: If there is none.
            UnreachableError: If the store does not answer.
        """
        with told(self), self._root.disk.open_input_stream(self._root.base) as file:
            return bytes(file.read())

    def write_bytes(self, data: bytes | bytearray | memoryview) -> int:
        """Writes a small file, or none of it.

        Raises:
            UnreachableError: If the store does not take it.
        """
        with told(self), self._root.disk.open_output_stream(self._root.base) as file:
            file.write(data)
        return len(data)

    def rename(self, target: "RemotePath") -> "RemotePath":
        """Gives a file another name in the same store.

        Raises:
            UnreachableError: If the store does not do it.
        """
        with told(self):
            self._root.disk.move(self._root.base, target._root.base)
        return target

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Deletes a file.

        Raises:
            FileNotFoundError: If there is none, unless that is well.
            UnreachableError: If the store does not do it.
        """
        try:
            with told(self):
                self._root.disk.delete_file(self._root.base)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def _info(self) -> Any:
        with told(self):
            return self._root.disk.get_file_info(self._root.base)

    @cached_property
    def _root(self) -> "Root":
        from wireloom.roots import Root  # noqa: PLC0415 - help does not wait for Arrow

        with told(self):
            return Root(self._url)


AnyPath = Path | RemotePath
"""A local path, or one on object storage."""


def any_path(text: str | AnyPath) -> AnyPath:
    """The path that a text names: a URL or a local path."""
    if isinstance(text, str) and "://" in text:
        return RemotePath(text) if not text.startswith("file://") else Path(text[len("file://") :])
    return Path(text) if isinstance(text, str) else text


def local(path: AnyPath) -> Path:
    """A path that has to be one of this machine: a log is written nowhere else.

    Raises:
        ValueError: If it is not.
    """
    if isinstance(path, RemotePath):
        raise ValueError(f"{path} is not on this machine")
    return path


def reason(error: Exception) -> str:
    """What failed, in one sentence."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


@contextmanager
def told(path: RemotePath) -> Iterator[None]:
    """Has what a store fails with told in one sentence.

    Raises:
        FileNotFoundError: If the store has no such file.
        UnreachableError: Any other error of the store.
    """
    try:
        yield
    except UnreachableError:
        raise
    except FileNotFoundError:
        raise FileNotFoundError(ENOENT, visible(f"there is no {path}")) from None
    except OSError as error:
        raise UnreachableError(EIO, visible(f"{path} cannot be reached: {_why(error)}")) from None


def _why(error: OSError) -> str:
    """The part of Arrow's text that says why."""
    text = error.strerror or str(error)
    _, mark, why = text.partition("AWS Error ")
    return _ID.sub("", why if mark else text).rstrip(". ")
