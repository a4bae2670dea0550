"""The Parquet files below one root: each table is a folder, and what it holds is files in it.

A file becomes part of its table when the Delta log names it (`log`). Until then it is only a file.

A root is a local folder or a location on object storage that Arrow and delta-rs reach alike
(`s3://…`, `gs://…`, `abfss://…`; credentials come from the environment). Spark itself reads and
writes local ones only (`scanning`).
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileType

from wireloom.roots import Root

MAX_FILE_RECORDS: Final = 2_000_000
"""Rows of a file that Spark writes, at the most."""

BOUNDED: Final = ("slice", "captured_at")
"""Columns whose least and greatest value is kept for every file."""

_PASSED_OVER: Final = "protocol"
"""A column by whose least and greatest value row groups are passed over."""


class FileStatus(NamedTuple):
    """What is known of a Parquet file as it lies on the disk."""

    size: int
    """Bytes."""

    at: datetime
    """When it was written."""

    footer: pq.FileMetaData


class ParquetFiles:
    """The files below one root.

    Args:
        root: A path or a URL.
    """

    def __init__(self, root: str | Path) -> None:
        self._root = Root(root)
        self._disk, self._base = self._root.disk, self._root.base
        self.root = self._root.spark
        """The root as Spark names it."""
        self.delta_root = self._root.delta
        """The root as delta-rs names it."""
        self.storage_options = self._root.storage_options
        """What delta-rs has to know to reach it."""
        self.is_remote = self._root.remote
        """Whether Spark does not reach it by itself."""

    def uri(self, name: str) -> str:
        """Where a table lies, for Spark."""
        return f"{self.root}/{name}"

    def make(self, name: str) -> None:
        """Makes the folder of a table, if it is not there."""
        self._disk.create_dir(f"{self._base}/{name}")

    def exists(self, name: str, path: str) -> bool:
        """Whether there is such a file of a table."""
        found = self._disk.get_file_info(f"{self._base}/{name}/{path}")
        return bool(found.type is not FileType.NotFound)

    def open(self, name: str, path: str) -> pq.ParquetFile:
        """A file of a table, to read from."""
        return pq.ParquetFile(f"{self._base}/{name}/{path}", filesystem=self._disk)

    def writer(self, name: str, path: str, schema: pa.Schema) -> pq.ParquetWriter:
        """Writes a Parquet file below a table, to be committed when it is closed."""
        return pq.ParquetWriter(
            f"{self._base}/{name}/{path}",
            schema,
            filesystem=self._disk,
            compression="zstd",
            compression_level=1,
            write_statistics=[
                column for column in (*BOUNDED, _PASSED_OVER) if column in schema.names
            ],
        )

    def inspect(self, name: str, path: str) -> FileStatus:
        """What the disk says of a file of a table."""
        full = f"{self._base}/{name}/{path}"
        info = self._disk.get_file_info(full)
        footer = pq.read_metadata(full, filesystem=self._disk)
        return FileStatus(info.size, info.mtime or datetime.now(UTC), footer)

    def paths(self, name: str, folder: str) -> list[str]:
        """The Parquet files in a folder of a table, relative to the table."""
        selector = FileSelector(
            f"{self._base}/{name}/{folder}", recursive=True, allow_not_found=True
        )
        found = self._disk.get_file_info(selector)
        parts = [info.path for info in found if info.path.endswith(".parquet")]
        return sorted(path.removeprefix(f"{self._base}/{name}/") for path in parts)

    def names(self, folder: str) -> list[str]:
        """The files in a folder below the root."""
        selector = FileSelector(f"{self._base}/{folder}", allow_not_found=True)
        found = self._disk.get_file_info(selector)
        return sorted(info.base_name for info in found if info.type is FileType.File)

    def read_note(self, name: str) -> bytes | None:
        """A small file below the root; None if there is none."""
        try:
            with self._disk.open_input_stream(f"{self._base}/{name}") as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def write_note(self, name: str, note: bytes) -> None:
        """Writes a small file below the root, as a whole or not at all."""
        path = f"{self._base}/{name}"
        self._disk.create_dir(path.rpartition("/")[0])
        if self.is_remote:
            with self._disk.open_output_stream(path) as stream:
                stream.write(note)
            return
        with self._disk.open_output_stream(f"{path}.new") as stream:
            stream.write(note)
        self._disk.move(f"{path}.new", path)

    def remove(self, name: str) -> None:
        """Deletes a small file below the root."""
        self._disk.delete_file(f"{self._base}/{name}")
