"""What releases deprecated and removed, what error codes mean, and which packages do not work with which release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from trtforensics.knowledge.table import known, records

if TYPE_CHECKING:
    from trtforensics.knowledge.table import Release


@dataclass(frozen=True, slots=True)
class InterfaceChange:
    """A call, class, enumerator or trtexec flag that is deprecated or gone.

    ``removed`` is the first release without it, ``back_in`` the one that has it again. ``replacement`` is empty where
    there is none, or none is known.
    """

    kind: Literal["call", "class", "enumerator", "flag"]
    name: str
    python: str
    deprecated: Release | None
    removed: Release | None
    back_in: Release | None
    replacement: str
    source: str


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A number that errors print, its name where it has one, and what it means.

    It is TensorRT's (``Error Code N``), its ONNX parser's, or CUDA's (``cudaError_t``).
    """

    kind: Literal["builder", "parser", "cuda"]
    code: int
    name: str
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class Package:
    """A package that does not work with some TensorRT, both as ranges ``1.2-1.4``, open where a side is empty."""

    package: str
    versions: str
    tensorrt: str
    fault: str
    remedy: str
    source: str


def change_of(name: str) -> InterfaceChange | None:
    """Return the row of a flag (``--workspace``), a C++ name (``ICudaEngine::getNbBindings``) or a Python one."""
    return next((change for change in changes() if name and name in {change.name, change.python}), None)


def error_code(kind: Literal["builder", "parser", "cuda"], code: int) -> ErrorCode | None:
    """Return what a code means; None where nothing is known."""
    return next((entry for entry in error_codes() if (entry.kind, entry.code) == (kind, code)), None)


@cache
def changes() -> tuple[InterfaceChange, ...]:
    """Return all rows of ``removed.tsv``."""
    return records("removed", InterfaceChange, deprecated=known, removed=known, back_in=known)


@cache
def error_codes() -> tuple[ErrorCode, ...]:
    """Return all rows of ``error_codes.tsv``."""
    return records("error_codes", ErrorCode, code=int)


@cache
def packages() -> tuple[Package, ...]:
    """Return all rows of ``packages.tsv``."""
    return records("packages", Package)
