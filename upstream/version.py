"""Which version of UpStream this is; packages are built with the version that stands here."""

__version__ = "0.1.0"
