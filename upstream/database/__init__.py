"""The embedded DuckDB: lent relations, prepared statements, its clock and its results."""
