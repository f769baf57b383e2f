"""Signals end a body, cancel the jobs of Spark, and mean afterwards what they meant before."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from pyspark.sql import SparkSession

from datasets.spark.interruption import ToldToEndError, interruption


def handlers() -> tuple[object, ...]:
    return signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_body_with_the_status_that_shells_expect(number: signal.Signals) -> None:
    before = handlers()
    with pytest.raises(ToldToEndError, match=number.name) as caught, interruption():
        signal.raise_signal(number)
    assert caught.value.status == 128 + number
    assert handlers() == before


def test_a_failure_after_a_signal_is_reported_as_the_signal() -> None:
    def fail_to_clean_up() -> None:
        with interruption():
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                raise OSError("the connection is gone")

    with pytest.raises(ToldToEndError, match="SIGTERM"):
        fail_to_clean_up()


def test_an_error_without_a_signal_stays_what_it_is() -> None:
    with pytest.raises(OSError, match="disk"), interruption():
        raise OSError("the disk is full")


def test_a_second_signal_does_not_break_the_cleaning_up() -> None:
    cleaned = []

    def end_twice() -> None:
        with interruption():
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                signal.raise_signal(signal.SIGINT)
                cleaned.append(True)

    with pytest.raises(ToldToEndError):
        end_twice()
    assert cleaned == [True]


def test_other_threads_run_without_handlers() -> None:
    ran = []

    def body() -> None:
        with interruption():
            ran.append(handlers())

    before = handlers()
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert ran == [before]


def test_a_signal_cancels_the_job_that_runs_and_the_session_goes_on(spark: SparkSession) -> None:
    before = handlers()
    teller = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM))
    started = time.monotonic()

    def sleep() -> None:
        with interruption() as interrupted:
            interrupted.watch(spark)
            teller.start()
            spark.range(2).selectExpr("java_method('java.lang.Thread', 'sleep', 60000L)").collect()

    with pytest.raises(ToldToEndError):
        sleep()
    assert time.monotonic() - started < 20
    assert handlers() == before
    assert spark.range(4).count() == 4
    tracker = spark.sparkContext.statusTracker()
    until = time.monotonic() + 10
    while tracker.getActiveJobsIds() and time.monotonic() < until:
        time.sleep(0.05)
    assert list(tracker.getActiveJobsIds()) == []
