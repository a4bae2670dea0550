"""Where tables lie: a local folder, or a location on object storage.

Spark, Arrow and delta-rs reach the same locations (`s3://…`, `gs://…`, `abfss://…`, `file://…`) and
take credentials from the environment. Spark's name for S3 is `s3a://`; both names are known here.
"""

from pathlib import Path

from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem


class Root:
    """One such place.

    Args:
        place: A path or a URL.

    Raises:
        ValueError: If no file system is known for the URL.
    """

    def __init__(self, place: str | Path) -> None:
        self.spark = str(place).rstrip("/")
        """As Spark names it."""
        self.delta = self.spark.replace("s3a://", "s3://", 1)
        """As delta-rs names it."""
        self.remote = "://" in self.delta
        if self.remote:
            self.disk, self.base = FileSystem.from_uri(self.delta)
        else:
            self.disk, self.base = LocalFileSystem(), self.spark

    def folders(self, name: str = "") -> list[str]:
        """The names of the folders in a folder below it."""
        folder = f"{self.base}/{name}".rstrip("/")
        found = self.disk.get_file_info(FileSelector(folder, allow_not_found=True))
        return sorted(info.base_name for info in found if info.type is FileType.Directory)
