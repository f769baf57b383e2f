"""Numbers, keys and values as text."""

from __future__ import annotations

import msgspec

from upstream.client import Key

UNKNOWN = "-"


def duration(seconds: float | None) -> str:
    """Write a duration in a suitable unit.

    >>> duration(0.0375), duration(5.94), duration(0.000045), duration(None)
    ('37.5 ms', '5.94 s', '45 us', '-')
    """
    if seconds is None:
        return UNKNOWN
    if seconds == 0:
        return "0 s"
    if seconds < 0.0000005:
        return "<1 us"
    if seconds < 0.0009995:
        return f"{1_000_000 * seconds:.0f} us"
    if seconds < 0.9995:
        return f"{1_000 * seconds:.{1 if seconds < 0.09995 else 0}f} ms"
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:,.1f} s"


def rate(per_second: float | None) -> str:
    """Write a rate per second.

    >>> rate(12_345.6), rate(0.25), rate(0.0), rate(None)
    ('12,346', '0.25', '0', '-')
    """
    if per_second is None:
        return UNKNOWN
    return f"{per_second:,.0f}" if per_second == 0 or per_second >= 9.995 else f"{per_second:.2f}"


def times(ratio: float | None, *, is_warming_up: bool = False) -> str:
    """Write a ratio to the lower bound.

    >>> times(1.0345), times(158.4), times(1e9), times(None), times(None, is_warming_up=True)
    ('1.03x', '158x', '>1000x', '-', 'warming up')
    """
    if is_warming_up:
        return "warming up"
    if ratio is None:
        return UNKNOWN
    if ratio > 1_000:
        return ">1000x"  # the bound is almost zero, so the number says nothing more
    return f"{ratio:.2f}x" if ratio < 9.995 else f"{ratio:.0f}x"


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> count(1, "key"), count(1_000, "key")
    ('1 key', '1,000 keys')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def key_text(key: Key | None) -> str:
    """Write a key: a string without quotes if that is unambiguous, anything else as JSON.

    >>> key_text("IBM"), key_text(7), key_text("7"), key_text(("NYSE", 7))
    ('IBM', '7', '"7"', '["NYSE",7]')
    """
    if key is None:
        return UNKNOWN
    if isinstance(key, str) and key.isprintable() and key.strip() == key and not _is_json(key):
        return key
    return value_text(key)


def value_text(value: object) -> str:
    """Write a value as one line of JSON, without control characters."""
    return printable(msgspec.json.encode(value).decode())


def printable(line: str) -> str:
    r"""Return JSON with the same meaning, without control characters for terminals.

    >>> print(printable('"a\u009b31m\u202e"'))
    "a\u009b31m\u202e"
    """
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() else _escaped(each) for each in line)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return not text or text[0] in '"[{'
    return True
