"""Names for arrays of numbers; for type checkers alone where nothing else imports numpy."""

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
