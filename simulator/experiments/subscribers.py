"""Subscribers: many of them on one stream, each at its own pace.

The report schedules for a single query, and leaves several queries that share a stream to future
work (section 8). Here several queues are attached to one stream, and their servers need 0.5 to 20
times the mean time between arrivals for an update. There are three claims: each subscriber measures
the staleness that it would measure alone on the same arrivals; the stream holds the newest values
once; and an arrival only touches the queues in which its key starts to wait.

The last claim is counted, not timed. Every wait ends with the dequeue of an update, unless it is
not over yet. So the waits that began are the updates dequeued plus those waiting, and the dequeues,
at the pace of each subscriber, pay for them. (The tests of the library count the calls themselves.)
A loop over all queues would be one visit per queue and arrival.

Chosen: 100 keys, Zipf 0.9, memoryless arrivals; 2, 4, 12 and 48 subscribers; IN-PLACE, and the
index with known and with estimated rates. Estimates belong to the stream, which updates them when
its queues ask. So with estimated rates subscribers do affect one another; the effect is measured,
and is not part of the claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from upstream import make_queue

from ..model.policy_run import PolicyRun
from ..model.simulation import Simulation
from ..model.subscriber import Subscriber
from ..workloads.sources import Poisson
from ..workloads.workload import zipf
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, number, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS: Final = 100
THETA: Final = 0.9
COSTS: Final = (0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0)
GROUPS: Final = {2: (0.5, 20.0), 4: (0.5, 2.0, 5.0, 20.0), 12: COSTS, 48: 4 * COSTS}
"""The costs of the subscribers, by how many there are."""
MAIN_GROUP: Final = 12
POLICIES: Final = (("in-place", "unused"), ("index", "known"), ("index", "estimated"))
KINDS: Final = ("queue", "application")
STYLES: Final = {"unused": "C3-", "known": "C0-", "estimated": "k:"}


def points(scale: Scale) -> list[Point]:
    """Return every policy and number of subscribers; fewer of the latter if quick."""
    groups = (2, 12) if scale.is_quick else tuple(GROUPS)
    return [
        {"policy": policy, "rates": rates, "subscribers": count}
        for policy, rates in POLICIES
        for count in groups
    ]


def measure(point: Point, scale: Scale) -> Table:
    """Run the subscribers together, and one of each pace alone."""
    costs = GROUPS[int(point["subscribers"])]
    updates = scale.choose(full=40_000, quick=3_000)
    simulation, subscribers = _together(point, costs, scale.seed)
    simulation.run(updates)
    counted = _counted(subscribers)
    rows: list[Row] = []
    for cost, subscriber in dict(zip(costs, subscribers, strict=True)).items():
        together = simulation.measures(subscriber)
        alone = PolicyRun(
            policy=str(point["policy"]),
            workload=simulation.workload,
            cost=cost,
            updates=updates,
            seed=scale.seed,
            is_informed=point["rates"] == "known",
        ).measure()
        row: Row = {
            **point,
            "cost": cost,
            "queue": together.queue.mean,
            "queue_alone": alone.queue.mean,
            "application": together.application.mean,
            "application_alone": alone.application.mean,
            **counted,
        }
        rows.append(row)
    return rows


def _together(
    point: Point, costs: tuple[float, ...], seed: int
) -> tuple[Simulation, list[Subscriber]]:
    simulation = Simulation(Poisson(zipf(KEYS, THETA)), seed=seed, loop="plain")
    is_informed = point["rates"] == "known"
    subscribers = []
    for cost in costs:
        queue = make_queue(
            str(point["policy"]),
            clock=simulation.clock,
            rates=simulation.rates if is_informed else None,
            processing_cost=cost if is_informed else None,
        )
        subscribers.append(simulation.add(f"cost {cost:g}", queue, cost=cost))
    return simulation, subscribers


def _counted(subscribers: list[Subscriber]) -> dict[str, float]:
    """Return what the whole stream has done and holds."""
    [stream] = {subscriber.queue.stream for subscriber in subscribers}
    counts = [subscriber.queue.statistics() for subscriber in subscribers]
    waits_begun = sum(count.dequeued + count.waiting for count in counts)
    return {
        "waits_begun_per_arrival": waits_begun / stream.statistics().arrived,
        "values_held": len(stream.snapshot()),
        "waiting_in_all_queues": sum(count.waiting for count in counts),
    }


def draw(table: Table, figure: Figure) -> None:
    """Draw staleness by pace, together and alone, and the waits that an arrival begins."""
    figure.set_size_inches(11.0, 4.6)
    left, right = figure.subplots(1, 2)
    _draw_staleness(where(table, subscribers=MAIN_GROUP), left)
    _draw_visits(table, right)


def _draw_staleness(rows: Table, axes: Axes) -> None:
    for policy, rates in POLICIES:
        line = where(rows, policy=policy, rates=rates)
        label = policy if rates == "unused" else f"{policy}, {rates} rates"
        axes.plot(column(line, "cost"), column(line, "queue"), STYLES[rates], label=label)
        axes.plot(column(line, "cost"), column(line, "queue_alone"), "x", color=STYLES[rates][:-1])
    axes.plot([], [], "kx", label="the same, alone")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], labels=["0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_title(f"{MAIN_GROUP} subscribers of one stream")
    axes.set_xlabel("processing cost of the subscriber")
    axes.set_ylabel("queue staleness")
    axes.legend()


def _draw_visits(table: Table, axes: Axes) -> None:
    for policy, rates in POLICIES:
        rows = where(table, policy=policy, rates=rates)
        by_count = {number(row, "subscribers"): row for row in rows}
        axes.plot(
            list(by_count),
            [number(row, "waits_begun_per_arrival") for row in by_count.values()],
            STYLES[rates],
            marker=".",
            label=policy if rates == "unused" else f"{policy}, {rates} rates",
        )
    counts = sorted(set(column(table, "subscribers")))
    axes.plot(counts, counts, color="grey", linestyle=":", label="if all queues were visited")
    axes.set_xlabel("subscribers")
    axes.set_ylabel("waits that an arrival begins")
    axes.legend()


def verdict(table: Table) -> Verdict:
    """Say whether subscribers are as if alone, what is held, and what an arrival begins."""
    exact = [row for row in table if row["rates"] != "estimated"]
    estimated = where(table, rates="estimated")
    difference = max(map(_difference, exact))
    held = difference == 0.0 and max(column(table, "values_held")) <= KEYS
    main = where(table, policy="in-place", subscribers=MAIN_GROUP)[0]
    most = max(where(table, policy="in-place"), key=lambda row: number(row, "subscribers"))
    same = "exactly" if difference == 0.0 else f"but for up to {difference:.2%}"
    return Verdict(
        f"Each of up to {max(column(table, 'subscribers')):g} subscribers measures {same} the "
        f"staleness that it would measure alone, with IN-PLACE and with the index that knows the "
        f"rates; estimated rates, which they share, change it by up to "
        f"{max(map(_difference, estimated)):.1%}. At the end, of {MAIN_GROUP} "
        f"subscribers {main['waiting_in_all_queues']} updates wait, and {main['values_held']} "
        f"values are held; an arrival has begun {number(main, 'waits_begun_per_arrival'):.1f} "
        f"waits, {number(most, 'waits_begun_per_arrival'):.1f} with {most['subscribers']} "
        f"subscribers.",
        held,
    )


def _difference(row: Row) -> float:
    """Return the larger relative difference of either staleness from that alone."""
    return max(abs(number(row, of) / number(row, f"{of}_alone") - 1.0) for of in KINDS)


EXPERIMENT: Final = Experiment(
    name="subscribers",
    title="many paces on one stream",
    claim=(
        "Each of many subscribers of a stream measures the staleness that it would measure alone, "
        "and the newest values are held once."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
