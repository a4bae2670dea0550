"""Columns within columns are found, and the rest is left out."""

import pyarrow as pa
import pytest

from wireloom.pipeline.paths import leaf, project, projected

ROWS = pa.table(
    {
        "id": ["a", "b", "c"],
        "dtn": [
            {"payload": {"path": "x", "hops": 1}, "size": 5},
            {"payload": None, "size": 6},
            None,
        ],
    }
)


def test_a_path_leads_to_a_column() -> None:
    assert leaf(ROWS, "id").to_pylist() == ["a", "b", "c"]
    assert leaf(ROWS, "dtn.size").to_pylist() == [5, 6, None]
    assert leaf(ROWS, "dtn.payload.path").to_pylist() == ["x", None, None]


def test_a_projection_has_the_wanted_fields_and_what_is_around_them() -> None:
    assert project(ROWS, ["dtn.payload.path"]).to_pylist() == [
        {"dtn": {"payload": {"path": "x"}}},
        {"dtn": {"payload": None}},
        {"dtn": None},
    ]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], {}),
        (["dtn.size", "id", "dtn.size"], {"dtn": {"size": 5}, "id": "a"}),
        (
            ["dtn.payload.hops", "dtn.size", "dtn.payload.path"],
            {"dtn": {"payload": {"hops": 1, "path": "x"}, "size": 5}},
        ),
        (["dtn"], {"dtn": {"payload": {"path": "x", "hops": 1}, "size": 5}}),
    ],
)
def test_the_schema_of_a_projection_is_known_beforehand(
    paths: list[str], expected: dict[str, object]
) -> None:
    found = project(ROWS, paths)
    found.validate(full=True)
    assert found.schema.equals(projected(ROWS.schema, paths))
    assert (found.to_pylist() or [{}])[0] == expected


def test_several_chunks_parts_of_chunks_and_none_are_projected() -> None:
    chunks = pa.concat_tables([ROWS, ROWS.slice(1), ROWS.slice(0, 0)])
    assert leaf(project(chunks, ["dtn.size"]), "dtn.size").to_pylist() == [5, 6, None, 6, None]
    nothing = ROWS.schema.empty_table()
    assert project(nothing, ["dtn.payload.path"]).num_rows == 0


def test_a_column_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        project(ROWS, ["nobody"])
    with pytest.raises(KeyError):
        project(ROWS, ["dtn.nobody"])
