"""The oracle: it runs the twins of typed models in ONNX Runtime on the CPU and compares them with the FP32 model."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from trtforensics.bisect.precision.emulation.metrics import is_floating, peak_of, scores_of
from trtforensics.bisect.precision.emulation.mixtures import SWITCHES, can_mix, mixture_of, switches
from trtforensics.bisect.precision.emulation.rounding import without_range_limits
from trtforensics.bisect.precision.emulation.runtime import failures, first_line, onnxruntime, session_of
from trtforensics.bisect.precision.emulation.twin import emulate
from trtforensics.errors import ForensicsError, SourceError, UsageError
from trtforensics.model.accumulator import Accumulator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.emulation.metrics import Metric
    from trtforensics.bisect.precision.inputs.sample import Sample

    Outputs = Mapping[str, npt.NDArray[Any]]

_UNREGISTERED = re.compile(r"([\w.]+):(\w+)\(-?\d+\) is not a registered function/op")
"""What ONNX Runtime says of an operator of a domain that is not ONNX's own (seen in 1.31)."""

TENSORS_A_RUN = 256
"""How many tensors one run returns, so that their memory stays bounded."""


class RunError(ForensicsError):
    """ONNX Runtime does not load or run a model."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Every measure of every output, for each sample; None if the output is not finite where the reference is.

    Once that holds of every output, no further sample changes the worst scores: it is not run, and None too.
    """

    outputs: Mapping[str, tuple[Mapping[str, float] | None, ...]]

    def worst(self, output: str, metric: Metric) -> float | None:
        """Return the worst score of an output over the samples; None if a sample has none."""
        samples = [sample[metric.name] if sample is not None else None for sample in self.outputs[output]]
        scores = [score for score in samples if score is not None]
        if len(scores) < len(samples):
            return None
        return min(scores) if metric.higher else max(scores)


@dataclass(frozen=True, slots=True)
class _Session:
    """A session of ONNX Runtime; it reads ``weights`` where they are, as inputs: constants it would copy."""

    runtime: Any
    weights: Mapping[str, Any]


