"""The oracle: it runs the twins of typed models in ONNX Runtime on the CPU and compares them with the FP32 model.

The largest value of each row of an output, as of a classifier, informs, and no more. A row is decided where FP32's
largest value leads by more than two errors at the cap. No output within the cap can then turn the order; where the lead
is smaller, noise decides, and the row is counted apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
import onnx
from onnx import numpy_helper

from trtforensics.bisection.precision.casting.caster import Caster, operators_that
from trtforensics.bisection.precision.casting.storage import Storage
from trtforensics.bisection.precision.emulation import judging
from trtforensics.bisection.precision.emulation.accumulation import can_reorder, reordered
from trtforensics.bisection.precision.emulation.measures import EQUAL, is_floating, peak_of, scores_of
from trtforensics.bisection.precision.emulation.twin import emulate, without_range_limits
from trtforensics.errors import ForensicsError, SourceError, UsageError
from trtforensics.model.data_types import Accumulator
from trtforensics.onnx_models.cutting import free_reads
from trtforensics.onnx_models.graphs import copied, reachable, refill
from trtforensics.onnx_models.running import ModelSession, failures, first_line, session_of
from trtforensics.onnx_models.samples import Sample, Values
from trtforensics.onnx_models.shapes import inferred, sizes_by_tensor

Outputs = Mapping[str, Values]

_UNREGISTERED = re.compile(r"([\w.]+):(\w+)\(-?\d+\) is not a registered function/op")
"""What ONNX Runtime says of an operator of a domain that is not ONNX's own (seen in 1.31)."""

_KEEPS_MASKS = operators_that("carries-masks") | {"LogSoftmax", "Mul"}
"""On the way from a mask to an output: a mask may be a product, and logarithms of what is masked are as low."""
_NOTHING: Sample = {}
_FP32_BYTES = 4
BYTES_A_RUN = 512 << 20
"""Bytes of the tensors that one run returns on all samples, so that their memory stays bounded."""
_SMALL, _MIXTURES = 8 << 20, 8
"""How many bytes of outputs are kept of a mixture, and of how many mixtures."""
TENSORS_A_RUN = 128
"""How many tensors of unknown size one run returns."""


class RunError(ForensicsError):
    """ONNX Runtime does not load or run a model."""


