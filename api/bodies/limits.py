"""How large the parts of a body may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The sizes past which updates are refused; how long a whole body may be is the server's."""

    key_bytes: int = 1024
    """Of each string of a key; counted in characters, which are bytes unless they are special."""
    value_bytes: int = 1 << 20
    """Of an encoded value."""
    depth: int = 64
    """Of the lists and objects of a value within one another."""
    rows: int = 1_000_000
    """Of a body."""
