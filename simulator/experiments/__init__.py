"""Experiments: the figures of the report, and some of our own."""