@dataclass(slots=True)
class Oracle:
    """Compares twins with the model's own FP32 outputs, ``known`` or not, on every sample.

    A reference with NaN is refused unless ``masked``, which leaves out of every comparison what is not finite there.
    16-bit products sum in ``accumulator``. ``libraries`` of custom operators are registered in every session. ``nudge``
    is another rounding: results are off by that share, as :func:`emulate` says, and if it is positive, products that
    can be turned around add their terms in the other order.

    Raises, as do the methods that run a model:
        RunError: ONNX Runtime cannot run the model.
        SourceError: The model has an operator that ONNX Runtime and ``libraries`` do not have.
        UsageError: The reference has NaN and is not to be masked, or a library cannot be registered.
    """

    caster: Caster
    samples: Sequence[Sample]
    masked: bool = False
    accumulator: Accumulator = Accumulator.FP32
    libraries: Sequence[str] = ()
    nudge: float = 0.0
    known: Sequence[Outputs] | None = None
    reference: Sequence[Outputs] = field(init=False)
    masked_values: Mapping[str, int] = field(init=False)
    masks: Mapping[str, float] = field(init=False)
    """The value below which an output only marks masked positions, for outputs that have such."""
    peaks: Mapping[str, float] = field(init=False)
    _floor: judging.Scores | None = field(init=False, default=None)
    _exact: dict[str, list[Values]] = field(init=False, default_factory=dict)
    """The FP32 tensors of the main graph, where one run returns them all."""
    _mixtures: dict[frozenset[str], tuple[judging.Scores, list[Outputs]]] = field(init=False, default_factory=dict)
    """The last mixtures that ran on every sample."""

    def __post_init__(self) -> None:
        self.reference = self.known or self._first_run()
        self.masked_values = self._not_finite()
        path = self.caster.prepared.path
        if self.masked_values and not self.masked:
            (name, count), begin = next(iter(self.masked_values.items())), self._where_nan_begins()
            what = f"the output {name} of the FP32 model itself has {count} values that are NaN{begin}"
            raise UsageError(path, what, "Give other --inputs, or leave them out by --mask-nonfinite")
        for name, count in self.masked_values.items():
            if count == sum(run[name].size for run in self.reference):
                what = f"all {count} values of the output {name} are NaN or infinite in FP32, so that none is compared"
                raise UsageError(path, what, "Give other --inputs")
        end = self.caster.storage.largest
        self.masks = {
            name: -end
            for name, values in self.reference[0].items()
            if is_floating(values)
            and not any((np.asarray(run[name], np.float64) > end).any() for run in self.reference)
            and self._reads_masks(name)
        }
        runs = self.reference
        self.peaks = {name: max(peak_of(run[name], self._lowest(name)) for run in runs) for name in runs[0]}

    def _first_run(self) -> list[Outputs]:
        """Return the outputs of the FP32 model; keep its other tensors where they need no run of their own."""
        model = emulate(self.caster.source)
        outputs = [value.name for value in model.graph.output]
        names = [name for name in self.tensors if name in self.caster.survey.producers and name not in outputs]
        if len([*self._parted(names, model)]) == 1:
            whole = copied(model)
            whole.graph.output.extend(
                onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in names
            )
            with suppress(RunError):  # ONNX Runtime does not return every tensor of every model
                runs = self.outputs_of(whole)
                self._exact = {name: [run[name] for run in runs] for name in (*outputs, *names)}
                return [{name: run[name] for name in outputs} for run in runs]
        return self.outputs_of(model)

    @property
    def tensors(self) -> list[str]:
        """The FP32 tensors of the main graph, inputs among them."""
        survey = self.caster.survey
        wide = (name for name, scope in survey.scopes.items() if scope == 0 and name not in survey.constants)
        return [name for name in wide if survey.types.get(name) == onnx.TensorProto.FLOAT]

    @property
    def floor(self) -> judging.Scores:
        """The scores of rounding alone, measured on first access."""
        if self._floor is None:
            rounding, weights = without_range_limits(self.caster, self.accumulator)
            self._floor = self.compared(self._each(self._session(emulate(rounding)), weights))
        return self._floor

    def on(self, samples: Sequence[Sample]) -> Oracle:
        """Return an oracle of the same model on other samples; errors are relative to the largest of both."""
        other = replace(self, samples=samples, known=None)
        other.peaks = {name: max(peak, other.peaks[name]) for name, peak in self.peaks.items()}
        return other

    def in_other_roundings(self) -> tuple[Oracle, ...]:
        """Return oracles whose results are off by a quarter unit of rounding; one adds products in the other order."""
        share = self.caster.storage.half_unit / 4.0
        return tuple(replace(self, nudge=nudge, known=self.reference) for nudge in (share, -share))

    def score(self, twin: onnx.ModelProto) -> judging.Scores:
        """Run a twin."""
        return self.compared(self._each(self._session(twin), {}))

    def score_mixture(self, keep: Collection[str]) -> judging.Scores:
        """Score the twin of the typed model in which some nodes stay FP32; several threads may."""
        if self.caster.candidates.keys() <= set(keep) and not self.nudge:
            return self.compared(self.reference)
        return self._mixture(keep)[0]

    def mixture_outputs(self, keep: Collection[str]) -> Sequence[Outputs]:
        """Return the outputs of such a twin on every sample."""
        runs = self._mixture(keep)[1]
        return runs if len(runs) == len(self.samples) else self.outputs_of(self.twin_of(self.caster.cast(keep)))

    def _mixture(self, keep: Collection[str]) -> tuple[judging.Scores, list[Outputs]]:
        """Return the scores of a mixture, and its outputs where they are small and no sample was left out."""
        key = frozenset(keep)
        known = self._mixtures.get(key)
        if known is None:
            runs: list[Outputs] = []
            session = self._session(self.twin_of(self.caster.cast(keep)))

            def running() -> Iterator[Outputs]:
                for outputs in self._each(session, {}):
                    runs.append(outputs)
                    yield outputs

            known = self.compared(running()), runs
            small = sum(array.nbytes for run in runs for array in run.values()) <= _SMALL
            last = list(self._mixtures.items())[1 - _MIXTURES :]
            self._mixtures = dict([*last, (key, known if small else (known[0], []))])
        return known

    def twin_of(self, typed: onnx.ModelProto, wide_sums: Collection[str] = ()) -> onnx.ModelProto:
        """Return the twin of a typed model of the caster; the nodes ``wide_sums`` sum in FP32 in any case."""
        return emulate(typed, self.accumulator, wide_sums, self.nudge)

    def outputs_of(self, model: onnx.ModelProto) -> list[Outputs]:
        """Run an FP32 model on every sample."""
        return self.runner(model)({})

    def values_of(
        self, names: Collection[str], model: onnx.ModelProto | None = None, more: Sample = _NOTHING
    ) -> Iterator[tuple[str, list[Values]]]:
        """Yield FP32 tensors of the main graph, inputs included, with their values on every sample.

        ``model`` is the twin that is run, by default the FP32 model's, with ``more`` inputs that all samples share.
        """
        inputs = {value.name for value in self.caster.prepared.proto.graph.input}
        yield from ((name, [np.asarray(each[name]) for each in self.samples]) for name in names if name in inputs)
        made = [name for name in names if name not in inputs]
        if model is None and self._exact.keys() >= set(made):
            yield from ((name, self._exact[name]) for name in made)
            return
        whole = emulate(self.caster.source) if model is None else model
        for few in self._parted(made, whole):
            part = copied(whole)
            set_outputs(part, few)
            runs = self.runner(part)(more)
            yield from ((name, [run[name] for run in runs]) for name in runs[0])

    def _parted(self, names: Sequence[str], model: onnx.ModelProto) -> Iterator[Sequence[str]]:
        """Yield tensors of a model by groups that one run returns."""
        shapes = {name: array.shape for name, array in self.samples[0].items()} if names else {}
        sizes = sizes_by_tensor(inferred(model, shapes, strict=False)[0]) if names else {}
        begin, total = 0, 0
        for place, name in enumerate(names):
            known = [size or 0 for size in sizes.get(name, (None,))]
            size = _FP32_BYTES * prod(known) * len(self.samples) if all(known) else BYTES_A_RUN // TENSORS_A_RUN
            if place > begin and total + size > BYTES_A_RUN:
                yield names[begin:place]
                begin, total = place, 0
            total += size
        if names:
            yield names[begin:]

    def runner(self, model: onnx.ModelProto) -> Callable[[Sample], list[Outputs]]:
        """Return what runs an FP32 model on every sample, with more inputs that all samples share."""
        session = self._session(model)
        return lambda more: list(self._each(session, more))

    def _session(self, model: onnx.ModelProto) -> ModelSession:
        with self._explained():
            turned = self.nudge > 0.0 and not self.caster.prepared.streamed and can_reorder(model)
            return session_of(reordered(model) if turned else model, self.caster.streamed, self.libraries)

    def _each(self, session: ModelSession, more: Sample) -> Iterator[Outputs]:
        for sample in self.samples:
            with self._explained():
                outputs = session.run({**sample, **more})
            yield outputs

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except failures() as error:
            path = self.caster.prepared.path
            unknown = _UNREGISTERED.search(str(error))
            if unknown:
                what = f"has the operator {unknown[1]}.{unknown[2]}, which ONNX Runtime does not know"
                raise SourceError(path, what, "Give the library that has it by --custom-ops LIBRARY") from error
            raise RunError(path, f"ONNX Runtime cannot run it: {first_line(error)}", "") from error

    def compared(self, runs: Iterable[Outputs]) -> judging.Scores:
        """Compare a run on each sample with the reference."""
        names = list(self.reference[0])
        scores: dict[str, list[Mapping[str, float] | None]] = {name: [] for name in names}
        for wanted, outputs in zip(self.reference, runs, strict=True):
            for name in names:
                scores[name].append(self._compared(name, wanted[name], outputs[name]))
            if all(None in each for each in scores.values()):
                break
        count = len(self.reference)
        return judging.Scores({name: (*each, *[None] * (count - len(each))) for name, each in scores.items()})

    def _compared(self, name: str, wanted: Values, output: Values) -> Mapping[str, float] | None:
        lowest = self._lowest(name)
        try:
            return scores_of(wanted, output, peak=self.peaks[name], lowest=lowest, masked=self.masked)
        except ValueError as error:
            raise RunError(self.caster.prepared.path, f"an output changes with its precision: {error}", "") from error

    def _where_nan_begins(self) -> str:
        """Say which node first makes NaN of operands that have none; nothing where none of the main graph does."""
        wrong = {name for name, arrays in self.values_of(self.tensors) if any(np.isnan(each).any() for each in arrays)}
        nodes = self.caster.survey.nodes.values()
        first = next((n for n in nodes if wrong.intersection(n.output) and not wrong.intersection(n.input)), None)
        return "" if first is None else f", from {first.name} [{first.op_type}] on"

    def _lowest(self, name: str) -> float:
        return self.masks.get(name, -np.inf)

    def _reads_masks(self, output: str) -> bool:
        """Whether an output is low where an input or a constant is: a mask, not a result that goes beyond the type."""
        survey, end = self.caster.survey, -self.caster.storage.largest

        def masked_by(name: str) -> Iterable[str]:
            maker = survey.maker(name)
            return maker.input if maker is not None and maker.op_type in _KEEPS_MASKS else ()

        for name in reachable([output], masked_by):
            known = [np.asarray(sample[name]) for sample in self.samples if name in sample]
            if name in survey.constants and name not in self.caster.prepared.streamed:
                known.append(numpy_helper.to_array(survey.constants[name]))
            if any(is_floating(values) and (values < end).any() for values in known):
                return True
        return False

    def _not_finite(self) -> dict[str, int]:
        """Count the values that cannot be compared; with ``masked``, those that are left out."""
        counts = {}
        for name, array in self.reference[0].items():
            if is_floating(array):
                wrong = np.isfinite if self.masked else np.isnan
                values = [np.asarray(run[name], np.float64) for run in self.reference]
                counts[name] = sum(int(np.count_nonzero(wrong(each) != self.masked)) for each in values)
        return {name: count for name, count in counts.items() if count}


