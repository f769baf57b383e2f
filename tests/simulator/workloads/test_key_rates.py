"""The shares of keys, as workloads take them."""

from __future__ import annotations

import pytest

from simulator.errors import OptionError
from simulator.workloads.key_rates import two_classes, uniform, zipf


def test_shares_are_those_of_the_laws() -> None:
    assert uniform(4).tolist() == [0.25] * 4
    assert zipf(2, 1.0).tolist() == [2 / 3, 1 / 3]
    assert two_classes(3, slow=1, ratio=2.0).tolist() == [0.4, 0.4, 0.2]


def test_invalid_parameters_raise_option_errors() -> None:
    with pytest.raises(OptionError, match="keys 0: expected a whole number from 1 to 10,000,000"):
        uniform(0)
    with pytest.raises(OptionError, match=r"theta -1\.0: expected a number from 0"):
        zipf(10, -1.0)
    with pytest.raises(OptionError, match="slow keys 11: expected a number from 0 to 10"):
        two_classes(10, 11, 2.0)
