"""What an event of a build log is: data that knows the shape of its line.

Every event holds exactly what its line holds, so that a reader of the line can be checked against it: durations
and other real numbers keep six significant digits, as C++ streams print them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from typing import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Any:
        """Leave a class as it is."""
        return lambda made: made


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


@dataclass_transform(frozen_default=True)
class Record:
    """What dataclasses are, without the code that each of them compiles: every process of the emulator makes 150."""

    fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = [name for name, kind in cls.__annotations__.items() if not str(kind).startswith("ClassVar")]
        cls.fields = (*cls.fields, *own)

    def __init__(self, *values: Any, **named: Any) -> None:
        names = self.fields
        state = self.__dict__
        state.update(zip(names, values))  # noqa: B905 - too many values are looked for below
        state.update(named)
        if len(state) != len(values) + len(named) or not state.keys() <= set(names):
            raise TypeError(f"{type(self).__name__} has {names}, not {values} and {named}")
        if len(state) < len(names) and not all(name in state or hasattr(self, name) for name in names):
            raise TypeError(f"{type(self).__name__} wants {names}, and has {state}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._values()}"

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.fields)


class Event(Record):
    """A line's content. ``shape`` spells it; ``old_shape`` where 8.6 spells it differently."""

    shape: ClassVar[str] = ""
    old_shape: ClassVar[str] = ""
    letter: ClassVar[str] = "V"
    old_letter: ClassVar[str] = ""
    tensorrt: ClassVar[bool] = True
    prefixed: ClassVar[bool] = True

    def _shape(self, version: Version) -> str:
        return self.old_shape if version < TEN and self.old_shape else self.shape


class OnnxTensor(Record):
    """A tensor in a parser line; unknown dimensions are -1."""

    name: str
    dims: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"[{self.name} -> ({', '.join(map(str, self.dims))})[{self.dtype}]]"


class LayerTensor(Record):
    """A tensor of a names-only engine dump; a dimension is printed text, ``32:8`` where it is vectorised."""

    name: str
    dtype: str
    dims: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} ({self.dtype}[{','.join(self.dims)}])"


class DetailedTensor(Record):
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
