"""Records in probes' folders, such as scores and failures: each with what it was judged by, and a checksum."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trtforensics.bisection.session.job import digest, json_bytes
from trtforensics.console.own_files import read_own
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SCHEMA = 2
_MOST_BYTES = 16 << 20
"""Values of a longer record would take hundreds of megabytes, and none is so long."""
_RESTORE = "Restore it, or remove it: what it is of is judged again then"


def sealed(basis: str, content: Mapping[str, object]) -> bytes:
    """Return a record as JSON: what it was judged by, and a checksum by which a changed digit shows."""
    record = {"schema": _SCHEMA, "judged_by": basis, **content}
    return json_bytes({**record, "sum": digest(record)})


def unsealed(path: Path, basis: str) -> dict[str, object] | None:
    """Return the content of a record; None where there is none of these judgements, or one of an earlier version.

    Raises:
        SourceError: it is damaged.
    """
    try:
        data = read_own(path)
    except FileNotFoundError:
        return None
    try:
        record = json.loads(data if len(data) <= _MOST_BYTES else b"")
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict) and "judged_by" not in record:
        return None
    if not isinstance(record, dict) or record.pop("sum", "") != digest(record):
        raise SourceError(str(path), "is damaged: its checksum does not match", _RESTORE)
    if record.pop("judged_by") != basis or record.pop("schema") != _SCHEMA:
        return None
    return record
