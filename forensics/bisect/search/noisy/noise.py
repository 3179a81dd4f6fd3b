"""The noise of builds: how often a build is bad with an active culprit and without one, as a small grid of rates.

``shown`` is how often an active culprit makes a build bad, ``false`` how often a build is bad without one. Neither is
known; every outcome with a known cause narrows them down.
"""

from __future__ import annotations

from itertools import product
from math import log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_SHOWN = {
    0.999: 6.0,
    0.97: 1.0,
    0.93: 1.0,
    0.9: 1.0,
    0.8: 1.0,
    0.7: 1.0,
    0.6: 1.0,
    0.5: 1.0,
    0.4: 1.0,
    0.3: 1.0,
    0.2: 1.0,
}
_FALSE = {0.0005: 12.0, 0.01: 1.0, 0.03: 1.0, 0.07: 0.5, 0.12: 0.5, 0.2: 0.5, 0.3: 0.5}
_GRID = [
    (shown, false, a * b) for (shown, a), (false, b) in product(_SHOWN.items(), _FALSE.items()) if false < shown / 2
]

SHOWN: Array = np.array([shown for shown, _, _ in _GRID])
FALSE: Array = np.array([false for _, false, _ in _GRID])
BEFORE: Array = np.array([weight for _, _, weight in _GRID]) / sum(weight for _, _, weight in _GRID)


def likelihood(*, active: bool, bad: bool) -> Array:
    """Return how likely an outcome is at each point of the grid."""
    rate = SHOWN if active else FALSE
    return rate if bad else 1 - rate


def normalised(logs: Array) -> tuple[Array, float]:
    """Return weights that sum to 1 from their logarithms, and the logarithm of the sum: long products underflow."""
    top = float(logs.max())
    weights = np.exp(logs - top)
    total = float(weights.sum())
    return weights / total, top + log(total)


def entropy(probability: Array) -> Array:
    """Return the entropy of a yes-or-no outcome in bits."""
    inside = np.clip(probability, 1e-12, 1 - 1e-12)
    return -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside))