def set_outputs(model: onnx.ModelProto, names: Collection[str]) -> None:
    """Make FP32 tensors the only outputs of a model, without the nodes that none of them needs."""
    values = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names)
    refill(model.graph, "output", values)
    needed, nodes = set(names), []
    for node in reversed(model.graph.node):
        if not needed.isdisjoint(node.output):
            needed.update(free_reads(node))
            nodes.append(node)
    refill(model.graph, "node", reversed(nodes))


def floating_outputs(model: onnx.ModelProto) -> dict[str, bool]:
    """Return for each output whether it holds floating-point values."""
    wide = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16, onnx.TensorProto.DOUBLE}
    return {value.name: value.type.tensor_type.elem_type in wide for value in model.graph.output}


def judge_for(
    oracle: Oracle, rules: Mapping[str, judging.OutputRule], other: Storage | None = None, *, strictest: bool = False
) -> judging.OutputJudge:
    """Return the judge of an oracle's scores; of values in an ``other`` type only the caps are known.

    The ``strictest`` judge takes rounding to cost nothing, without a run: what it passes, every judge passes.
    """
    storage = other or oracle.caster.storage

    def tolerances(name: str, rule: judging.OutputRule) -> Iterator[judging.Tolerance]:
        for metric in rule.metrics:
            floor = EQUAL[metric.name] if strictest else None if other else oracle.floor.worst(name, metric)
            yield judging.tolerance_of(metric, rule.tolerance, floor, oracle.peaks[name], storage)

    return judging.OutputJudge({name: tuple(tolerances(name, rule)) for name, rule in rules.items()})


