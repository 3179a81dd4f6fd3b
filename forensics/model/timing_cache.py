"""The typed model of a timing-cache export: the keys of an editable timing cache (TensorRT >= 10.8).

A key is an operation inside a ForeignNode, its value the tactic that the next build uses for it. TensorRT has no text
form of it; a verbose log (``Autotuning op X(key: 0x…)``) and the binary cache are where it is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.model.log import MyelinOperation
    from trtforensics.model.span import SourceInfo

SCHEMA = 1
KIND = "timing-cache"


@dataclass(frozen=True, slots=True)
class TimingCache:
    """A timing-cache export. ``made_from`` is the path of the log or the cache that it was read from.

    A key from a binary cache has no ``op`` (empty) and no candidates: only a log names them. Spans are of the file
    that was read: the export's own lines, or the log's.
    """

    source: SourceInfo
    made_from: str
    tensorrt_version: str | None
    keys: tuple[MyelinOperation, ...]