@dataclass(slots=True)
class Oracle:
    """Compares twins with the model's own FP32 outputs on every sample.

    A reference with NaN is refused unless ``masked``, which leaves out of every comparison what is not finite there.
    16-bit products sum in ``accumulator``. ``libraries`` of custom operators are registered in every session.

    Raises:
        RunError: ONNX Runtime cannot run the model.
        SourceError: The model has an operator that ONNX Runtime and ``libraries`` do not have.
        UsageError: The reference has NaN and is not to be masked, or a library cannot be registered.
    """

    caster: Caster
    samples: Sequence[Sample]
    masked: bool = False
    accumulator: Accumulator = Accumulator.FP32
    libraries: Sequence[str] = ()
    reference: Sequence[Outputs] = field(init=False)
    masked_values: Mapping[str, int] = field(init=False)
    peaks: Mapping[str, float] = field(init=False)
    floor: Scores = field(init=False)
    _mixture: _Session | None = field(init=False, default=None)
    _opening: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Run the reference and measure the rounding floor."""
        self.reference = self._run(emulate(self.caster.prepared.proto))
        self.masked_values = self._not_finite()
        if self.masked_values and not self.masked:
            name, count = next(iter(self.masked_values.items()))
            what = (
                f"the output {name} of the FP32 model itself has {count} values that are NaN{self._where_nan_begins()}"
            )
            raise UsageError(
                self.caster.prepared.path, what, "Give other --inputs, or leave them out by --mask-nonfinite"
            )
        for name, count in self.masked_values.items():
            if count == sum(run[name].size for run in self.reference):
                what = f"all {count} values of the output {name} are NaN or infinite in FP32, so that none is compared"
                raise UsageError(self.caster.prepared.path, what, "Give other --inputs")
        self.peaks = {
            name: max(peak_of(run[name], self._lowest(run[name])) for run in self.reference)
            for name in self.reference[0]
        }
        self.floor = self._scores(self._run(emulate(without_range_limits(self.caster, self.accumulator))))

    def of(self, caster: Caster) -> Oracle:
        """Return an oracle of another caster on the same samples, under the same conditions.

        Raises:
            RunError: ONNX Runtime cannot run its model.
        """
        return Oracle(caster, self.samples, self.masked, self.accumulator, self.libraries)

    def score(self, twin: onnx.ModelProto) -> Scores:
        """Run a twin.

        Raises:
            RunError: ONNX Runtime cannot run it.
        """
        return self._scores(self._each(self._session(twin), {}))

    def score_mixture(self, keep: Collection[str]) -> Scores:
        """Score the twin of the typed model in which some nodes stay FP32; several threads may.

        Raises:
            RunError: ONNX Runtime cannot run it.
        """
        if not can_mix(self.caster):
            return self.score(self.twin_of(self.caster.cast(keep)))
        with self._opening:
            if self._mixture is None:
                self._mixture = self._session(mixture_of(self.caster, self.accumulator))
        return self._scores(self._each(self._mixture, {SWITCHES: switches(self.caster, keep)}))

    def twin_of(self, typed: onnx.ModelProto, wide_sums: Collection[str] = ()) -> onnx.ModelProto:
        """Return the twin of a typed model of the caster; the nodes ``wide_sums`` sum in FP32 in any case."""
        return emulate(typed, self.accumulator, wide_sums)

    def outputs_of(self, model: onnx.ModelProto) -> list[Outputs]:
        """Run an FP32 model on every sample.

        Raises:
            RunError: ONNX Runtime cannot run it.
        """
        return self._run(model)

    def runner(self, model: onnx.ModelProto) -> Callable[[Sample], list[Outputs]]:
        """Return what runs an FP32 model on every sample, with more inputs that all samples share.

        Raises:
            RunError: ONNX Runtime cannot load it; the result raises it where it cannot run.
        """
        session = self._session(model)
        return lambda more: self._outputs(session, more)

    def _run(self, model: onnx.ModelProto) -> list[Outputs]:
        return self._outputs(self._session(model), {})

    def _session(self, model: onnx.ModelProto) -> _Session:
        streamed = self.caster.streamed if self.caster.prepared.streamed else {}
        with self._explained(onnxruntime()):
            return _Session(*session_of(model, streamed, self.libraries))

    def _outputs(self, session: _Session, more: Sample) -> list[Outputs]:
        return list(self._each(session, more))

    def _each(self, session: _Session, more: Sample) -> Iterator[Outputs]:
        """Run one sample after the other, as they are asked for."""
        names = [output.name for output in session.runtime.get_outputs()]
        for sample in self.samples:
            with self._explained(onnxruntime()):
                values = session.runtime.run(names, {**session.weights, **sample, **more})
            yield dict(zip(names, values, strict=True))

    @contextmanager
    def _explained(self, runtime: Any) -> Iterator[None]:  # noqa: ANN401 - ONNX Runtime comes without types
        try:
            yield
        except failures(runtime) as error:
            path = self.caster.prepared.path
            unknown = _UNREGISTERED.search(str(error))
            if unknown:
                what = f"has the operator {unknown[1]}.{unknown[2]}, which ONNX Runtime does not know"
                raise SourceError(path, what, "Give the library that has it by --custom-ops LIBRARY") from error
            raise RunError(path, f"ONNX Runtime cannot run it: {first_line(error)}", "") from error

    def _scores(self, runs: Iterable[Outputs]) -> Scores:
        names = list(self.reference[0])
        scores: dict[str, list[Mapping[str, float] | None]] = {name: [] for name in names}
        for wanted, seen in zip(self.reference, runs, strict=True):
            for name in names:
                scores[name].append(self._compared(name, wanted[name], seen[name]))
            if all(None in each for each in scores.values()):
                break
        count = len(self.reference)
        return Scores({name: (*each, *[None] * (count - len(each))) for name, each in scores.items()})

    def _compared(self, name: str, wanted: npt.NDArray[Any], seen: npt.NDArray[Any]) -> Mapping[str, float] | None:
        lowest = self._lowest(wanted)
        try:
            return scores_of(wanted, seen, peak=self.peaks[name], lowest=lowest, masked=self.masked)
        except ValueError as error:
            raise RunError(self.caster.prepared.path, f"an output changes with its precision: {error}", "") from error

    def _where_nan_begins(self) -> str:
        """Say which node first makes NaN of operands that have none; nothing where none of the main graph does."""
        survey = self.caster.survey
        wrong: set[str] = set()
        names = [name for name, kind in survey.types.items() if kind == onnx.TensorProto.FLOAT]
        made = [name for name in names if name in survey.producers and survey.scopes[name] == 0]
        for start in range(0, len(made), TENSORS_A_RUN):
            model = with_outputs(self.caster.prepared.proto, made[start : start + TENSORS_A_RUN])
            for run in self._run(emulate(model)):
                wrong.update(name for name, values in run.items() if np.isnan(values).any())
        first = next(
            (n for n in survey.nodes.values() if wrong.intersection(n.output) and not wrong.intersection(n.input)), None
        )
        return "" if first is None else f", from {first.name} [{first.op_type}] on"

    def _lowest(self, reference: npt.NDArray[Any]) -> float:
        """Return the value below which an output is masked: the end of the type, unless it goes beyond upwards too."""
        end = self.caster.storage.largest
        upwards = is_floating(reference) and bool((np.asarray(reference, np.float64) > end).any())
        return -np.inf if upwards else -end

    def _not_finite(self) -> dict[str, int]:
        """Count the values that cannot be compared; with ``masked``, those that are left out."""
        counts = {}
        for name, array in self.reference[0].items():
            if is_floating(array):
                wrong = np.isfinite if self.masked else np.isnan
                values = [np.asarray(run[name], np.float64) for run in self.reference]
                counts[name] = sum(int(np.count_nonzero(wrong(each) != self.masked)) for each in values)
        return {name: count for name, count in counts.items() if count}


def with_outputs(model: onnx.ModelProto, names: Sequence[str]) -> onnx.ModelProto:
    """Return the model with other outputs: these FP32 tensors."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.ClearField("output")
    copy.graph.output.extend(onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in names)
    return copy


def floating_outputs(model: onnx.ModelProto, names: Collection[str]) -> dict[str, bool]:
    """Return for each output whether it holds floating-point values."""
    wide = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16, onnx.TensorProto.DOUBLE}
    kinds = {value.name: value.type.tensor_type.elem_type for value in model.graph.output}
    return {name: kinds[name] in wide for name in names}
