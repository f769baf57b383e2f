"""Tests of rows of a declared shape."""
