"""A times file (``--exportTimes``) as text and as JSON: how many inferences, and how their times spread."""

from collections.abc import Sequence
from statistics import fmean, median, quantiles

from trtforensics.console.terminal import visible
from trtforensics.model.timings import InferenceTimes
from trtforensics.render.json_text import document_of, render

SCHEMA = 1
_PERCENTILES = (90, 95, 99)
_RECORD_DEPTH = 2


def summarise(times: InferenceTimes) -> str:
    """Return the summary of each run, times in ms."""
    lines = []
    for number, run in enumerate(times.runs, 1):
        several = f", run {number} of {len(times.runs)}" if len(times.runs) > 1 else ""
        lines.append(f"{times.source.path}: {len(run.latency_ms):,} inferences{several}, times of no single layer")
        for what, values in (("latency", run.latency_ms), ("GPU compute", run.compute_ms)):
            stated = ", ".join(f"{name} {value:.6g}" for name, value in spread(values).items())
            lines.append(f"  {what:<12} {stated} (ms)")
    return "".join(f"{visible(line)}\n" for line in lines)


def to_json(times: InferenceTimes) -> str:
    """Return the document, schema 1."""
    runs = [document_of("times_run", run, {"spread": spread}) for run in times.runs]
    document = {"schema": SCHEMA, "kind": "times", "source": document_of("source", times.source), "runs": runs}
    return render(document, _RECORD_DEPTH)


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return how one or more times spread: ``min``, ``max``, ``mean``, ``median``, ``p90``, ``p95`` and ``p99``."""
    cuts = quantiles(values, n=100, method="inclusive") if len(values) > 1 else [values[0]] * 99
    named = {f"p{percent}": cuts[percent - 1] for percent in _PERCENTILES}
    return {"min": min(values), "max": max(values), "mean": fmean(values), "median": median(values), **named}
