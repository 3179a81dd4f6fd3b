"""The JSON Schemas that are shipped, and in what a document differs from its own."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.support.repository import ROOT

SCHEMAS = ROOT / "forensics" / "render" / "schemas"
NAMES = sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.json"))
_OTHER_NAMES = {"build-log": "parse"}
"""Schemas whose name is not the kind of their documents."""


def schema(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))


@cache
def validator(name: str) -> Draft202012Validator:
    """Return what judges a document: its own fields before what they hold, which takes longer."""
    document = schema(name)
    return Draft202012Validator(dict(sorted(document.items(), key=lambda field: field[0] == "properties")))


def problems(document: Any, name: str | None = None) -> list[str]:
    """Return where a document is not as its schema says; the schema is that of its ``kind`` where none is named."""
    name = name or _OTHER_NAMES.get(document["kind"], document["kind"])
    return [f"{name}: {error.json_path}: {error.message[:120]}" for error in validator(name).iter_errors(document)]
