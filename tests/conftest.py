"""Hypothesis profiles: how hard the property tests look, and whether they always look the same way.

`default` tries new examples each time and remembers those that failed; `ci` tries the same ones
every time, so that a run can be repeated; `thorough` looks for minutes. `HYPOTHESIS_PROFILE=name`
chooses; otherwise it is `ci` where the environment says `CI`, and `default` elsewhere.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A shared machine is slow at times, which says nothing about the code.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", _patient, max_examples=60)
settings.register_profile(
    "ci", _patient, max_examples=100, derandomize=True, database=None, print_blob=True
)
settings.register_profile("thorough", _patient, max_examples=2_000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)
