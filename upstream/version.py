"""The version of UpStream, also used to build packages."""

__version__ = "0.1.0"
