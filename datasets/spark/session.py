"""A Spark session on this machine, quiet and in UTC, which ends with what it was started for."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import ExtraMissingError
from .java import Java, find_java, write_launcher
from .progress import job_progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHORT_BYTES: Final = 32 << 20
"""Up to how much input a job is short: its time goes into starting, compiling and planning."""
CHECKOUT: Final = Path(__file__).resolve().parents[2]

_QUIET: Final = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
logger.repl.name = org.apache.spark.api.python.PythonGatewayServer
logger.repl.level = {level}
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


@contextmanager
def spark_session(
    *,
    cores: int | None = None,
    memory: str = "2g",
    settings: Mapping[str, str] | None = None,
    log_level: str = "OFF",
    input_bytes: int | None = None,
) -> Iterator[SparkSession]:
    """Start Spark in this machine's processes, on all its cores by default; stop it at the end.

    `settings` are Spark's own, by name. `input_bytes` says about how much the job reads: a short
    job gets a Java that starts fast, and few shuffle partitions. JavaMissingError and
    ExtraMissingError say what is missing. A session that already runs in this process is used as
    it is, and keeps running.
    """
    check_extra()
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        running = SparkSession.active()
    except PySparkRuntimeError:
        running = None
    if running is not None:
        yield running
        return
    java = find_java()
    if (notice := java.notice()) is not None:
        sys.stderr.write(notice + "\n")
    is_short = input_bytes is not None and input_bytes <= SHORT_BYTES
    with (
        tempfile.TemporaryDirectory(prefix="upstream-spark-") as folder,
        _environment(java, Path(folder)),
    ):
        log_settings = Path(folder) / "log4j2.properties"
        log_settings.write_text(_QUIET.format(level=log_level), encoding="utf-8")
        given = {
            **_SETTINGS,
            **(_SHORT_SETTINGS if is_short else {}),
            "spark.driver.memory": memory,
            "spark.driver.extraJavaOptions": " ".join(
                (_STACK, f"-Dlog4j2.configurationFile={log_settings}")
                + (_SHORT_JAVA if is_short else ())
            ),
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": str(Path(folder) / "warehouse"),
            **(settings or {}),
        }
        builder = SparkSession.builder
        for name, value in given.items():
            builder = builder.config(name, value)
        with job_progress(None, "Starting Spark"):
            session = builder.master(f"local[{cores or '*'}]").appName("upstream").getOrCreate()
        try:
            yield session
        finally:
            with warnings.catch_warnings():  # of a Java that has died, which is told as an error
                warnings.simplefilter("ignore", RuntimeWarning)
                session.stop()


_STACK: Final = "-Xss16m"
"""Spark looks through the message of a query's error by a regular expression that recurs for each
character; a long message, as of a query that is stopped amid Python code, overflows a usual stack.
"""
_SHORT_JAVA: Final = (
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    *("-XX:MetaspaceSize=256m", "-Xmn192m", "-XX:+IgnoreUnrecognizedVMOptions"),
)
"""A short job runs most of its code a few times, so compiling it thoroughly costs more than it
saves. Garbage threads cost likewise, as do collections while classes are loaded.
"""
_SHORT_SETTINGS: Final = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
}
"""Adaptive execution plans each stage anew, to mend partitions that few rows do not have."""
_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "8",
}


@contextmanager
def _environment(java: Java, folder: Path) -> Iterator[None]:
    """Let Spark use this Java and this Python, and its workers find our packages."""
    write_launcher(java, folder / "java")
    before = dict(os.environ)
    paths = [str(CHECKOUT), *before.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ.update(
        PATH=before.get("PATH") or os.defpath,  # where Spark's scripts find their shell
        JAVA_HOME=str(folder / "java"),
        PYSPARK_PYTHON=sys.executable,
        PYSPARK_DRIVER_PYTHON=sys.executable,
        PYTHONPATH=os.pathsep.join(dict.fromkeys(path for path in paths if path)),
    )
    try:
        yield
    finally:
        for name in ("PATH", "JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH"):
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


def check_extra() -> None:
    """Raise ExtraMissingError unless what Spark needs is installed."""
    try:
        for package in ("pandas", "pyarrow", "pyspark.sql"):  # Spark imports pandas when it likes
            import_module(package)
    except ImportError as error:
        raise ExtraMissingError(error.name) from error
