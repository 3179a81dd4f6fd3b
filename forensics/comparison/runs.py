"""What a source tells about how fast an engine ran: totals with their spread, and the circumstances of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, quantiles

from trtforensics.model.log import Build
from trtforensics.model.profile import InferenceSamples
from trtforensics.model.run import RunResult
from trtforensics.model.span import SourceSpan


@dataclass(frozen=True, slots=True)
class Measured:
    """A total of a run: the median where the source has several values, else the value.

    ``spread`` says how far single inferences lie from the median: the distance to the 90th percentile or, in a log that
    prints none (TensorRT before 8.6), to the fastest inference. None where the source has one value only. ``count`` is
    how many inferences were timed, where that is known.
    """

    value: float
    spread: float | None
    span: SourceSpan
    mean: float | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Circumstance:
    """Something the run or the build was done with: an option, the device, a version."""

    block: str
    name: str
    value: str
    span: SourceSpan | None


@dataclass(frozen=True, slots=True)
class RunView:
    """``totals`` by the key of the result (``latency_ms``, ``gpu_compute_ms``, ``throughput_qps``); some may lack."""

    totals: Mapping[str, Measured]
    circumstances: tuple[Circumstance, ...] = ()


TOTALS = {
    "latency_ms": "latency",
    "gpu_compute_ms": "GPU compute",
    "end_to_end_ms": "end-to-end latency",
    "throughput_qps": "throughput",
}
"""The results that are compared, in order, and their names. A larger throughput is better, a larger time is worse."""

_UPPER = ("p90", "p95")
_NOT_CIRCUMSTANCES = {"reporting"}
"""Blocks that name what is printed and written, not what is run."""
_PATHS = {"Save engine", "Load engine", "timingCacheFile", "Available Devices", "Selected Device UUID", "Device"}
"""Options that name files and machines: they differ between any two runs."""


def of_build(build: Build) -> RunView:
    """Return what a log says about a build and of the engine's run."""
    totals = {key: measured for key in TOTALS if (result := build.result(key)) and (measured := _of_result(result))}
    stated: list[Circumstance] = []
    if build.tensorrt_version:
        stated.append(Circumstance("version", "TensorRT", build.tensorrt_version, None))
    for block, facts in build.options.items():
        if block not in _NOT_CIRCUMSTANCES:
            stated += [Circumstance(block, f.name, f.value, f.span) for f in facts if f.name not in _PATHS]
    return RunView(totals, tuple(stated))


def _of_result(result: RunResult) -> Measured | None:
    if isinstance(result.value, float | int):
        return Measured(float(result.value), None, result.span)
    values = result.value
    middle = values.get("median", values.get("mean"))
    if middle is None:
        return None
    upper = next((values[key] for key in _UPPER if key in values), None)
    far = upper if upper is not None else values.get("min")
    spread = None if far is None else abs(far - middle)
    return Measured(middle, spread, result.span, values.get("mean"))


def of_samples(samples: InferenceSamples) -> RunView:
    """Return the totals of a times file's run."""
    totals = {
        "latency_ms": _of_values(samples.latency_ms, samples.span),
        "gpu_compute_ms": _of_values(samples.compute_ms, samples.span),
    }
    if samples.elapsed_ms > 0:
        per_second = len(samples.latency_ms) / samples.elapsed_ms * 1000
        totals["throughput_qps"] = Measured(per_second, None, samples.span, None, len(samples.latency_ms))
    return RunView(totals)


def _of_values(values: Sequence[float], span: SourceSpan) -> Measured:
    middle = median(values)
    spread = quantiles(values, n=10, method="inclusive")[-1] - middle if len(values) > 1 else None
    return Measured(middle, spread, span, fmean(values), len(values))
