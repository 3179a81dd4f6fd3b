"""Layers that have something in common, and the sums of what is known of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from trtforensics.console.counting import counted, grouped
from trtforensics.render.names import shortened

_Number = TypeVar("_Number", int, float)
_LONGEST = 120
"""Characters of a name in a ``repr``."""


class _Summable(Protocol):
    """What a layer has that a group adds up; None where it is not known."""

    @property
    def time_ms(self) -> float | None: ...
    @property
    def share(self) -> float | None: ...
    @property
    def weights_bytes(self) -> int | None: ...
    @property
    def activation_bytes(self) -> int | None: ...
    @property
    def macs(self) -> int | None: ...


LayerT = TypeVar("LayerT", bound=_Summable)


@dataclass(frozen=True, slots=True)
class LayerGroup(Generic[LayerT]):
    """Layers that have something in common, and the sums of what is known of them."""

    name: str
    layers: tuple[LayerT, ...]

    def __repr__(self) -> str:
        time = "no times" if self.time_ms is None else f"{self.time_ms:.4g} ms"
        return f"<{shortened(self.name, _LONGEST) or 'all'}: {counted(len(self.layers), 'layer')}, {time}>"

    @property
    def time_ms(self) -> float | None:
        """The time of those that have one; None where none has."""
        return _sum_of_known([layer.time_ms for layer in self.layers])

    @property
    def share(self) -> float | None:
        """Their part of the engine's time."""
        return _sum_of_known([layer.share for layer in self.layers])

    @property
    def weights_bytes(self) -> int | None:
        """The weights of those whose weights are known; None where none are."""
        return _sum_of_known([layer.weights_bytes for layer in self.layers])

    @property
    def activation_bytes(self) -> int | None:
        """The activations of those whose tensors have a known size; None where none have."""
        return _sum_of_known([layer.activation_bytes for layer in self.layers])

    @property
    def macs(self) -> int | None:
        """The multiply-accumulates of those whose operation tells them; None where none does."""
        return _sum_of_known([layer.macs for layer in self.layers])


def layer_groups(layers: Iterable[LayerT], key: Callable[[LayerT], str]) -> tuple[LayerGroup[LayerT], ...]:
    """Put layers into groups by their key; slowest group first, then the largest."""
    groups = [LayerGroup(name, tuple(group)) for name, group in grouped(layers, key).items()]
    return tuple(sorted(groups, key=lambda group: (-(group.time_ms or 0.0), -len(group.layers))))


def _sum_of_known(values: Sequence[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None
