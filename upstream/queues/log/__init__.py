"""Queues that read every update of their stream from a shared log."""
