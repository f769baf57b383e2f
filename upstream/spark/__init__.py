"""UpStream on Spark: update semantics on a cluster, and the service as a data source.

Needs the extra `spark`; nothing of Spark is imported before something here is used.
"""

from .conflation import ConflationMetrics, conflate
from .source import register

__all__ = ["ConflationMetrics", "conflate", "register"]
