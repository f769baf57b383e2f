"""The one format of event logs: what the simulator, the service and summaries share of it."""

from .key_texts import key_text

__all__ = ["key_text"]
