"""The identity of a directory's job, and of its verdicts: commands, the content of what they name, settings."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from trtforensics.bisection.checks import builtin_of
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.runner.surroundings import Surroundings, differing, surroundings_of
from trtforensics.bisection.session.history import History, JobKey, Judge
from trtforensics.bisection.session.journal import read_journal
from trtforensics.bisection.session.lever import DescribedItem
from trtforensics.console.counting import listed
from trtforensics.console.output import is_temporary, write_bytes
from trtforensics.console.own_files import is_there, read_own
from trtforensics.errors import SourceError, UsageError
from trtforensics.model.version import __version__
from trtforensics.parsers.text.document import check_json
from trtforensics.render.json_text import document_of

Document = dict[str, object]

SCHEMA = 3
_SCHEMA_OF_PROGRAMS = 2
"""Of version 0.2.0, which notes the programs of the build command and no other file."""
NAME = "job.json"

_RECORD_SCHEMA = 2
_MOST_BYTES = 16 << 20
"""Values of a longer record would take hundreds of megabytes, and none is so long."""
_RESTORE_RECORD = "Restore it, or remove it: what it is of is judged again then"

_SHORT = 16
"""Hex digits of a digest that are kept."""
_RESTORE = "Restore it, or name a new directory"

_TOOLS = ("tensorrt", "tensorrt-cu13", "tensorrt-cu12", "tensorrt-rtx", "polygraphy")
_PARTS = {
    "mode": "another mode",
    "content": "other items",
    "build": "another build command",
    "build_cwd": "another working directory of its build command",
    "versions": "other tool versions",
}


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its ``items`` for readers, the ``content`` that they stand for, where its build command, if any, runs."""

    mode: str
    items: Sequence[DescribedItem]
    content: object
    build: str | None
    versions: dict[str, str]
    surroundings: Surroundings | None = None

    def identity(self) -> Document:
        """Return the parts that two runs of one job have in common."""
        where = self.surroundings
        return {
            "mode": self.mode,
            "content": digest(self.content),
            "build": self.build,
            "build_cwd": where and where.cwd,
            "build_inputs": dict(where.inputs) if where else {},
            "versions": self.versions,
        }

    def key(self, stored: Document | None = None) -> JobKey:
        """Return what the journal is read with: what ``job.json`` says, where there is one."""
        return JobKey(digest(self.identity())[:_SHORT], len(self.items)) if stored is None else key_of(stored)

    def knows_builds(self, stored: Document) -> bool:
        """Whether the builds of a directory are of these inputs; an earlier version may not have noted all of them."""
        return stored["schema"] == SCHEMA or stored.get("build_programs") == self.identity()["build_inputs"]

    def document(self, options: RunOptions, key: JobKey) -> Document:
        """Return ``job.json``: the job, and the flags of its last run."""
        identity = self.identity()
        document = {
            "schema": SCHEMA,
            "kind": "bisection",
            **identity,
            "fingerprint": key.fingerprint,
            **document_of("run_options", options),
            "cwd": os.getcwd(),  # noqa: PTH109 - as the shell sees it
            "trtforensics": __version__,
            "items": [item.document() for item in self.items],
        }
        return {**document, "sum": digest(document)[:_SHORT]}


def tool_versions() -> dict[str, str]:
    """Return the versions of the installed packages that build engines."""
    return versions_of(_TOOLS)


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    versions = {}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def check_directory(directory: Path, job: Job) -> Document | None:
    """Return a directory's ``job.json``, None if it is new; a UsageError or SourceError where it is not this job's."""
    path = directory / NAME
    if not is_there(path):
        if directory.is_dir() and not all(
            path.name == ".lock" or is_temporary(path.name)  # a run that was killed at its start leaves these
            for path in directory.iterdir()
        ):
            what = "holds files, but no bisection or collection"
            raise UsageError(str(directory), what, "Name an empty or a new directory")
        return None
    document = read_job(directory)
    identity = job.identity()
    differs = [text for part, text in _PARTS.items() if document.get(part) != identity[part]]
    if not differs and len(names_of(document)) != len(job.items):
        differs = [f"{len(names_of(document))} items, which an earlier trtforensics made of the same input"]
    if not differs and (names := _changed_inputs(directory, job, document)):
        differs = [f"{listed(names)} of its build command changed"]
    if differs:
        what = f"belongs to another job ({', '.join(differs)}); it was left untouched"
        raise UsageError(str(directory), what, "Name another `--artifacts-dir`")
    return document


