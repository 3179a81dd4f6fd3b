"""Results as words: what both the text of a log and the TUI's overview show of the performance summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.model.run import RunResult

_NAMES = {
    "latency_ms": "latency",
    "end_to_end_ms": "end-to-end latency",
    "enqueue_ms": "enqueue time",
    "h2d_ms": "H2D latency",
    "gpu_compute_ms": "GPU compute time",
    "d2h_ms": "D2H latency",
    "throughput_qps": "throughput",
    "throughput_tps": "token throughput",
    "host_walltime_s": "host walltime",
    "gpu_compute_total_s": "total GPU compute time",
    "generation_s": "engine generated in",
    "build_s": "engine built in",
    "engine_bytes": "engine size",
    "loaded_engine_mib": "loaded engine size",
    "load_s": "engine loaded in",
    "context_mib": "context memory",
    "gpu_step_ms": "step of the GPU compute time",
    "gpu_drift_ms": "slope of the GPU compute time",
    "gpu_levels_ms": "two levels of the GPU compute time",
    "gpu_peak_ms": "slowest running average of the GPU compute time",
    "first_dimension": "first dimension of the inputs",
    "gpu_compute_cv_percent": "spread of the GPU compute time",
}
_UNITS = {"ms": "ms", "qps": "qps", "tps": "tokens/s", "s": "s", "bytes": "MiB", "mib": "MiB", "percent": "%"}
_MEBIBYTE = 1 << 20


def result_name(result: RunResult) -> str:
    """Return what a result is of."""
    return _NAMES[result.key]


def result_text(result: RunResult) -> str:
    """Return a result's value with its unit."""
    key = result.key.rpartition("_")[2]
    unit = _UNITS.get(key, "")
    if isinstance(result.value, float | int):
        return f"{result.value / _MEBIBYTE if key == 'bytes' else result.value:g} {unit}".rstrip()
    return _spread(result.value, unit)


def _spread(values: Mapping[str, float], unit: str) -> str:
    """Spell many measurements by the median, the extremes and the last percentile; JSON has them all."""
    order = (
        "before",
        "after",
        "average",
        "median",
        "min",
        "max",
        *[name for name in values if name.startswith("p")][-1:],
    )
    return ", ".join(f"{name} {values[name]:g} {unit}" for name in order if name in values)
