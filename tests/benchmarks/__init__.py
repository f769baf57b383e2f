"""Benchmarks: each measures a ratio to something simpler in the same run, and asserts its work."""
