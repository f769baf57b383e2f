"""Tests of answers and results."""
