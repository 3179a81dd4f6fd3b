"""Lines that no rule reads: which of them name a cause or TensorRT.

Each distinct line is looked at once, because the searches are slow and other programs repeat their lines.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE
from trtforensics.parsers.lines.interning import Memo, TextSpans
from trtforensics.parsers.text.decoding import JSON_OPENING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from trtforensics.parsers.grammar.line_kinds import LineKind
    from trtforensics.parsers.text.line_index import LineIndex

    Lines = npt.NDArray[np.int64]

MOST_WRAPPED = 2000
"""Lines up to which a text is an excerpt that somebody may have wrapped."""
MOST_OF_MESSAGE = 1 << 16
"""Bytes of a line in which causes are looked for: the longest messages name thousands of nodes, behind their cause."""

_MENTION = re.compile(
    rb"(?i:tensorrt|trtexec|pycuda|nvinfer|nvdsinfer|onnx-?2?trt|polygraphy|myelin)|\bTRT|trt\.|_trt|trt_"
    rb"|\bI(?:Builder|Runtime|CudaEngine|ExecutionContext|NetworkDefinition)\b|create(?:Infer|NvOnnx)"
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
        *("nsys_report", "engine_made"),
    }
)
"""Causes that texts name which have nothing to do with TensorRT."""


class UnreadLines:
    """Looks at the lines of one window after the other."""

    def __init__(self) -> None:
        self._memo = Memo()

    def telling(self, index: LineIndex, lines: Lines) -> set[int]:
        """Return which of some lines name a cause."""
        if not len(lines):
            return set()
        tells = self._memo.values(index, _spans(index, lines), lambda new: _tells(_openings(new.texts(index.data))))
        return set(lines[tells > 0].tolist())


def is_pasted(opening: bytes) -> bool:
    """Whether a source may be an excerpt of a log, by its beginning: a JSON document or a binary file is none."""
    return JSON_OPENING.match(opening) is None and b"\0" not in opening


def mention_tensorrt(index: LineIndex, lines: Lines) -> bool:
    """Whether any of some lines names TensorRT or something of it, or a cause of the grammar."""
    texts = _openings(_spans(index, lines).texts(index.data))
    return any(map(_MENTION.search, texts)) or any(_names_own_cause(text) for text in texts)


def _openings(texts: list[bytes]) -> list[bytes]:
    return [text[:MOST_OF_MESSAGE] for text in texts]


def _names_own_cause(text: bytes) -> bool:
    """Whether a text names a cause that only programs around TensorRT have."""
    own = ((kind, literals) for kind, literals in cause_openers() if kind.name not in _OF_NO_PROGRAM)
    return any(any(literal in text for literal in literals) and kind.match.search(text) for kind, literals in own)


def _spans(index: LineIndex, lines: Lines) -> TextSpans:
    return TextSpans(lines, index.starts[lines], index.ends[lines])


def _tells(texts: list[bytes]) -> list[int]:
    """Say of each text whether it names a cause, as 1 or 0."""
    whole = b"\n".join(texts)
    named = ((kind, literals) for kind, literals in cause_openers() if kind.name != ANY_ERROR)
    causes = [(literal, kind.match) for kind, literals in named for literal in literals if literal in whole]
    return [int(any(literal in text and match.search(text) for literal, match in causes)) for text in texts]


@cache
def cause_openers() -> tuple[tuple[LineKind, tuple[bytes, ...]], ...]:
    """Return each cause with literals of which every text that names it holds one."""
    return tuple((kind, tuple(text.encode("latin-1") for text in kind.literals)) for kind in tables.kinds(CAUSE))
