"""The JSON document of a log as its readers have it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trtforensics.render.log_json import to_json

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog


def document(log: BuildLog) -> dict[str, Any]:
    """Render a log and read it back."""
    read: dict[str, Any] = json.loads(to_json(log))
    return read
