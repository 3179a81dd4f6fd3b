"""Algorithm selectors: what a selector is shown, and how its answers reach the build."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tests.emulator.engine.builder import Refused
from tests.emulator.engine.files import Recorded, TensorInfo, recorded

from ._enums import DataType, TensorFormat
from ._network import Dims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.emulator.engine.builder import Decision
    from tests.emulator.engine.net import Algorithm, Layer, Net


class IAlgorithmSelector:
    """Chooses among algorithms; a subclass overrides both functions."""

    def select_algorithms(self, context: IAlgorithmContext, choices: list[IAlgorithm]) -> list[int]:
        """Return the indexes that TensorRT may choose from."""
        raise NotImplementedError

    def report_algorithms(self, contexts: list[IAlgorithmContext], choices: list[IAlgorithm]) -> None:
        """Take note of what was chosen."""
        raise NotImplementedError


class IAlgorithmVariant:
    """Which implementation, and which of its tactics (signed)."""

    def __init__(self, entry: Recorded) -> None:
        self._entry = entry

    @property
    def implementation(self) -> int:
        """The runner's id."""
        return self._entry.implementation

    @property
    def tactic(self) -> int:
        """The tactic, a signed 64-bit number."""
        return self._entry.tactic


class IAlgorithmIOInfo:
    """Format of an input or output."""

    def __init__(self, info: TensorInfo) -> None:
        self._info = info

    @property
    def dtype(self) -> Any:
        """Type of an element."""
        return DataType[self._info.dtype.partition(".")[2]]

    @property
    def tensor_format(self) -> Any:
        """Memory layout (up to 9)."""
        return TensorFormat[str(self._info.tensor_format).partition(".")[2]]

    @property
    def strides(self) -> Dims:
        """Strides in elements, outermost first."""
        return Dims(self._info.strides or ())

    @property
    def vectorized_dim(self) -> int:
        """The vectorised dimension, -1 for none."""
        return -1 if self._info.vectorized_dim is None else self._info.vectorized_dim

    @property
    def components_per_element(self) -> int:
        """Components of an element, 1 for none."""
        return self._info.components_per_element or 1


class IAlgorithm:
    """An algorithm that is offered or chosen."""

    def __init__(self, entry: Recorded, milliseconds: float) -> None:
        self._entry = entry
        self._milliseconds = milliseconds

    @property
    def algorithm_variant(self) -> IAlgorithmVariant:
        """Implementation and tactic."""
        return IAlgorithmVariant(self._entry)

    @property
    def timing_msec(self) -> float:
        """What it takes, in ms."""
        return self._milliseconds

    @property
    def workspace_size(self) -> int:
        """Scratch memory in bytes."""
        return 0

    def get_algorithm_io_info(self, index: int) -> IAlgorithmIOInfo:
        """Return the format of an input, or behind those of an output."""
        return IAlgorithmIOInfo((*self._entry.inputs, *self._entry.outputs)[index])


class IAlgorithmContext:
    """The layer that algorithms are chosen for."""

    def __init__(self, net: Net, layer: Layer) -> None:
        self._net = net
        self._layer = layer

    @property
    def name(self) -> str:
        """The layer's name, after fusion."""
        return self._layer.name

    @property
    def num_inputs(self) -> int:
        """Number of inputs."""
        return len(self._layer.inputs)

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self._layer.outputs)

    def get_shape(self, index: int) -> list[Dims]:
        """Return least, usual and greatest dimensions of an input, or behind those of an output."""
        name = (*self._layer.inputs, *self._layer.outputs)[index]
        return [Dims(self._net.dims.get(name, ()))] * 3


class Adapter:
    """Lets a build ask a selector. What a selector raises ends the build, as in TensorRT's bindings."""

    def __init__(self, selector: IAlgorithmSelector, net: Net, *, reject_empty: bool) -> None:
        self._selector = selector
        self._net = net
        self._reject_empty = reject_empty

    def select(self, layer: Layer, offers: Sequence[Algorithm], milliseconds: Sequence[float]) -> Sequence[int]:
        """Return the indexes that the selector gave, all for none."""
        entries = [recorded(self._net, layer, offer) for offer in offers]
        choices = [IAlgorithm(entry, ms) for entry, ms in zip(entries, milliseconds, strict=True)]
        with _Trampoline("select_algorithms", _failed(layer)):
            taken = list(self._selector.select_algorithms(IAlgorithmContext(self._net, layer), choices))
        if any(index not in range(len(offers)) for index in taken) or (self._reject_empty and not taken):
            raise Refused(_failed(layer))
        return taken or range(len(offers))

    def report(self, decisions: Sequence[Decision]) -> None:
        """Tell the selector what was chosen."""
        contexts = [IAlgorithmContext(self._net, decision.layer) for decision in decisions]
        chosen = [
            IAlgorithm(recorded(self._net, decision.layer, decision.algorithm), decision.ms) for decision in decisions
        ]
        with _Trampoline("report_algorithms", "Error Code 2: Internal Error (reportAlgorithms failed.)"):
            self._selector.report_algorithms(contexts, chosen)


class _Trampoline:
    """The way from TensorRT to a selector: what the selector raises is printed, and ends the build."""

    def __init__(self, function: str, failure: str) -> None:
        self._function = function
        self._failure = failure

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            told = f"{type(error).__name__}: {error}"
            print(f"[ERROR] Exception caught in {self._function}(): {told}", file=sys.stderr)
            raise Refused(self._failure) from error


def _failed(layer: Layer) -> str:
    return f"Error Code 10: Internal Error (Could not find any implementation for node {layer.name}.)"
