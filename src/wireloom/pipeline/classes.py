"""The archive of Spark's classes, which halves the time that the JVM takes to start.

The JVM can keep the classes that it has loaded in a file, and map that file into memory at the next
start. The first local run makes it in the user's cache folder. It is of one version of Spark and
one Java; without it, or with one that does not fit, everything runs as well, only later.
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, Self

import pyspark

MOST: Final = 3
"""How many archives are kept: one has some 160 MB."""

_SILENT: Final = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
"""A JVM says on standard output why it does not use an archive."""


class Archive(NamedTuple):
    """Where the archive is."""

    path: Path

    @classmethod
    def found(cls, java: Path | None) -> Self:
        """The archive of this Java and this Spark."""
        jars = Path(pyspark.__file__).parent / "jars"
        known = f"{java and java.resolve()} {_changed(java)} {jars} {_changed(jars)}"
        name = f"spark-{pyspark.__version__}-{sha256(known.encode()).hexdigest()[:16]}.jsa"
        return cls(_cache() / name)

    @property
    def unfinished(self) -> Path:
        """Where this process has the JVM write it."""
        return self.path.with_suffix(f".{os.getpid()}.new")

    def options(self, *, make: bool) -> list[str]:
        """What the JVM is told: to use it or, if there is none, to make it when it ends.

        Args:
            make: Whether it may be made: the caller waits for the JVM's end, and calls `keep`.
        """
        if " " in str(self.path):  # Spark parts its options at blanks
            return []
        if self.path.exists():
            return [*_SILENT, f"-XX:SharedArchiveFile={self.path}"]
        if not make or not self._has_folder():
            return []
        return [*_SILENT, f"-XX:ArchiveClassesAtExit={self.unfinished}"]

    def keep(self) -> None:
        """Keeps what the JVM has written, and of others the latest; the JVM has ended by now."""
        with suppress(OSError):
            self.unfinished.replace(self.path)
            others = sorted(self.path.parent.glob("spark-*.jsa"), key=_changed)
            for old in others[:-MOST]:
                old.unlink()

    def _has_folder(self) -> bool:
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        return os.access(self.path.parent, os.W_OK)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "wireloom"


def _changed(path: Path | None) -> int:
    try:
        return 0 if path is None else path.stat().st_mtime_ns
    except OSError:
        return 0
