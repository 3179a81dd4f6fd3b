"""What an event of a build log is: data that knows the shape of its line.

Every event holds exactly what its line holds, so that a reader of the line can be checked against it: durations
and other real numbers keep six significant digits, as C++ streams print them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

Version: TypeAlias = tuple[int, int, int]

TEN: Version = (10, 0, 0)
"""The first version of the newer forms. Older events render in the form of 8.6."""

MYELIN_SEPARATOR = "\x1f"
"""Stands between the ONNX layers wherever Myelin writes."""


class Joined(tuple[Any, ...]):
    """A tuple whose format specification is the separator: ``f"{Joined(('a', 'b')): || }"`` is ``a || b``."""

    __slots__ = ()

    def __format__(self, separator: str) -> str:
        return separator.join(map(str, self))


class Event:
    """A line's content. ``shape`` spells it; ``old_shape`` where 8.6 spells it differently."""

    __slots__ = ()

    shape: ClassVar[str] = ""
    old_shape: ClassVar[str] = ""
    letter: ClassVar[str] = "V"
    old_letter: ClassVar[str] = ""
    tensorrt: ClassVar[bool] = True
    prefixed: ClassVar[bool] = True

    def _shape(self, version: Version) -> str:
        return self.old_shape if version < TEN and self.old_shape else self.shape


@dataclass(frozen=True, slots=True)
class OnnxTensor:
    """A tensor in a parser line; unknown dimensions are -1."""

    name: str
    dims: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"[{self.name} -> ({', '.join(map(str, self.dims))})[{self.dtype}]]"


@dataclass(frozen=True, slots=True)
class LayerTensor:
    """A tensor of a names-only engine dump; a dimension is printed text, ``32:8`` where it is vectorised."""

    name: str
    dtype: str
    dims: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} ({self.dtype}[{','.join(self.dims)}])"


@dataclass(frozen=True, slots=True)
class DetailedTensor:
    """A tensor of a detailed engine dump; ``location`` is missing for tensors inside a ForeignNode."""

    name: str
    dims: tuple[int, ...]
    datatype: str
    location: str | None = "Device"

    def __str__(self) -> str:
        location = f", Location: {self.location}" if self.location else ""
        dims = ",".join(map(str, self.dims))
        return f"{{ Name: {self.name}{location}, Dimensions: [{dims}], Format/Datatype: {self.datatype} }}"


def six_digits(number: float) -> float:
    """Round to what a log prints."""
    return float(f"{number:.6g}")
