"""The JSON Schemas that are shipped hold for what the commands print."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.repository import LOGS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCHEMAS = ROOT / "forensics" / "render" / "schemas"
GOLDEN = sorted((ROOT / "tests" / "golden" / "json").glob("*.json"))
SMALL = 60_000
"""Bytes of a log of the corpus that the schemas are tried on; larger ones have the same records, only more."""
COMMANDS = {
    "doctor": ("doctor", "--json"),
    "parse": ("parse", "--json", str(min(LOGS.glob("*.log")))),
}


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")))


def printed(*words: str) -> Any:
    line = [sys.executable, "-m", "trtforensics", *words]
    return json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_every_schema_is_a_schema(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints_is_as_its_schema_says(name: str) -> None:
    document = printed(*COMMANDS[name])
    validator(name).validate(document)
    missing = {key: value for key, value in document.items() if key != "schema"}
    assert list(validator(name).iter_errors(missing))  # the schema refuses something


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_every_golden_document_of_parse_is_as_its_schema_says(path: Path) -> None:
    validator("parse").validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.corpus
def test_parse_prints_real_logs_as_its_schema_says(corpus: Path) -> None:
    logs = [path for path in sorted((corpus / "buildlog").rglob("*")) if path.is_file() and path.stat().st_size < SMALL]
    assert logs
    judge, judged = validator("parse"), 0
    for path in logs:
        line = [sys.executable, "-m", "trtforensics", "parse", "--json", str(path)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        document = json.loads(done.stdout) if done.returncode == 0 else {}
        if document.get("kind") == "build-log":
            errors = [f"{path.name}: {error.json_path}: {error.message[:80]}" for error in judge.iter_errors(document)]
            assert not errors[:5]
            judged += 1
    assert judged
