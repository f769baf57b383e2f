"""Which version of UpStream this is; packages are built with the version that stands here."""

from typing import Final

__version__: Final = "0.1.0"
