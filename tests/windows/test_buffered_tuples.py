"""Tuples that are held as Python objects."""

from __future__ import annotations

import pytest

from upstream.windows.buffered_tuples import BufferedTuples, ObjectTuples

from .contract_of_tuples import TuplesContract, row


class TestObjectTuples(TuplesContract):
    @pytest.fixture
    def tuples(self) -> BufferedTuples:
        return ObjectTuples()

    def test_tuples_are_held_and_not_copied(self, tuples: BufferedTuples) -> None:
        held = row(1)
        tuples.append_to_both(held)
        assert tuples.enqueued()[0] is held
        assert tuples.take() is held
