"""Where tables lie."""

from pathlib import Path

import pytest

from wireloom.roots import Root


def test_a_folder_is_named_alike_by_all(tmp_path: Path) -> None:
    root = Root(tmp_path)
    assert (root.spark, root.delta, root.base) == (str(tmp_path),) * 3
    assert not root.remote


def test_a_url_leads_to_the_same_folders(tmp_path: Path) -> None:
    (tmp_path / "fates" / "_delta_log").mkdir(parents=True)
    (tmp_path / "a file").write_text("")
    for place in (tmp_path, f"file://{tmp_path}/"):
        assert Root(place).folders() == ["fates"]
        assert Root(place).folders("fates") == ["_delta_log"]
        assert Root(place).folders("missing") == []


def test_sparks_name_of_s3_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    root = Root("s3a://lake/wireloom")
    assert (root.spark, root.delta) == ("s3a://lake/wireloom", "s3://lake/wireloom")
    assert (root.base, root.remote) == ("lake/wireloom", True)


def test_an_unknown_kind_of_url_is_refused() -> None:
    with pytest.raises(ValueError, match="gopher"):
        Root("gopher://lake")
