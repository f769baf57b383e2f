"""Hypothesis profiles: how hard the property tests look, and whether they always look the same way.

`default` tries new examples each time and remembers those that failed; `ci` tries the same ones
every time, so that a run can be repeated; `thorough` looks for minutes. `HYPOTHESIS_PROFILE=name`
chooses; otherwise it is `ci` where the environment says `CI`, and `default` elsewhere.

`spark` is a real Spark session, one for all tests of a process.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from datasets.errors import ExtraMissingError, JavaMissingError
from datasets.spark.java import find_java
from datasets.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A shared machine is slow at times, which says nothing about the code.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", _patient, max_examples=10)
settings.register_profile(
    "ci", _patient, max_examples=100, derandomize=True, database=None, print_blob=True
)
settings.register_profile("thorough", _patient, max_examples=2_000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)

# For every Spark of the tests, those in other processes and in notebooks included. Its jobs are so
# small that compiling Java thoroughly, and collecting its garbage in threads, costs more than it
# saves: 25 tests took 48 s of Java's processor time with both, and 25 s without. Room for code and
# classes, and for young objects, spares Java the work of clearing it: 382 tests took 64 s of
# processor time without, and 54 s with it. Spark's own classes need no verification: a start takes
# 5.1 s of processor time rather than 5.9 s.
JAVA_OPTIONS = (
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    *("-XX:ReservedCodeCacheSize=256m", "-XX:MetaspaceSize=256m", "-Xmn192m"),
    *("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"),
)
os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join(JAVA_OPTIONS))

SPARK_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    # Each hash table and each sort takes a whole page of memory. With the usual large pages the
    # heap grew to 2 GB; with small ones it stays at 0.4 GB.
    "spark.buffer.pageSize": "1m",
}


NOTEBOOK_ON_SPARK = "notebooks/conflation_on_spark.ipynb"


@pytest.hookimpl(optionalhook=True)  # it is one of pytest-xdist
def pytest_xdist_auto_num_workers() -> int | None:
    """Start three processes for two cores: a third of the time tests wait for other processes."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return max(2, (os.cpu_count() or 1) * 3 // 2)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument unless they can be read: compressed bytes hold the time."""
    if isinstance(val, bytes) and not (val.isascii() and val.decode().isprintable()):
        return argname
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests, and skip the notebooks that start Spark where there is no Java.

    pytest-xdist gives each process a part of the list and moves tests from the end of a part. So
    the modules that use Spark come first, and one process starts it for all of them; then those
    with slow tests, and the short ones last, so that all processes end together.
    """
    first = {module_of(item): 0 for item in items if "spark" in getattr(item, "fixturenames", ())}
    slow = {module_of(item): 1 for item in items if is_slow(item)}
    ranks = slow | first
    items.sort(key=lambda item: ranks.get(module_of(item), 2))
    on_spark = [item for item in items if module_of(item) == NOTEBOOK_ON_SPARK]
    if not on_spark:
        return
    try:
        find_java()
    except JavaMissingError as error:
        for item in on_spark:
            item.add_marker(pytest.mark.skip(reason=str(error)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for garbage in cycles less often: the tests themselves are many objects, and all live.

    It takes a quarter of the processor time of collecting the tests, and a sixth of that of running
    them, otherwise. `gc.collect()` in a test does what it does.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 50)
        gc.enable()


def pytest_unconfigure() -> None:
    """Let the garbage collector see everything again: DuckDB complains of what outlives Python."""
    gc.unfreeze()


def is_slow(item: pytest.Item) -> bool:
    """Tell whether a test is marked as slow, or is a notebook, which starts a process."""
    return item.get_closest_marker("slow") is not None or item.path.suffix == ".ipynb"


def module_of(item: pytest.Item) -> str:
    """Return the path of the file that a test is in."""
    return item.nodeid.partition("::")[0]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A Spark session on two cores; what needs one is skipped where there is no Java."""
    try:
        with spark_session(cores=2, settings=SPARK_SETTINGS) as session:
            yield session
    except (JavaMissingError, ExtraMissingError) as error:
        pytest.skip(str(error))
