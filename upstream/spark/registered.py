"""Registers `format("upstream")` with the active session, if there is one, as it is imported.

    import upstream.spark.registered

It is imported once, so it knows one session: call `upstream.spark.register` for any other, and for
one that is not started yet.
"""

from .source import register


def _register_active() -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        register(session)


_register_active()
