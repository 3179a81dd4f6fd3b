"""Lines that no rule reads: which of them two programs wrote into one, and which name a cause or TensorRT.

Each distinct line is looked at once, because the searches are slow and other programs repeat their lines.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE
from trtforensics.parsers.lines.interning import Memo, TextSpans
from trtforensics.parsers.text.decoding import JSON_OPENING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from trtforensics.parsers.grammar.line_kinds import LineKind
    from trtforensics.parsers.text.line_index import LineIndex

    Lines = npt.NDArray[np.int64]

MOST_WRAPPED = 2000
"""Lines up to which a text is an excerpt that somebody may have wrapped."""

_SECOND_PREFIX = re.compile(
    rb"(?<=[^\s>\]])(?:\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] )(?=(?:\[TRT\] )?\[[EWIVF]\] \S)"
    rb"|(?<=\][^ ]|[^\s>\]] )(?:\[TRT\] )(?=\[[EWIVF]\] \S)"
)
"""The prefix of a message in the middle of a line."""
_IN_SECOND_PREFIX = b"] ["
_MENTION = re.compile(
    rb"(?i:tensorrt|trtexec|pycuda|nvinfer|nvdsinfer|onnx-?2?trt|polygraphy|myelin)|\bTRT|trt\.|_trt|trt_"
    rb"|\bI(?:Builder|Runtime|CudaEngine|ExecutionContext|NetworkDefinition)\b"
    rb"|Error Code \d+:|importerUtils|OpImporters\.cpp|(?i:build(?:ing)? (?:\w+ )?engine|onnx parser)"
)
"""What only text that has to do with TensorRT says."""
ANY_ERROR = "program_error"
"""The cause that only says that something failed; it counts where a message names no other."""
ANYBODY_MAY_SAY = frozenset(
    {
        *("program_error", "out_of_memory", "illegal_access", "launch_timeout", "dds_network", "cuda_code"),
        *("uff_refused", "torch_build", "torch_operator", "torch_unsupported", "plugin_library", "model_unread"),
        *("rank_refused", "resize_mode", "numpy_alias", "input_planes", "triton_config", "arguments_refused"),
    }
)
"""Causes that, in a whole log, lines of other programs name for reasons of their own."""
_OF_NO_PROGRAM = frozenset(
    {
        *("program_error", "out_of_memory", "illegal_access", "launch_timeout", "numpy_alias", "arguments_refused"),
        *("crashed", "terminated", "host_killed", "library_unopened", "symbol_undefined", "forked", "linker_missing"),
        *("header_missing", "library_status", "broadcast_shapes", "dds_network", "model_unread", "resize_mode"),
    }
)
"""Causes that texts name which have nothing to do with TensorRT."""
_GLUED, _TELLING = 1, 2


class UnreadLines:
    """Looks at the lines of one window after the other."""

    def __init__(self) -> None:
        self._memo = Memo()

    def sort_out(self, index: LineIndex, lines: Lines) -> tuple[list[int], set[int]]:
        """Return which of some lines are glued, and which name a cause."""
        spans = _spans(index, lines)
        traits = self._memo.values(index, spans, lambda new: _traits(new.texts(index.data))) if len(lines) else lines
        return lines[traits & _GLUED > 0].tolist(), set(lines[traits & _TELLING > 0].tolist())


def cut_glued(index: LineIndex, lines: Iterable[int]) -> list[tuple[int, bytes]]:
    """Cut those lines in whose middle another message begins; return the parts, each with its line.

    Two streams or threads that write into one file do that where one of them had not ended its line.
    """
    parts = []
    for line in lines:
        text = index.data[int(index.starts[line]) : int(index.ends[line])]
        cuts = [found.start() for found in _SECOND_PREFIX.finditer(text)]
        parts += [(line, text[begin:end]) for begin, end in pairwise([0, *cuts, len(text)])]
    return parts


def is_pasted(opening: bytes) -> bool:
    """Whether a source may be an excerpt of a log, by its beginning: a JSON document or a binary file is none."""
    return JSON_OPENING.match(opening) is None and b"\0" not in opening


def mention_tensorrt(index: LineIndex, lines: Lines) -> bool:
    """Whether any of some lines names TensorRT or something of it, or a cause of the grammar."""
    texts = _spans(index, lines).texts(index.data)
    return any(map(_MENTION.search, texts)) or any(_names_own_cause(text) for text in texts)


def _names_own_cause(text: bytes) -> bool:
    """Whether a text names a cause that only programs around TensorRT have."""
    own = ((kind, literals) for kind, literals in cause_openers() if kind.name not in _OF_NO_PROGRAM)
    return any(any(literal in text for literal in literals) and kind.match.search(text) for kind, literals in own)


def _spans(index: LineIndex, lines: Lines) -> TextSpans:
    return TextSpans(lines, index.starts[lines], index.ends[lines])


def _traits(texts: list[bytes]) -> list[int]:
    whole = b"\n".join(texts)
    causes = [(needle, match) for needle, match in _causes() if needle in whole]
    return [
        (_GLUED if _IN_SECOND_PREFIX in text and _SECOND_PREFIX.search(text) else 0)
        | (_TELLING if any(needle in text and match.search(text) for needle, match in causes) else 0)
        for text in texts
    ]


@cache
def cause_openers() -> tuple[tuple[LineKind, tuple[bytes, ...]], ...]:
    """Return each cause with literals of which every text that names it holds one."""
    texts = ((kind, kind.openers if "" not in kind.openers else (kind.needle,)) for kind in tables.kinds(CAUSE))
    return tuple((kind, tuple(text.encode("latin-1") for text in own)) for kind, own in texts)


@cache
def _causes() -> tuple[tuple[bytes, re.Pattern[bytes]], ...]:
    """Return the literals of all causes but the one that every error names, each with its cause's regex."""
    return tuple(
        (literal, kind.match) for kind, literals in cause_openers() if kind.name != ANY_ERROR for literal in literals
    )
