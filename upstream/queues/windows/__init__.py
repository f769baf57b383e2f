"""Queues of windows."""
