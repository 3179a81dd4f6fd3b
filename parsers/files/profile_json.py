"""Reads layer times as JSON: ``trtexec --exportProfile`` (TensorRT 7 to 10.16). A file holds a list for each run.

A run is ``[{"count": N}, {"name", "timeMs", "averageMs", "medianMs", "percentage"}, …]``; up to 8.0 without the median.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics.errors import NotEngineInfoError
from trtforensics.model.engine import ProfileInfo
from trtforensics.model.profile import LayerTime, ProfileRun
from trtforensics.parsers.files.json_records import PlacedJson, PlacedValue

if TYPE_CHECKING:
    from trtforensics.parsers.text.document import Document

_DEPTH = 1
_NEXT_STEP = "Give what `trtexec --exportProfile` wrote"


def read_profile_json(document: Document) -> ProfileInfo:
    """Read a profile file.

    Raises:
        NotEngineInfoError: it is no JSON, it is truncated, or it is JSON of another kind; it says where.
    """
    info = document.info
    records = PlacedJson(document.data.decode("utf-8", "replace"), info.path)
    runs = tuple(_run(record) for record in records.documents(_DEPTH))
    if not runs:
        raise NotEngineInfoError(info.path, "the file is empty", _NEXT_STEP)
    return ProfileInfo(info, runs, tuple(records.repairs))


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
