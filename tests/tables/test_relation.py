"""Every relation is one for the contract."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING

from tests.tables.relation_contract import DEFINITION, RelationContract
from upstream import ManualClock
from upstream.tables.engine_stream import EngineStream

if TYPE_CHECKING:
    import pyarrow as pa

    from upstream.tables.relation import Relation


class TestNewestRowsOfAStream(RelationContract):
    def relation(self, rows: pa.Table) -> Relation:
        stream = EngineStream(DEFINITION, ManualClock(), RLock())
        for start in range(0, rows.num_rows, 7):
            stream.append(rows.slice(start, 7))
        return stream
