"""Student's t distribution, against printed tables."""

from __future__ import annotations

import pytest

from datasets.summaries.student import central_probability, quantile


@pytest.mark.parametrize(
    ("degrees", "of_95", "of_99"),
    [
        (1, 12.706205, 63.656741),
        (2, 4.302653, 9.924843),
        (3, 3.182446, 5.840909),
        (4, 2.776445, 4.604095),
        (9, 2.262157, 3.249836),
        (10, 2.228139, 3.169273),
        (29, 2.045230, 2.756386),
        (120, 1.979930, 2.617421),
    ],
)
def test_quantiles_are_those_of_the_tables(degrees: int, of_95: float, of_99: float) -> None:
    assert quantile(0.95, degrees) == pytest.approx(of_95, abs=1e-6)
    assert quantile(0.99, degrees) == pytest.approx(of_99, abs=1e-6)


@pytest.mark.parametrize("degrees", [1, 2, 5, 40])
def test_a_quantile_is_where_the_probability_is(degrees: int) -> None:
    for probability in (0.0, 0.5, 0.9, 0.999):
        found = central_probability(quantile(probability, degrees), degrees)
        assert found == pytest.approx(probability, abs=1e-12)
