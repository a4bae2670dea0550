"""What was imported before."""

import io
from pathlib import Path

from wireloom.capture.imports import NAME, Imports, key_of


def test_a_file_is_known_by_its_content_and_its_node() -> None:
    one = key_of(io.BytesIO(b"x"), None)
    assert one == key_of(io.BytesIO(b"x"), None)
    assert len({one, key_of(io.BytesIO(b"y"), None), key_of(io.BytesIO(b"x"), "n")}) == 3
    file = io.BytesIO(b"xyz")
    file.read(2)
    key_of(file, None)
    assert file.read() == b"xyz"


def test_what_is_saved_is_remembered(tmp_path: Path) -> None:
    imports = Imports(tmp_path)
    assert imports.before("a") is None
    imports.add("a")
    assert imports.before("a") is None, "until its frames are on disk"
    imports.save()
    again = Imports(tmp_path)
    again.add("b")
    again.save()
    assert Imports(tmp_path).before("a") is not None
    assert Imports(tmp_path).before("b") is not None
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_a_damaged_memory_is_none(tmp_path: Path) -> None:
    for raw in (b"", b"{", b"[]", b'{"a":1}', b"\xff"):
        (tmp_path / NAME).write_bytes(raw)
        assert Imports(tmp_path).before("a") is None
