"""Streams: how updates arrive, what becomes due, and how keys are forgotten."""
