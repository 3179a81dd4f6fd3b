"""Lines in whose middle another message begins: two streams or threads wrote into one file.

That happens where one of them had not ended its line. :func:`glued_lines` finds such lines among those of a whole
window by single bytes at known distances, since most logs have none; the regex of a second prefix then judges.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from trtforensics.parsers.lines.prefixes import Prefixes
    from trtforensics.parsers.text.line_index import LineIndex

    Bools = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.int64]

_STAMP = len("[01/02/2024-10:11:12]")
_MARK = len("[TRT]")
_LEVEL = len("[W]")
_OLD_MARK = len("[TensorRT]")
_LONGEST_LINE_NUMBER = 4

_SECOND_PREFIX = re.compile(
    rb"(?<![\"'`(])(?:"
    rb"(?:\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] ){1,4}(?=(?:\[TRT\] )?\[[EWIVF]\] )"
    rb"|(?<!\] )\[TRT\] (?=\[[EWIVF]\] )"
    rb"|(?<!\] )\[[EWIVF]\] (?=\[TRT\] )"
    rb"|\[TensorRT\] (?=(?:INTERNAL_ERROR|ERROR|WARNING|INFO|VERBOSE): )"
    rb"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]* \[[VIWEF]:onnxruntime:[^\]\n]*\] "
    rb"|(?:INTERNAL_ERROR|ERROR|WARNING|INFO|DEBUG|GRAPH): \[(?:Torch-TensorRT|TRTorch)[^\]\n]*\] - "
    rb"|(?:CRITICAL|ERROR|WARNING|INFO|DEBUG):torch_tensorrt \["
    rb"|[IWEF]\d{4} \d\d:\d\d:\d\d[.\d]* +\d+ [\w./-]+\.cc:\d+\] "
    rb")"
)
"""The prefix of trtexec, of TensorRT's Python logger, of quiet loggers, of the Python logger up to 8.0, of ONNX
Runtime, of both loggers of Torch-TensorRT, of Triton; in quotes or parentheses it belongs to a line that a message
cites."""
_FRONT = b" \t>|"
"""What stands before the lines of an excerpt."""


def glued_lines(index: LineIndex, prefixes: Prefixes) -> dict[int, list[bytes]]:
    """Return the parts of each line that holds a further message behind its own prefix."""
    bodies = index.starts + prefixes.length
    separators = _within(index, prefixes.separators)
    closing = separators[_at(index, separators, -1) == ord("]")]
    opening = separators[_at(index, separators, 1) == ord("[")]
    found = [behind(index, closing) for behind in (_stamps, _marks, _levels, _old_marks, _dashes, _sites)]
    ends = np.concatenate([*found, _runtimes(index, opening), _torches(index, opening)])
    lines = index.ends.searchsorted(ends)
    candidates = sorted(set(lines[ends > bodies[lines]].tolist()))
    parts = {line: _cut(index, line, int(bodies[line])) for line in candidates}
    return {line: own for line, own in parts.items() if len(own) > 1}


def _within(index: LineIndex, before: npt.NDArray[np.int64]) -> Positions:
    """Return the separators of the bodies: all but the first so many of each line."""
    within = np.ones(len(index.separators), np.bool_)
    for place in range(int(before.max(initial=0))):
        within[index.first[before > place] + place] = False
    return index.separators[within]


def _cut(index: LineIndex, line: int, body: int) -> list[bytes]:
    """Cut a line where each further message of its body begins."""
    begin, end = int(index.starts[line]), int(index.ends[line])
    found = _SECOND_PREFIX.finditer(index.data, body, end)
    cuts = [one.start() for one in found if index.data[begin : one.start()].strip(_FRONT)]
    return [index.data[first:last] for first, last in pairwise([begin, *cuts, end])]


def _stamps(index: LineIndex, ends: Positions) -> Positions:
    """Return those ends of brackets that close a time which does not open its line."""
    ends = ends[(_at(index, ends, -4) == ord(":")) & (_at(index, ends, -_STAMP - 1) != ord("\n"))]
    return ends.compress(_at(index, ends, -_STAMP) == ord("["))


def _marks(index: LineIndex, ends: Positions) -> Positions:
    """Return those ends of brackets that close a ``[TRT]`` before a level, not first in its line or behind a time."""
    ends = ends[_is_level(index, ends + 1) & (_at(index, ends, -_MARK) == ord("["))]
    return _neither_first_nor_behind_bracket(index, ends, _MARK)


def _levels(index: LineIndex, ends: Positions) -> Positions:
    """Return those ends of brackets that close a level before ``[TRT]``, not first in its line or behind a time."""
    ends = _neither_first_nor_behind_bracket(index, ends[_at(index, ends, -_LEVEL) == ord("[")], _LEVEL)
    return ends[index.holds(ends + 1, b"[TRT] ")]


def _old_marks(index: LineIndex, ends: Positions) -> Positions:
    """Return those ends of brackets that close a ``[TensorRT]`` which does not open its line."""
    ends = ends[_at(index, ends, -_OLD_MARK) == ord("[")]
    ends = ends[_at(index, ends, -_OLD_MARK - 1) != ord("\n")]
    return ends[index.holds(ends - _OLD_MARK, b"[TensorRT]")]


def _dashes(index: LineIndex, ends: Positions) -> Positions:
    """Return those ends of brackets behind which a dash stands, as behind Torch-TensorRT's name."""
    ends = ends[_at(index, ends, 1) == ord("-")]
    return ends[index.holds(ends, b" - ")]


def _sites(index: LineIndex, ends: Positions) -> Positions:
    """Return those ends of brackets that close a place in a C++ file, as Triton writes it: its name, up to 4 digits."""
    return np.concatenate([_site(index, ends, digits) for digits in range(1, _LONGEST_LINE_NUMBER + 1)])


def _site(index: LineIndex, ends: Positions, digits: int) -> Positions:
    ends = ends[_at(index, ends, -digits - 3) == ord("c")]  # first: few brackets have it there
    return ends[index.holds(ends - digits - len(".cc:]"), b".cc:")]


def _runtimes(index: LineIndex, ends: Positions) -> Positions:
    """Return those blanks behind which ONNX Runtime's bracket opens."""
    ends = ends[_at(index, ends, len(" [E")) == ord(":")]
    return ends[index.holds(ends + len(" [E"), b":onnxruntime:")]


def _torches(index: LineIndex, ends: Positions) -> Positions:
    """Return those blanks before which Torch-TensorRT's name stands."""
    ends = ends[_at(index, ends, -1) == ord("t")]
    return ends[index.holds(ends - len("torch_tensorrt"), b"torch_tensorrt")]


def _neither_first_nor_behind_bracket(index: LineIndex, ends: Positions, size: int) -> Positions:
    ends = ends[_at(index, ends, -size - 1) != ord("\n")]
    return ends.compress((_at(index, ends, -size - 1) != ord(" ")) | (_at(index, ends, -size - 2) != ord("]")))


def _is_level(index: LineIndex, at: Positions) -> Bools:
    """Say where a bracket with one letter stands."""
    level: Bools = (_at(index, at, 0) == ord("[")) & (_at(index, at, 2) == ord("]"))
    return level


def _at(index: LineIndex, places: Positions, offset: int) -> npt.NDArray[np.uint8]:
    """Return the byte that stands so far from each place; before the text's beginning, one of the padding behind it."""
    found: npt.NDArray[np.uint8] = index.bytes[places + np.int64(offset)]
    return found
