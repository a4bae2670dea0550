"""Where captures and tables lie."""

import os
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from wireloom.lake import Lake
from wireloom.roots import MAX_ATTEMPTS, Root


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


def test_arrow_and_delta_reach_one_store_alike(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Root(f"{bucket}/lake")
    options = root.storage_options
    assert options["aws_endpoint"] == os.environ["AWS_ENDPOINT_URL"]
    assert (options["aws_region"], options["aws_allow_http"]) == ("us-east-1", "true")
    assert options["max_retries"] == "1"
    rows = pa.table({"n": [1, 2]})
    write_deltalake(f"{root.delta}/fates", rows, storage_options=options)
    assert root.folders() == ["fates"]
    table = DeltaTable(f"{root.delta}/fates", storage_options=options)
    assert table.to_pyarrow_table() == rows
    again = pickle.loads(pickle.dumps(root))
    assert (again.delta, again.folders()) == (root.delta, ["fates"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://store.example")
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "many")
    other = Root(f"{bucket}/lake").storage_options
    assert (other["aws_allow_http"], other["aws_region"]) == ("false", "us-east-1")
    assert other["max_retries"] == str(MAX_ATTEMPTS - 1)


def test_queries_read_tables_on_object_storage(bucket: str) -> None:
    root = Root(bucket)
    rows = pa.table({"n": [1, 2]})
    write_deltalake(f"{root.delta}/fates", rows, storage_options=root.storage_options)
    assert Lake(bucket).rows("SELECT sum(n) AS n FROM fates") == [{"n": 3}]
