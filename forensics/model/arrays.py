"""Names for arrays of numbers, for type checkers alone: what no process has to import numpy for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bools = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int32]
    Positions = npt.NDArray[np.int64]
    Words = npt.NDArray[np.uint64]
