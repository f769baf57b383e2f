"""Experiments: one module for each figure of the report, and some of our own."""
