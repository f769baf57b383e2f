"""Streams: how updates come in, what falls due, and how keys are forgotten."""
