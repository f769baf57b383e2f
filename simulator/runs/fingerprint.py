"""What tells whether results are those of this very code, so that a resumed run mixes nothing."""

from __future__ import annotations

import hashlib
import json
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

import upstream

from ..experiments.experiment import Experiment, Scale

_PACKAGES: Final = (Path(upstream.__file__).parent, Path(__file__).parents[1])


def fingerprint(experiment: Experiment, scale: Scale) -> str:
    """Return a digest of the experiment's points, the scale, and all code that measures."""
    points = [dict(point) for point in experiment.points(scale)]
    text = json.dumps([experiment.name, scale.seed, scale.is_quick, points])
    return hashlib.sha256((text + digest_of_code()).encode()).hexdigest()[:16]


@cache
def digest_of_code() -> str:
    """Return a digest of the code and what it stands on, as of when this process first asked."""
    versions = [sys.version, *(version(name) for name in ("numpy", "simpy"))]
    digest = hashlib.sha256(json.dumps(versions).encode())
    for package in _PACKAGES:
        for path in sorted(package.rglob("*.py")):
            digest.update(str(path.relative_to(package)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
