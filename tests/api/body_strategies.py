"""Hypothesis strategies for bodies: good ones, damaged ones, and random bytes."""

from __future__ import annotations

import msgspec
import pyarrow as pa
from hypothesis import strategies as st

from api.bodies import Format
from tests.api.bodies.arrow_streams import body_of

keys = st.one_of(
    st.sampled_from(["IBM", "MSFT", "", "a/b", "\u2028", "é" * 600]),
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.sampled_from(["NYSE", 1, -1]), max_size=17),
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
times = st.none() | st.floats() | st.integers(-(2**53), 2**53)
updates = st.fixed_dictionaries(
    {"key": keys, "value": values}, optional={"time": times, "odd": values}
)
rows = st.tuples(keys, times, values)
anything = st.lists(updates | rows | values, max_size=6)


@st.composite
def damaged(draw: st.DrawFn, good: st.SearchStrategy[bytes]) -> bytes:
    """Return a good body, or one with a few bytes changed or cut off, or no body at all."""
    body = bytearray(draw(good))
    match draw(st.sampled_from(["good", "good", "changed", "cut", "random"])):
        case "changed" if body:
            for _ in range(draw(st.integers(1, 4))):
                body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
        case "cut":
            del body[draw(st.integers(0, len(body))) :]
        case "random":
            return draw(st.binary(max_size=64))
    return bytes(body)


def as_lines(made: list[object]) -> bytes:
    """Return a line of JSON for each of these."""
    return b"".join(msgspec.json.encode(one) + b"\n" for one in made)


@st.composite
def arrow_streams(draw: st.DrawFn) -> bytes:
    """Return a stream of one batch, with columns as they should be and as they should not."""
    count = draw(st.integers(0, 5))

    def column(elements: st.SearchStrategy[object], kind: pa.DataType) -> pa.Array:
        return pa.array(draw(st.lists(elements, min_size=count, max_size=count)), kind)

    texts = st.sampled_from(["IBM", "MSFT", "", None, "\0"])
    columns = {
        "key": draw(
            st.sampled_from(
                [
                    column(texts, pa.string()),
                    column(texts, pa.string()).dictionary_encode(),
                    column(st.integers(-(2**63), 2**63 - 1), pa.int64()),
                    column(st.floats(), pa.float64()),
                ]
            )
        ),
        "time": draw(
            st.sampled_from(
                [
                    column(st.none() | st.floats(), pa.float64()),
                    column(st.none() | st.integers(-(2**62), 2**62), pa.timestamp("ns")),
                    column(st.booleans(), pa.bool_()),
                ]
            )
        ),
        "value": draw(
            st.sampled_from(
                [
                    column(st.floats(), pa.float64()),
                    column(st.binary(max_size=9), pa.binary()),
                    column(st.lists(st.integers(0, 9), max_size=3), pa.list_(pa.int32())),
                ]
            )
        ),
    }
    names = draw(st.lists(st.sampled_from([*columns]), unique=True, max_size=3))
    return body_of(**{name: columns[name] for name in names or columns})


BODIES = {
    Format.NDJSON: anything.map(as_lines),
    Format.MESSAGEPACK: (anything | updates).map(msgspec.msgpack.encode),
    Format.ARROW: arrow_streams(),
}
