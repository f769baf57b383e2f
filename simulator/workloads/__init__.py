"""Workloads: where the updates of a simulation come from."""
