"""Where captures and tables lie: a local folder, or a location on object storage.

Spark, Arrow and delta-rs reach the same locations (`s3://…`, `gs://…`, `abfss://…`, `file://…`) and
take credentials from the environment. Spark's name for S3 is `s3a://`; both names are known here.

The names that AWS gave to the variables hold for S3 and what speaks like it:

```
AWS_ACCESS_KEY_ID  AWS_SECRET_ACCESS_KEY   who we are; without them, what AWS's tools would take
AWS_ENDPOINT_URL                           where the service is, if it is not AWS
AWS_REGION  AWS_DEFAULT_REGION             without them: where the bucket is; us-east-1 if not AWS
AWS_MAX_ATTEMPTS                           how often a request is made that fails for a while
```
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyarrow.fs import FileSelector, FileSystem, FileType, LocalFileSystem

S3: Final = "s3://"
DEFAULT_REGION: Final = "us-east-1"
MAX_ATTEMPTS: Final = 6
"""The pauses between them double up to a second, 2, 4, 8, 16: a store may be away for that long."""

CONNECT_SECONDS: Final = 5.0
REQUEST_SECONDS: Final = 30.0
"""How long nothing at all may come."""


class Store(NamedTuple):
    """How S3 is reached: one answer for all that reach it."""

    endpoint: str
    """Empty: AWS."""

    region: str
    """Empty: that of the bucket."""

    attempts: int

    @property
    def is_plain(self) -> bool:
        """Whether it is reached without TLS."""
        return self.endpoint.startswith("http://")


class Root:
    """One such place.

    Args:
        place: A path or a URL.

    Raises:
        ValueError: If no file system is known for the URL.
        OSError: If the bucket cannot be found.
    """

    def __init__(self, place: str | Path) -> None:
        self.spark = str(place).rstrip("/")
        """As Spark names it."""
        self.delta = self.spark.replace("s3a://", S3, 1)
        """As delta-rs names it."""
        self.remote = "://" in self.delta
        self.storage_options: dict[str, str] = {}
        """What delta-rs has to know to reach it, beside the environment."""
        if self.delta.startswith(S3):
            self.base = self.delta.removeprefix(S3)
            store = _store(self.base.partition("/")[0])
            self.disk, self.storage_options = _disk(store), _options(store)
        elif self.remote:
            self.disk, self.base = FileSystem.from_uri(self.delta)
        else:
            self.disk, self.base = LocalFileSystem(), self.spark

    def __reduce__(self) -> tuple[Any, ...]:
        """Who it is pickled for reaches it with an environment of their own."""
        return Root, (self.spark,)

    def folders(self, name: str = "") -> list[str]:
        """The names of the folders in a folder below it."""
        folder = f"{self.base}/{name}".rstrip("/")
        found = self.disk.get_file_info(FileSelector(folder, allow_not_found=True))
        return sorted(info.base_name for info in found if info.type is FileType.Directory)


def _store(bucket: str) -> Store:
    """How a bucket is reached, as the environment says now."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
    if not region:
        region = DEFAULT_REGION if endpoint else _region(bucket)
    attempts = os.environ.get("AWS_MAX_ATTEMPTS", "")
    return Store(endpoint, region, int(attempts) if attempts.isdecimal() else MAX_ATTEMPTS)


@lru_cache
def _region(bucket: str) -> str:
    """Where a bucket is."""
    from pyarrow.fs import resolve_s3_region  # noqa: PLC0415 - S3 takes long to load

    return str(resolve_s3_region(bucket))


@lru_cache
def _disk(store: Store) -> FileSystem:
    """S3 for Arrow. Whoever made one keeps its connections."""
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem  # noqa: PLC0415 - likewise

    scheme, _, host = store.endpoint.rpartition("://")
    return S3FileSystem(
        endpoint_override=host or None,
        scheme=scheme or "https",
        region=store.region,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=REQUEST_SECONDS,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=max(1, store.attempts)),
        allow_delayed_open=True,
    )


def _options(store: Store) -> dict[str, str]:
    """The same for delta-rs. A commit is a conditional put: two writers cannot both make it."""
    options = {
        "aws_region": store.region,
        "aws_conditional_put": "etag",
        "connect_timeout": f"{CONNECT_SECONDS:.0f}s",
        "timeout": f"{REQUEST_SECONDS:.0f}s",
        "max_retries": str(max(0, store.attempts - 1)),
    }
    if store.endpoint:
        options["aws_endpoint"] = store.endpoint
        options["aws_allow_http"] = str(store.is_plain).lower()
    return options
