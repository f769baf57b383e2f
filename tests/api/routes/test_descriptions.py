"""Pieces of the description of the API."""

from __future__ import annotations

import pytest

from api.routes.descriptions import (
    LINKS_OF_DEQUEUE,
    LINKS_OF_QUEUE,
    LINKS_OF_STREAM,
    LINKS_OF_UPDATES,
    SCHEMAS,
    of_schema,
    problems,
)


def test_every_problem_says_what_it_means() -> None:
    described = problems(404, 422)
    assert set(described) == {"404", "422"}
    for response in described.values():
        assert response["description"].endswith(".")
        assert list(response["content"]) == ["application/problem+json"]


def test_a_problem_without_a_description_cannot_be_named() -> None:
    with pytest.raises(KeyError):
        problems(418)


def test_a_schema_is_referred_to_by_its_name() -> None:
    described = of_schema("Update", "An update.")
    reference = described["content"]["application/json"]["schema"]["$ref"]
    assert reference.rpartition("/")[2] in SCHEMAS


def test_links_pass_the_name_on() -> None:
    for links, name in (
        (LINKS_OF_STREAM, "stream"),
        (LINKS_OF_QUEUE, "queue"),
        (LINKS_OF_UPDATES, "stream"),
        (LINKS_OF_DEQUEUE, "queue"),
    ):
        for operation, link in links.items():
            assert link["operationId"] == operation
            if operation != "post_updates":
                assert link["parameters"][name] == f"$request.path.{name}"


def test_a_new_queue_leads_to_the_stream_that_feeds_it() -> None:
    assert LINKS_OF_QUEUE["post_updates"]["parameters"] == {"stream": "$response.body#/stream"}
