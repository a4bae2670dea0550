"""Putting a sealed segment where the logs of many nodes come together.

The checksums go first, then the frames under a name that nobody reads. Once all of them have
arrived they get their own name: a segment is there as a whole, or not at all.

```
captures/<node>-<first sequence>.part        frames on their way
```
"""

from errno import EEXIST, EIO
from pathlib import Path
from shutil import copyfileobj
from typing import BinaryIO, Final, cast

from wireloom.capture.private import make_folder, opener, write_whole
from wireloom.capture.reader import MAX_MESSAGE_SIZE, known_sums
from wireloom.capture.segment import Segment
from wireloom.capture.stream import size_of, take_head
from wireloom.remote import AnyPath, RemotePath, local

PART: Final = ".part"


def send(segment: Segment, folder: AnyPath) -> int:
    """Copies a sealed segment to a folder, unless it is there already.

    What lies here is what is sent, damaged or not: the damage is told there too.

    Returns:
        How many batches do not match their checksum; 0 if nothing was sent.

    Raises:
        FileExistsError: If another segment of its name is there.
        OSError: If it cannot be read or written; then it is not there.
    """
    copy = segment._replace(folder=folder)
    with local(segment.path).open("rb") as file:
        size = size_of(file)
        if _is_there(copy, size):
            return 0
        if isinstance(folder, Path):
            make_folder(folder)
        if local(segment.sums_path).exists():
            write_whole(copy.sums_path, segment.sums_path.read_bytes())
        part = folder / (segment.name + PART)
        with _made(part) as target:
            damaged = _copied(segment, file, target)
    arrived = part.stat().st_size
    if arrived != size:
        raise OSError(EIO, f"{arrived:,} of {size:,} bytes have arrived at {part}")
    _name(part, copy.path)
    return damaged


def _is_there(copy: Segment, size: int) -> bool:
    try:
        found = copy.path.stat().st_size
    except FileNotFoundError:
        return False
    if found != size:
        raise FileExistsError(EEXIST, f"{copy.path} is there already with {found:,} bytes")
    return True


def _made(part: AnyPath) -> BinaryIO:
    if isinstance(part, RemotePath):
        return part.open("wb")
    return cast("BinaryIO", open(part, "wb", opener=opener))


def _name(part: AnyPath, name: AnyPath) -> None:
    if isinstance(part, RemotePath) and isinstance(name, RemotePath):
        part.rename(name)
    else:
        local(part).rename(local(name))


def _copied(segment: Segment, file: BinaryIO, target: BinaryIO) -> int:
    """Copies all bytes in their order; gives how many batches do not match their checksum."""
    begin = take_head(file).size
    file.seek(0)
    target.write(file.read(begin))
    damaged = 0
    for sum_ in known_sums(segment):
        message = file.read(min(max(0, sum_.end - begin), MAX_MESSAGE_SIZE))
        damaged += not sum_.holds(message)
        target.write(message)
        begin = max(begin, sum_.end)
    copyfileobj(file, target)
    return damaged
