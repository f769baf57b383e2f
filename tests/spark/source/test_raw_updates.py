"""Updates whose values stay as they are."""

from __future__ import annotations

from upstream.spark.source.raw_updates import leases_of, raw_updates

BODY = (
    b'{"updates":[{"key":"IBM","time":3,"value":{"price": 24.10},"lease":"a-1"},'
    b'{"key":["NYSE",7],"time":4.5,"value":null,"lease":"a-2","deleted":true},'
    b'{"key":7,"time":5,"value":"x","new_member":1}]}'
)


def test_values_are_not_parsed() -> None:
    updates = raw_updates(BODY)
    assert [update.text for update in updates] == ['{"price": 24.10}', "null", '"x"']
    assert [update.key for update in updates] == ["IBM", ("NYSE", 7), 7]
    assert [update.time for update in updates] == [3.0, 4.5, 5.0]
    assert [update.is_deleted for update in updates] == [False, True, False]


def test_there_is_a_lease_for_each_update_or_none() -> None:
    assert leases_of(BODY) == ["a-1", "a-2", None]
