"""Queues that read every update of their stream from its log."""
