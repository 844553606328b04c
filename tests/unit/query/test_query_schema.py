"""The tables are the same on every database that the read model may stand in."""

from __future__ import annotations

import pytest
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from caipan.query import schema


@pytest.mark.parametrize("table", schema.read_model.metadata.sorted_tables, ids=str)
def test_a_table_can_be_made_on_postgresql_with_texts_in_the_order_of_their_bytes(table: schema.Table) -> None:
    made = str(CreateTable(table).compile(dialect=postgresql.dialect()))
    assert made.count("VARCHAR") == made.count('VARCHAR COLLATE "C"')
    assert "COLLATE" not in str(CreateTable(table).compile(dialect=sqlite.dialect()))
