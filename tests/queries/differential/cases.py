"""Random cases: a query, the windows that it is over, how it is run, and what arrives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from .arrivals import MICROSECONDS, Standing, Window
from .feeds import Event, Feed
from .grammar import QUOTES, TRADES, Grammar, Query

Emit = Literal["slide", "changed", "asked"]
Way = Literal["increments", "measured", "whole"]
Serving = Literal["results", "run", "iterated"]

UNCERTAIN = ("DISTINCT", "ROLLUP", "histogram", "entropy")
SIZES = ((2, 2), (5, 5), (4, 2), (6, 2), (5, 1), (6, 4), (3, 2), (2, 3), (1, 4))
"""Size and slide in seconds; of the last ones some times are in no window."""
KINDS = {"hop": 50, "arrival": 10, "rows": 12, "latest": 8, "landmark": 10, "stream": 8}
GROUPS = {
    TRADES: (("symbol",), ("flag",), ("symbol", "note")),
    QUOTES: (("symbol",), ("symbol", "lots"), ("lots",)),
}
ROWS = ((5, 5), (10, 5), (7, 2), (4, 3))


@dataclass(frozen=True, slots=True)
class Case:
    """A query as the reference and as the engine have it, and what happens while it stands.

    `emit` and `emit_every` say which results are wanted, `evaluation` how the engine has to work,
    and `serving` how the results are taken.
    """

    seed: int
    query: Query
    standing: Standing
    text: str
    events: tuple[Event, ...]
    emit: Emit
    emit_every: float | None
    evaluation: Way
    serving: Serving

    def __str__(self) -> str:
        """Say what it takes to see this case again."""
        standing = self.standing
        return (
            f"seed {self.seed}: {self.text}\n  semantics {standing.semantics}, allowed lateness"
            f" {standing.allowed_lateness}, close after {standing.close_after}, emit {self.emit}"
            f" every {self.emit_every}, evaluation {self.evaluation}, {self.serving}"
        )

    @property
    def refusals(self) -> frozenset[str]:
        """The errors with which it may be refused; without any, it has to be taken."""
        query, kind = self.query, self.standing.windows[0].kind
        if kind == "stream" and self.standing.semantics == "append":
            return frozenset() if query.is_row_wise else frozenset({"UnboundedQueryError"})
        if kind == "stream":
            return frozenset() if query.has_key else frozenset({"QueryKeyError"})
        if kind != "landmark":
            return frozenset()
        if query.shape == "join" or len(query.streams) > 1:
            return frozenset({"UnboundedQueryError", ""})  # groups can be joined, and rows not
        if self._may_keep_rows:
            return frozenset({"UnboundedQueryError", ""})
        return frozenset() if query.is_merged else frozenset({"UnboundedQueryError"})

    @property
    def _may_keep_rows(self) -> bool:
        """Tell whether there is something in the query that needs all rows in some combinations."""
        return any(word in self.query.template for word in UNCERTAIN)

    @property
    def has_to_be_incremental(self) -> bool:
        """Tell whether no part of the query may be evaluated anew for each window."""
        is_over_windows = self.standing.windows[0].kind in ("tumble", "hop", "rows")
        return is_over_windows and self.query.is_merged and not self._may_keep_rows


def case(seed: int) -> Case:
    """Return the case of a seed."""
    random = Random(seed)
    kind = random.choices(list(KINDS), list(KINDS.values()))[0]
    query = Grammar(random, has_order=kind not in ("latest", "stream")).query()
    windows = _windows(random, kind, query)
    standing = Standing(
        query.template,
        windows,
        semantics=random.choice(["append", "append", "update"]),
        is_row_wise=query.is_row_wise,
        allowed_lateness=_lateness(random, windows),
        close_after=_close_after(random, windows),
    )
    feed = Feed(
        random,
        late=random.choice([0.0, 0.1, 0.3]),
        strange=random.choice([0.0, 0.0, 0.0, 0.1]),
        is_rough=random.random() < 0.3,
        has_rows=standing.close_after is not None,  # without a row there is no silence to measure
    )
    text = query.template.format(*(engine_text(window) for window in windows))
    if random.random() < 0.3:  # a window without an alias goes by the name of its stream
        text = text.replace(") AS trades", ")").replace(") AS quotes", ")")
    is_once = kind == "stream" and standing.semantics == "append"  # each row is given at once
    return Case(
        seed,
        query,
        standing,
        text,
        tuple(feed.events(query.streams)),
        emit="slide" if is_once else random.choices(("slide", "changed", "asked"), (8, 1, 1))[0],
        emit_every=None if is_once else random.choices((None, 2.0), (9, 1))[0],
        evaluation=random.choices(("increments", "measured", "whole"), (6, 2, 2))[0],
        serving=random.choices(("results", "run", "iterated"), (5, 3, 2))[0],
    )


def engine_text(window: Window) -> str:
    """Write a window function as the engine reads it."""
    size, slide, offset = (
        f"INTERVAL '{n // MICROSECONDS} seconds'"
        for n in (window.size, window.slide, window.offset)
    )
    on = f", offset => {offset}" if window.offset else ""
    on += ", by => arrival" if window.by_arrival else ""
    if window.kind == "tumble":
        return f"tumble({window.stream}, {size}{on})"
    if window.kind == "hop":
        return f"hop({window.stream}, {size}, {slide}{on})"
    if window.kind == "rows":
        return f"rows({window.stream}, {window.size}, {window.slide})"
    if window.kind == "latest":
        return f"latest({window.stream}, rows => {window.rows}, per => ({', '.join(window.per)}))"
    if window.kind == "landmark":
        return f"landmark({window.stream}{f', {slide}' if window.slide else ''})"
    return window.stream


def _windows(random: Random, kind: str, query: Query) -> tuple[Window, ...]:
    """Return a window for each stream of a query; of one kind, and some of them of one size."""
    if kind == "rows" and len(set(query.streams)) > 1:
        kind = "hop"  # the rows of two streams do not pass together
    if kind in ("hop", "arrival"):
        made = [_timed(random, stream, by_arrival=kind == "arrival") for stream in query.streams]
    elif kind == "rows":
        made = [Window("rows", stream, *random.choice(ROWS)) for stream in query.streams]
    elif kind == "latest":
        rows = random.choice([1, 1, 2, 4])
        return tuple(
            Window("latest", stream, rows=rows, per=random.choice(GROUPS[stream]))
            for stream in query.streams
        )
    else:
        _, slide = random.choice(SIZES)
        slide = random.choice([0, slide * MICROSECONDS]) if kind == "landmark" else 0
        return tuple(Window(kind, stream, slide=slide) for stream in query.streams)
    if random.random() < 0.5:  # all as the first of them is
        made = [replace(made[0], stream=stream) for stream in query.streams]
    return tuple(made)


def _timed(random: Random, stream: str, *, by_arrival: bool) -> Window:
    """Return a window over times, which may begin later than others do."""
    size, slide = random.choice(SIZES)
    offset = random.choice([0, random.randrange(slide)])
    name = "tumble" if size == slide else "hop"
    return Window(
        name,
        stream,
        size * MICROSECONDS,
        slide * MICROSECONDS,
        by_arrival=by_arrival,
        offset=offset * MICROSECONDS,
    )


def _lateness(random: Random, windows: tuple[Window, ...]) -> int | None:
    if any(window.kind not in ("tumble", "hop") or window.by_arrival for window in windows):
        return None
    return random.choice([None, None, MICROSECONDS, 5 * MICROSECONDS])


def _close_after(random: Random, windows: tuple[Window, ...]) -> float | None:
    if any(window.kind not in ("tumble", "hop") or window.by_arrival for window in windows):
        return None
    return random.choice([None, None, 4.125])
