"""Tests of joins of chunks."""
