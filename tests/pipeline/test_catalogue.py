"""All tables."""

from wireloom.pipeline.catalogue import all_tables


def test_names_and_columns_are_unique_and_explained() -> None:
    tables = all_tables()
    assert len({table.name for table in tables}) == len(tables)
    for table in tables:
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names), table.name
        assert set(table.key) <= set(names), table.name
        assert table.about
        assert all(column.meaning for column in table.columns), table.name
