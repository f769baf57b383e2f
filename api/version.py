"""Which version of UpStream this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "upstream-update-queues"


def installed_version() -> str:
    """Return the version of the distribution, `0` in a checkout that was not installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0"
