"""Tests of the embedded DuckDB."""