def _changed_inputs(directory: Path, job: Job, document: Document) -> list[str]:
    """Return what the build command names and has changed, but for what builds were seen to write."""
    now = job.surroundings.inputs if job.surroundings else {}
    is_old = document["schema"] == _SCHEMA_OF_PROGRAMS
    before = document.get("build_programs" if is_old else "build_inputs")
    noted = before if isinstance(before, dict) else {}
    names = [name for name in differing(noted, now) if name in noted or not is_old]
    written = read_journal(directory, key_of(document)).written if names else frozenset()
    return [name for name in names if name not in written]


def write_job(directory: Path, job: Job, options: RunOptions, key: JobKey | None = None) -> None:
    """Write ``job.json``; ``key`` is that of the journal that is there."""
    write_bytes(directory / NAME, json_bytes(job.document(options, key or job.key())))


def to_json(document: object) -> str:
    """Return a document as JSON."""
    return f"{json.dumps(document, indent=1, ensure_ascii=False)}\n"


def json_bytes(document: object) -> bytes:
    """Return a document as JSON; a lone surrogate, from a name that is no UTF-8, becomes its JSON escape."""
    return to_json(document).encode(errors="backslashreplace")


def read_job(directory: Path) -> Document:
    """Read ``job.json``; a SourceError where it is missing, unreadable, damaged or of another schema."""
    path = directory / NAME
    try:
        document = read_document(path, "job", _RESTORE)
    except FileNotFoundError as error:
        raise SourceError(str(path), "no such file or directory") from error
    is_job = isinstance(document, dict) and document.get("kind") == "bisection"
    if not is_job or document.get("schema") not in (_SCHEMA_OF_PROGRAMS, SCHEMA):
        raise SourceError(str(path), f"is not the job of a bisection of schema {SCHEMA}", "Name a new directory")
    content: Document = {name: value for name, value in document.items() if name != "sum"}
    if not isinstance(document.get("items"), list) or document.get("sum") != digest(content)[:_SHORT]:
        raise SourceError(str(path), "is damaged: its checksum does not match", _RESTORE)
    return content


def read_document(path: Path, what: str, next_step: str) -> Any:  # noqa: ANN401 - the JSON data of a file
    """Read a JSON file of a directory; a FileNotFoundError where there is none, a SourceError where it is damaged."""
    try:
        data = read_own(path)
        check_json(data, str(path), next_step)
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SourceError(str(path), f"is not the {what} of a bisection: {error}") from error


def names_of(document: Document) -> list[str]:
    """Return the names of a job's items."""
    items = document["items"]
    return [str(item.get("item")) for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def key_of(document: Document) -> JobKey:
    """Return what the journal beside a ``job.json`` is read with."""
    items = document["items"]
    return JobKey(str(document["fingerprint"]), len(items) if isinstance(items, list) else 0)


def judge_of(settings: str, options: RunOptions, directory: Path) -> Judge:
    """Return all that verdicts depend on beside the job; ``settings`` are the lever's.

    A verdict of a check command does not depend on our version; one by a built-in check, by scores or by failures does.
    """
    check = options.check
    where = Surroundings("") if check is None else surroundings_of(check, directory)
    basis: Document = {
        "check": check,
        "cwd": where.cwd,
        "inputs": dict(where.inputs),
        "repeat": 1 if check is None else options.repeat,
        "version": __version__ if settings or builtin_of(check or "") else None,
    }
    parts = {**basis, "settings": settings}
    by_build = check is None and not settings
    return Judge(digest(parts)[:_SHORT], by_build, digest(basis)[:_SHORT], parts, where.paths)


def basis_of(judge: Judge, history: History) -> str:
    """Return the basis of the first judge of a directory that was the same, but for settings and what probes write."""
    settings = judge.parts["settings"]
    for parts in history.judges.values():
        if not judge.changes({**parts, "settings": settings}, history.written):
            return digest({name: part for name, part in parts.items() if name != "settings"})[:_SHORT]
    return judge.basis


def digest(data: object) -> str:
    """Return the SHA-256 of JSON data, in hex."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def sealed(basis: str, content: Mapping[str, object]) -> bytes:
    """Return a record as JSON: what it was judged by, and a checksum by which a changed digit shows."""
    record = {"schema": _RECORD_SCHEMA, "judged_by": basis, **content}
    return json_bytes({**record, "sum": digest(record)})


def unsealed(path: Path, basis: str) -> dict[str, object] | None:
    """Return the content of a record, None where it is not of these judgements; a SourceError where it is damaged."""
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
        raise SourceError(str(path), "is damaged: its checksum does not match", _RESTORE_RECORD)
    if record.pop("judged_by") != basis or record.pop("schema") != _RECORD_SCHEMA:
        return None
    return record
