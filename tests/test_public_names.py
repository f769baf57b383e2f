"""What `upstream` offers by name; `test_public_surface` has the names of each class."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import upstream

PARAMETERS = {
    "Update": "key value time",
    "UpdateQueue": "scheduler clock capacity time_to_live memory",
    "Stream": "clock retain",
    "WindowQueue": "specification buffer scheduler clock memory codec",
    "WindowSpecification": "size slide tick",
    "AppendWindowQueue": "specification clock shedding",
    "Aggregate": "function",
    "WindowTuple": "update mark",
    "WindowResult": "key start end value",
    "StalenessIndexScheduler": "longest_wait weight cost",
    "PacedScheduler": "inner interval_of",
    "KeyStaleness": """
        key rate queue_staleness application_staleness waiting_seconds stale_seconds
    """,
    "PagePool": "size_bytes page_bytes location_bytes",
    "OnDemandMemory": "pool",
    "NaiveMemory": "pool",
    "staleness_lower_bound": "rates processing_cost of weights",
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_promised_parameters_are_there(name: str) -> None:
    parameters = inspect.signature(getattr(upstream, name)).parameters
    assert [each for each in PARAMETERS[name].split() if each not in parameters] == []


def test_all_names_every_public_name_once_and_in_order() -> None:
    public = {
        name
        for name, value in vars(upstream).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert public == set(upstream.__all__)
    assert len(upstream.__all__) == len(set(upstream.__all__))


def test_every_exception_of_the_library_is_public() -> None:
    errors = {name for name, value in vars(upstream.errors).items() if _is_exception_of_ours(value)}
    assert errors == {
        name for name in upstream.__all__ if _is_exception_of_ours(getattr(upstream, name))
    }


def _is_exception_of_ours(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, upstream.UpStreamError)


def is_constant(name: str) -> bool:
    value = getattr(upstream, name)
    return not (inspect.isclass(value) and value.__name__ == name) and not inspect.isfunction(value)


@pytest.mark.parametrize("name", [name for name in upstream.__all__ if not is_constant(name)])
def test_a_public_class_or_function_is_documented(name: str) -> None:
    value = getattr(upstream, name)
    text = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    assert text, f"{name} has no docstring"
    assert not text.startswith(f"{name}("), "a docstring that was only generated"


@pytest.mark.parametrize("name", [name for name in upstream.__all__ if is_constant(name)])
def test_a_public_constant_is_documented_where_it_is_defined(name: str) -> None:
    source = upstream.__file__
    assert source is not None
    documented = {
        constant
        for path in Path(source).parent.rglob("*.py")
        for constant in documented_constants(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert name in documented


def documented_constants(module: ast.Module) -> set[str]:
    """Return the names that are assigned at the top of a module and described right below."""
    found: set[str] = set()
    for statement, following in zip(module.body, module.body[1:], strict=False):
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if is_text:
            found.update(target.id for target in targets if isinstance(target, ast.Name))
    return found


def test_every_queue_and_scheduler_shows_how_it_is_used() -> None:
    # What a policy does in a queue is shown by the queue, so a scheduler needs no example.
    for kind in (
        "UpdateQueue",
        "AppendQueue",
        "AdaptiveQueue",
        "Stream",
        "StorageManager",
        "WindowQueue",
    ):
        assert ">>> " in inspect.getdoc(getattr(upstream, kind)), kind  # type: ignore[operator]


# The examples that a user would try first.


def test_the_first_example() -> None:
    from upstream import InPlaceScheduler, ManualClock, Outcome, Update, UpdateQueue

    clock = ManualClock()
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    assert queue.enqueue("IBM", 24.0, time=0) is Outcome.WAITING
    clock.advance(1.0)
    batch = queue.enqueue_many(["IBM", "MSFT", "IBM"], [25.0, 50.0, 24.5], [1.0, 1.0, 0.5])
    assert (batch.waiting, batch.superseded, batch.late, batch.rejected) == (1, 1, 1, 0)
    assert batch.rejected_rows == ()
    assert len(queue) == 2
    assert queue.read("IBM") == Update("IBM", 25.0, 1.0)
    update = queue.dequeue()
    assert update == Update("IBM", 25.0, 1.0)
    clock.advance(1.0)
    queue.deliver(update)
    assert queue.queue_staleness("IBM") == pytest.approx(0.5 / 2.0)
    assert queue.application_staleness("IBM") == pytest.approx(2.0 / 2.0)
    assert queue.queue_staleness() == pytest.approx((0.25 + 0.5) / 2.0)
    assert queue.statistics().superseded == 1


def test_the_example_of_a_stream() -> None:
    from upstream import AppendQueue, ManualClock, StalenessIndexScheduler, Stream, UpdateQueue

    stream = Stream(clock=ManualClock(), retain=True)
    dashboard = UpdateQueue(StalenessIndexScheduler(longest_wait=None, weight={"IBM": 2.0}))
    stream.attach(dashboard, snapshot=False)
    stream.enqueue("IBM", 24.0)
    archive = AppendQueue()
    stream.attach(archive, snapshot=True)
    stream.enqueue_many(["IBM", "MSFT"], [25.0, 50.0])
    assert [update.value for update in archive.dequeue_many(100)] == [24.0, 25.0, 50.0]
    newest = stream.read("IBM")
    assert newest is not None
    assert newest.value == 25.0
    assert {update.key for update in stream.snapshot()} == {"IBM", "MSFT"}
    stream.forget("MSFT")
    assert stream.detach(dashboard).expired == 1


def test_the_example_of_a_page_pool() -> None:
    from upstream import InPlaceScheduler, OnDemandMemory, PagePool, PagePoolFullError, UpdateQueue

    pool = PagePool(4096, page_bytes=4096, location_bytes=2048)
    queue = UpdateQueue(InPlaceScheduler(), memory=OnDemandMemory(pool))
    queue.enqueue("IBM", b"24.0")
    queue.enqueue("MSFT", b"50.0")
    with pytest.raises(PagePoolFullError):
        queue.enqueue("ORCL", b"30.0")
    assert queue.statistics().rejected == 1


def test_the_example_of_windows() -> None:
    from upstream import (
        Aggregate,
        InPlaceScheduler,
        LazyWindowBuffer,
        ManualClock,
        WindowMark,
        WindowQueue,
        WindowResult,
        WindowSpecification,
        WindowTuple,
    )

    clock = ManualClock()
    windows = WindowSpecification(3, 1, tick=None)
    queue = WindowQueue(windows, LazyWindowBuffer, InPlaceScheduler(), clock=clock)
    for time in range(5):
        clock.set(time)
        queue.enqueue("IBM", 24.0 + time, time=time)
    total = Aggregate("sum")
    results, marks = [], []
    while (window_tuple := queue.dequeue()) is not None:
        marks.append(window_tuple.mark)
        if (result := total.process(window_tuple)) is not None:
            results.append(result)
            queue.deliver(result)
    assert results == [WindowResult("IBM", 1.0, 4.0, 25.0 + 26.0 + 27.0)]
    assert marks == [4.0, 0, 0, WindowMark.CLOSE]
    assert WindowTuple(None, WindowMark.CLOSE) == (None, WindowMark.CLOSE)
    assert queue.statistics().windows.superseded == 1
    assert queue.application_staleness("IBM") == pytest.approx(0.5 / 4)


def test_the_example_of_the_lower_bound() -> None:
    bound = upstream.staleness_lower_bound([3.0, 1.0], 0.5, of="queue", weights=None)
    assert 0.0 < bound < upstream.staleness_lower_bound([3.0, 1.0], 0.5, of="application")
    assert upstream.staleness_lower_bound([0.3, 0.1], 0.5) == 0.0
