"""Qc beside Bytewax and Pathway: the work for an epoch, and the time from the cut to the result."""

from __future__ import annotations

import pytest

from tests.benchmarks.epoch_peers import MODULES, PEER_CHUNKS, PeerRun, measured
from tests.benchmarks.measure import Table

pytestmark = pytest.mark.benchmark

ENGINE, *PEERS = MODULES
MOST_WORK = 1 / 4
"""Of the processor time that a peer needs for all of an epoch."""


@pytest.mark.parametrize("rows", PEER_CHUNKS)
@pytest.mark.parametrize("peer", PEERS)
def test_a_join_of_two_streams_beside_a_peer(peer: str, rows: int) -> None:
    theirs = measured(peer, rows)
    if isinstance(theirs, str):
        pytest.skip(theirs)
    ours = measured(ENGINE, rows)
    assert isinstance(ours, PeerRun)
    assert len(ours.means) == ours.epochs
    for minute, mean in ours.means.items():
        assert theirs.means[minute] == pytest.approx(mean, rel=1e-6)
    table = Table(f"Qc, {rows:,} rows of each stream in an epoch, beside {peer}")
    for name, run in ((ENGINE, ours), (peer, theirs)):
        show(table, name, run)
    table.row("processor time of an epoch", ours.seconds / theirs.seconds, MOST_WORK)
    table.assert_met()


def show(table: Table, name: str, run: PeerRun) -> None:
    """Print what a system took."""
    table.row(f"{name}: rows per second of processor time", run.rows_per_second, None, "")
    table.row(f"{name}: from the cut to the result", run.milliseconds_after_cut, None, "ms")
    table.row(f"{name}: memory, for each epoch", run.megabytes / run.epochs, None, "MB")