_LEAST_RANK = 2
_ERRORS = 2.0


@dataclass(frozen=True, slots=True)
class TopRows:
    """The rows of an output: how many there are, how many are decided, and how many agree of the decided ones."""

    rows: int
    decided: int
    agree: int


def top_rows(oracle: Oracle, keep: Collection[str]) -> dict[str, TopRows]:
    """Return the rows, along the last axis, of each floating-point output that has some, where ``keep`` stays FP32."""
    runs = oracle.mixture_outputs(keep)
    cap = judging.cap_of(judging.METRICS["max-rel"], oracle.caster.storage)
    rows_by_output = {}
    for name, peak in oracle.peaks.items():
        pairs = [(wanted[name], got[name]) for wanted, got in zip(oracle.reference, runs, strict=True)]
        if all(is_floating(w) and w.ndim >= _LEAST_RANK and w.shape[-1] > 1 and w.size for w, _ in pairs):
            counts = np.sum([_rows_counted(*pair, _ERRORS * cap * peak) for pair in pairs], axis=0)
            rows_by_output[name] = TopRows(*map(int, counts))
    return rows_by_output


def _rows_counted(wanted: Values, got: Values, margin: float) -> tuple[int, int, int]:
    """Count the rows of a pair of outputs: all, those whose lead exceeds ``margin``, those of them that agree."""
    exact, output = (np.asarray(each, np.float64).reshape(-1, wanted.shape[-1]) for each in (wanted, got))
    best, second = np.sort(exact, axis=1)[:, -1], np.sort(exact, axis=1)[:, -2]
    decided = np.isfinite(best) & (best > second + margin)
    same = np.argmax(exact, axis=1) == np.argmax(np.where(np.isnan(output), np.inf, output), axis=1)
    whole = ~np.isnan(output).any(axis=1)
    return len(exact), int(np.count_nonzero(decided)), int(np.count_nonzero(decided & same & whole))
