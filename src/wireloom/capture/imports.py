"""Which files were imported into a folder, by their content.

```
captures/imports.json      {"SHA-256 of the file, and the node if one was named": when}
```
"""

from datetime import UTC, datetime
from hashlib import file_digest
from io import BytesIO
from typing import BinaryIO, Final, cast

import msgspec

from wireloom.capture.private import write_whole
from wireloom.remote import AnyPath, UnreachableError

NAME: Final = "imports.json"


class Imports:
    """The imported files of one folder.

    Args:
        folder: Where segments lie.
    """

    def __init__(self, folder: AnyPath) -> None:
        self._path = folder / NAME
        self._new: dict[str, str] = {}

    def before(self, key: str) -> str | None:
        """When the file with this key was imported last; None if it was not.

        Raises:
            UnreachableError: If the store does not answer.
        """
        return self._known().get(key)

    def add(self, key: str) -> None:
        """Adds a file; `save` writes it to disk."""
        self._new[key] = datetime.now(UTC).isoformat(timespec="seconds")

    def save(self) -> None:
        """Writes what was added; the frames must be on disk before.

        Raises:
            OSError: If it cannot be written.
        """
        write_whole(self._path, msgspec.json.encode(self._known() | self._new))

    def _known(self) -> dict[str, str]:
        """What is on disk; nothing if it is damaged: then a file is imported once more."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
        except UnreachableError:
            raise
        except (OSError, ValueError):
            return {}


def key_of(file: BinaryIO, node: str | None) -> str:
    """The key of a file; it is read from its beginning and put back there.

    Args:
        file: Any file that can be read twice.
        node: The node that its frames are said to be of, if one is named.
    """
    file.seek(0)
    content = file_digest(cast("BytesIO", file), "sha256").hexdigest()
    file.seek(0)
    return content if node is None else f"{content} {node}"
