"""What words of logs mean: types of engine layers, words of kernel names, words of this tool, numbers of errors."""

import re
from dataclasses import dataclass
from typing import Literal

from trtforensics.knowledge.table import records

TermKind = Literal["layer type", "word", "kernel word"]


@dataclass(frozen=True, slots=True)
class Term:
    """What ``names`` (``*``: any text) mean, and the source of that."""

    names: tuple[str, ...]
    kind: TermKind
    meaning: str
    source: str

    def has(self, name: str) -> bool:
        """Whether it is one of its names, whatever the case."""
        patterns = (re.escape(each).replace(r"\*", ".*") for each in self.names)
        return any(re.fullmatch(pattern, name, re.IGNORECASE) for pattern in patterns)


def terms() -> tuple[Term, ...]:
    """Return all rows of ``terms.tsv``."""
    return records("terms", Term, names=lambda names: tuple(names.split(";")))


def terms_of(name: str) -> list[Term]:
    """Return what a layer type, the name of a layer TensorRT made, or a word means; of kernel words, only alone."""
    return [term for term in terms() if term.has(name.strip())]


CodeKind = Literal["builder", "parser", "cuda", "cudnn", "cublas"]


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A number that errors print, its name where it has one, and what it means.

    It is TensorRT's (``Error Code N``), its ONNX parser's, CUDA's (``cudaError_t``), cuDNN's before 9, or cuBLAS's.
    """

    kind: CodeKind
    code: int
    name: str
    meaning: str
    source: str


def error_code(kind: CodeKind, code: int) -> ErrorCode | None:
    """Return what a code means; None where nothing is known."""
    known = records("error_codes", ErrorCode)
    return next((entry for entry in known if (entry.kind, entry.code) == (kind, code)), None)
