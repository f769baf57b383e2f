"""Joins of chunks of several streams."""
