"""Figures that programs state in words of their own, summed up: under each name its number, or the least and most."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING

from trtforensics.console.counting import grouped
from trtforensics.knowledge.table import rows
from trtforensics.render.names import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.run import RunResult, StatedName
    from trtforensics.model.span import SourceSpan

    _Named = tuple[float, StatedName, SourceSpan]
    _Group = tuple[int, bool, str, SourceSpan]

_MEASURED = {"latency_ms", "gpu_compute_ms", "build_s"}
"""The results of a program that measures for itself."""
_RANKS = [(int(row["rank"]), re.compile(row["pattern"])) for row in rows("stated_ranks", "trtforensics.render")]
"""What most people look for first: rates, times of inferences, accuracies, other times; by the key."""
_OTHER = len({rank for rank, _ in _RANKS}) - 1
_METRIC = re.compile(
    r"(?:(?<=[_ ])(?:precision|recall|m?ap(?:50)?(?:[_-]?(?:50[_-])?95)?|accuracy|f1))$", re.IGNORECASE
)
"""What a name ends with that has others of its kind beside it."""
_SHIFT, _SAME = 0.005, 5
"""From which change of precision and recall on they moved; how many times smaller that of the AP must be."""
_MEAN = re.compile(r"average|\bavg|\bmean|overall")
_DIGITS = re.compile(r"(?<![A-Za-z@0-9.-])[0-9][0-9.]*")
_TIME = re.compile(r"(?i:latency|time|took|elapsed|duration)(?!.*\b[mun]?s\b)")
_WHOLE = 100
"""From here on numbers are shown without decimals."""
_NAME, _SHOWN, _ROWS = 40, 10, 4
"""Characters of a name, names, and rows of a table or parts of a sum that are shown."""
_STATISTIC = re.compile(r"(?i:min|max|mean|median|average|avg|std(?:dev)?|p[0-9]{2})")
"""A name that does not say of what it is."""
