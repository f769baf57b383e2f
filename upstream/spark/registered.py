"""Importing this module registers `format("upstream")` with the active session, if any.

    import upstream.spark.registered

A module is imported only once, so this registers one session. Call `upstream.spark.register` for
any other session, and for one that is started later.
"""

from .source import register


def _register_active() -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        register(session)


_register_active()
