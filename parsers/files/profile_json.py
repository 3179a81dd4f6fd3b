"""Reads the times that trtexec exports as JSON; a file holds a list for each run.

``--exportProfile`` (TensorRT 7 to 10.16) has the times of layers:
``[{"count": N}, {"name", "timeMs", "averageMs", "medianMs", "percentage"}, …]``; up to 8.0 without the median.
``--exportTimes`` has inferences: ``[{"startEnqMs", "endEnqMs", …, "computeMs", …, "latencyMs"}, …]``. The other keys
changed over the versions: what TensorRT 7 calls ``startInMs``, ``inMs`` and ``outMs``, later versions call
``startH2dMs``, ``h2dMs`` and ``d2hMs``.
"""

from typing import Any

from trtforensics.errors import NotEngineInfoError
from trtforensics.model.engine import ProfileInfo
from trtforensics.model.timings import InferenceSamples, InferenceTimes, LayerTime, ProfileRun
from trtforensics.parsers.files.exported_json import PlacedValue, each_document
from trtforensics.parsers.text.document import Document

_DEPTH = 1
_NEXT_STEP = "Give what `trtexec --exportProfile` wrote"


def read_profile_json(document: Document) -> ProfileInfo:
    """Read a profile file.

    Raises:
        NotEngineInfoError: it is no JSON, it is truncated, or it is JSON of another kind; it says where.
    """
    return ProfileInfo(document.info, *each_document(document, _DEPTH, _run, _NEXT_STEP))


def _run(record: PlacedValue) -> ProfileRun:
    rows = record.value if isinstance(record.value, list) else []
    count = rows[0].value.get("count") if rows and isinstance(rows[0].value, dict) else None
    if not isinstance(count, int):
        raise NotEngineInfoError(str(record.span), 'is no list that begins with a "count"', _NEXT_STEP)
    return ProfileRun(count, tuple(_layer(row) for row in rows[1:]), record.span)


def _layer(record: PlacedValue) -> LayerTime:
    value = record.value if isinstance(record.value, dict) else {}
    name = value.get("name")
    if not isinstance(name, str):
        raise NotEngineInfoError(str(record.span), "an entry has no name", _NEXT_STEP)
    total, average, median, share = (_number(value.get(k)) for k in ("timeMs", "averageMs", "medianMs", "percentage"))
    if total is None or average is None:
        raise NotEngineInfoError(str(record.span), f"the entry {name!r} has no timeMs or no averageMs", _NEXT_STEP)
    return LayerTime(name, total, average, median, share or 0.0, record.span)


def _number(value: Any) -> float | None:  # noqa: ANN401 - whatever JSON has there
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


_WHAT_TO_GIVE = "Give what `trtexec --exportTimes` wrote"
_ENDS = ("endD2hMs", "endOutMs", "endComputeMs")


def read_times_json(document: Document) -> InferenceTimes:
    """Read a times file.

    Raises:
        NotEngineInfoError: it is no JSON, it is truncated, or it is JSON of another kind; it says where.
    """
    runs, _ = each_document(document, 0, _samples, _WHAT_TO_GIVE)
    return InferenceTimes(document.info, runs)


def _samples(record: PlacedValue) -> InferenceSamples:
    rows = record.value
    if not isinstance(rows, list) or not rows:
        raise NotEngineInfoError(str(record.span), "is no list of inferences", _WHAT_TO_GIVE)
    latency = tuple(_time(row, ("latencyMs",), number, record) for number, row in enumerate(rows, 1))
    compute = tuple(_time(row, ("computeMs",), number, record) for number, row in enumerate(rows, 1))
    begin = _time(rows[0], ("startEnqMs",), 1, record)
    return InferenceSamples(latency, compute, _time(rows[-1], _ENDS, len(rows), record) - begin, record.span)


def _time(row: Any, keys: tuple[str, ...], number: int, record: PlacedValue) -> float:  # noqa: ANN401 - whatever JSON has
    value = next((row[key] for key in keys if key in row), None) if isinstance(row, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotEngineInfoError(
            str(record.span), f"inference {number} of the list has no number {keys[0]}", _WHAT_TO_GIVE
        )
    return float(value)
