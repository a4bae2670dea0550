"""Which files were imported into a folder, by their content.

```
captures/imports.json      {"SHA-256 of the file, and the node if one was named": when}
```
"""

from datetime import UTC, datetime
from hashlib import file_digest
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, cast

import msgspec

from wireloom.capture.private import opener

NAME: Final = "imports.json"


class Imports:
    """The imported files of one folder.

    Args:
        folder: Where segments lie.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._new: dict[str, str] = {}

    def before(self, key: str) -> str | None:
        """When the file with this key was imported last; None if it was not."""
        return self._known().get(key)

    def add(self, key: str) -> None:
        """Adds a file; `save` writes it to disk."""
        self._new[key] = datetime.now(UTC).isoformat(timespec="seconds")

    def save(self) -> None:
        """Writes what was added; the frames must be on disk before.

        Raises:
            OSError: If it cannot be written.
        """
        made = self._path.with_suffix(".new")
        with open(made, "wb", opener=opener) as file:
            file.write(msgspec.json.encode(self._known() | self._new))
        made.replace(self._path)

    def _known(self) -> dict[str, str]:
        """What is on disk; nothing if it is damaged: then a file is imported once more."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
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
