"""Tests of chunks."""
