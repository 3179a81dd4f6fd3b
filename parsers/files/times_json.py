"""Reads the times of each inference as JSON: ``trtexec --exportTimes``. A file holds a list for each run.

An inference is ``{"startEnqMs", "endEnqMs", …, "computeMs", …, "latencyMs"}``. Its other keys changed over the
versions: what TensorRT 7 calls ``startInMs``, ``inMs`` and ``outMs``, later versions call ``startH2dMs``, ``h2dMs`` and
``d2hMs``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.errors import NotEngineInfoError
from trtforensics.model.samples import InferenceSamples, InferenceTimes
from trtforensics.parsers.files.json_records import PlacedJson, PlacedValue

if TYPE_CHECKING:
    from trtforensics.parsers.text.document import Document

_NEXT_STEP = "Give what `trtexec --exportTimes` wrote"
_ENDS = ("endD2hMs", "endOutMs", "endComputeMs")


def read_times_json(document: Document) -> InferenceTimes:
    """Read a times file.

    Raises:
        NotEngineInfoError: it is no JSON, it is truncated, or it is JSON of another kind; it says where.
    """
    info = document.info
    records = PlacedJson(document.data.decode("utf-8", "replace"), info.path).documents(0)
    runs = tuple(_run(record) for record in records)
    if not runs:
        raise NotEngineInfoError(info.path, "the file is empty", _NEXT_STEP)
    return InferenceTimes(info, runs)


def _run(record: PlacedValue) -> InferenceSamples:
    rows = record.value
    if not isinstance(rows, list) or not rows:
        raise NotEngineInfoError(str(record.span), "is no list of inferences", _NEXT_STEP)
    latency = tuple(_time(row, ("latencyMs",), number, record) for number, row in enumerate(rows, 1))
    compute = tuple(_time(row, ("computeMs",), number, record) for number, row in enumerate(rows, 1))
    begin = _time(rows[0], ("startEnqMs",), 1, record)
    return InferenceSamples(latency, compute, _time(rows[-1], _ENDS, len(rows), record) - begin, record.span)


def _time(row: Any, keys: tuple[str, ...], number: int, record: PlacedValue) -> float:  # noqa: ANN401 - whatever JSON has
    value = next((row[key] for key in keys if key in row), None) if isinstance(row, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotEngineInfoError(
            str(record.span), f"inference {number} of the list has no number {keys[0]}", _NEXT_STEP
        )
    return float(value)
