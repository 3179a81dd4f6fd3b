"""Reads this tool's own timing-cache exports: text in, :class:`~trtforensics.model.engine.TimingCache` out."""

import re
from typing import Any

from trtforensics.errors import NotATimingCacheError, NotEngineInfoError
from trtforensics.model.engine import KIND, SCHEMA, TimingCache
from trtforensics.model.log import MyelinOperation
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import Candidate
from trtforensics.parsers.files.exported_json import ExportedJson, PlacedValue
from trtforensics.parsers.text.document import Document

_DEPTH = 2
_KEY = re.compile(r"0x[0-9a-f]{32}")
_TACTIC = re.compile(r"0x[0-9a-f]{1,16}")
_NEXT_STEP = "Make one with `trtforensics cache export`"


def read_timing_cache(document: Document) -> TimingCache:
    """Read an export.

    Raises:
        NotATimingCacheError: it is no JSON, JSON of another kind or of a later schema, or a key or tactic in it is
            none; it says where.
    """
    info = document.info
    records = ExportedJson(document.data.decode("utf-8", "replace"), info.path)
    try:
        documents = list(records.documents(_DEPTH))
    except NotEngineInfoError as error:
        raise NotATimingCacheError(error.where, error.what, _NEXT_STEP) from error
    top = documents[0].value if len(documents) == 1 and isinstance(documents[0].value, dict) else {}
    keys = top.get("keys")
    if not {"schema", "kind"} <= set(top) or top["kind"].value != KIND or not keys or not isinstance(keys.value, list):
        raise NotATimingCacheError(info.path, "is no timing-cache export", _NEXT_STEP)
    if top["schema"].value != SCHEMA:
        schema = top["schema"].value
        what = f"has schema {schema if isinstance(schema, int) else '?'}, and this version reads schema {SCHEMA}"
        raise NotATimingCacheError(str(top["schema"].span), what, "Use the version of trtforensics that wrote it")
    made_from, version = (_optional_text(top, name) for name in ("made_from", "tensorrt_version"))
    return TimingCache(info, made_from or "", version, tuple(_key(record) for record in keys.value))


def _optional_text(top: dict[str, PlacedValue], name: str) -> str | None:
    if name not in top or top[name].value is None:
        return None
    value, span = top[name]
    if not isinstance(value, str):
        raise NotATimingCacheError(str(span), f"{name} is not a text", _NEXT_STEP)
    return value


def _key(record: PlacedValue) -> MyelinOperation:
    value, span = record.value, record.span
    if not isinstance(value, dict) or not _KEY.fullmatch(str(value.get("key"))):
        raise NotATimingCacheError(str(span), "a key is not 0x and 32 lower-case hexadecimal digits", _NEXT_STEP)
    candidates = value.get("candidates", [])
    if not isinstance(candidates, list) or not all(isinstance(candidate, dict) for candidate in candidates):
        raise NotATimingCacheError(str(span), "the candidates of a key are no list of objects", _NEXT_STEP)
    return MyelinOperation(
        op=str(value.get("op", "")),
        key=value["key"],
        selected=_tactic(value.get("selected"), span),
        time_ms=_time(value.get("time_ms"), span),
        candidates=tuple(_candidate(candidate, span) for candidate in candidates),
        span=span,
    )


def _candidate(value: dict[str, Any], span: SourceSpan) -> Candidate:
    tactic = _tactic(value.get("tactic"), span)
    if tactic is None:
        raise NotATimingCacheError(str(span), "a candidate has no tactic", _NEXT_STEP)
    return Candidate(tactic, _time(value.get("time_ms"), span), "", str(value.get("kernel", "")), span.line)


def _tactic(value: object, span: SourceSpan) -> int | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _TACTIC.fullmatch(value):
        raise NotATimingCacheError(str(span), f"the tactic {value!r} is not 0x and hexadecimal digits", _NEXT_STEP)
    return int(value, 16)


def _time(value: object, span: SourceSpan) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise NotATimingCacheError(str(span), f"the time {value!r} is no number of milliseconds", _NEXT_STEP)
    return float(value)
