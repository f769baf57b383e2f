"""UpStream on Spark: update semantics on a cluster, and the service as a data source.

It needs the extra `spark`. Spark itself is imported only when one of these functions is called.
"""

from .conflation import ConflationMetrics, conflate
from .source import register

__all__ = ["ConflationMetrics", "conflate", "register"]
