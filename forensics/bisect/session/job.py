"""The job of an artifacts directory: mode, content of items, build command with what it runs and where, versions."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.scripts import surroundings_of
from trtforensics.bisect.session.history import Judge
from trtforensics.console.output import is_temporary, write_bytes
from trtforensics.console.own_files import read_own
from trtforensics.errors import SourceError, UsageError
from trtforensics.model.version import __version__
from trtforensics.parsers.text.json_bounds import check_json

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.runner.scripts import Surroundings

SCHEMA = 2
NAME = "job.json"

_SHORT = 16
"""Hex digits of a digest that are kept."""
_RESTORE = "Restore it, or name a new directory"

_TOOLS = ("tensorrt", "tensorrt-cu13", "tensorrt-cu12", "tensorrt-rtx", "polygraphy")
_PARTS = {
    "mode": "another mode",
    "content": "other items",
    "build": "another build command",
    "build_cwd": "another working directory of its build command",
    "build_programs": "a program of its build command has changed",
    "versions": "other tool versions",
}


@dataclass(frozen=True, slots=True)
class JobKey:
    """What the journal of a job is read with: the job's fingerprint, and its number of items."""

    fingerprint: str
    items: int


@dataclass(frozen=True, slots=True)
class Job:
    """A job. ``items`` describe it to readers of the directory; ``content`` is what they stand for.

    ``surroundings`` are those of the build command; None where the command means the same everywhere.
    """

    mode: str
    items: list[dict[str, object]]
    content: object
    build: str | None
    versions: dict[str, str]
    surroundings: Surroundings | None = None

    def identity(self) -> dict[str, object]:
        """Return the parts that two runs of one job have in common."""
        where = self.surroundings
        return {
            "mode": self.mode,
            "content": digest(self.content),
            "build": self.build,
            "build_cwd": where and where.cwd,
            "build_programs": dict(where.programs) if where else {},
            "versions": self.versions,
        }

    def key(self) -> JobKey:
        """Return what its journal is read with."""
        return JobKey(digest(self.identity())[:_SHORT], len(self.items))

    def document(self, options: RunOptions) -> dict[str, object]:
        """Return ``job.json``: the job, and the flags of its last run."""
        identity = self.identity()
        document = {
            "schema": SCHEMA,
            "kind": "bisection",
            **identity,
            "fingerprint": digest(identity)[:_SHORT],
            "check": options.check,
            "timeout": options.timeout,
            "confidence": options.confidence,
            "repeat": options.repeat,
            "find": options.find,
            "jobs": options.jobs,
            "cwd": os.getcwd(),  # noqa: PTH109 - as the shell sees it
            "trtforensics": __version__,
            "items": self.items,
        }
        return {**document, "sum": digest(document)[:_SHORT]}


def tool_versions() -> dict[str, str]:
    """Return the versions of the installed packages that build engines."""
    versions = {}
    for tool in _TOOLS:
        try:
            versions[tool] = metadata.version(tool)
        except metadata.PackageNotFoundError:
            continue
    return versions


def check_directory(directory: Path, job: Job) -> None:
    """Refuse a directory of another job, or with other files in it; the directory is not changed.

    Raises:
        UsageError: it is not this job's.
        SourceError: its ``job.json`` cannot be read.
    """
    path = directory / NAME
    if not path.exists():
        if directory.is_dir() and not all(_is_left_behind(entry.name) for entry in directory.iterdir()):
            raise UsageError(
                str(directory), "holds files, but no bisection or collection", "Name an empty or a new directory"
            )
        return
    there = read_job(directory)
    identity = job.identity()
    differs = [text for part, text in _PARTS.items() if there.get(part) != identity[part]]
    if differs:
        what = f"belongs to another job ({', '.join(differs)}); it was left untouched"
        raise UsageError(str(directory), what, "Name another `--artifacts-dir`")


def _is_left_behind(name: str) -> bool:
    """Whether a run that was killed at its start may leave such a file."""
    return name == ".lock" or is_temporary(name)


def write_job(directory: Path, job: Job, options: RunOptions) -> None:
    """Write ``job.json``.

    Raises:
        OutputError: the file cannot be written.
    """
    write_bytes(directory / NAME, json_bytes(job.document(options)))


def json_bytes(document: object) -> bytes:
    """Return a document as JSON; a lone surrogate, from a name that is no UTF-8, becomes its JSON escape."""
    return f"{json.dumps(document, indent=1, ensure_ascii=False)}\n".encode(errors="backslashreplace")


def read_job(directory: Path) -> dict[str, object]:
    """Read ``job.json``.

    Raises:
        SourceError: it is missing, unreadable, damaged or of another schema.
    """
    path = directory / NAME
    try:
        data = read_own(path)
        check_json(data, str(path), _RESTORE)
        document = json.loads(data)
    except FileNotFoundError as error:
        raise SourceError(str(path), "no such file or directory") from error
    except (ValueError, RecursionError) as error:
        raise SourceError(str(path), f"is not the job of a bisection: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != "bisection" or document.get("schema") != SCHEMA:
        raise SourceError(str(path), f"is not the job of a bisection of schema {SCHEMA}", "Name a new directory")
    sealed = {name: value for name, value in document.items() if name != "sum"}
    if not isinstance(document.get("items"), list) or document.get("sum") != digest(sealed)[:_SHORT]:
        raise SourceError(str(path), "is damaged: its checksum does not match", _RESTORE)
    return document


def names_of(document: dict[str, object]) -> list[str]:
    """Return the names of a job's items."""
    items = document["items"]
    return [str(item.get("item")) for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def key_of(document: dict[str, object]) -> JobKey:
    """Return what the journal beside a ``job.json`` is read with."""
    items = document["items"]
    return JobKey(str(document["fingerprint"]), len(items) if isinstance(items, list) else 0)


def judge_of(settings: str, options: RunOptions) -> Judge:
    """Return what decides verdicts; ``settings`` are the lever's. Probes with another judge must be judged again.

    A check is known by its command, its working directory, and the programs that it names.
    """
    check = options.check
    if check is None:
        return Judge(digest({"settings": settings})[:_SHORT], by_build=not settings)
    where = surroundings_of(check)
    parts = {"check": check, "repeat": options.repeat, "settings": settings, "cwd": where.cwd}
    return Judge(digest({**parts, "programs": dict(where.programs)})[:_SHORT])


def digest(data: object) -> str:
    """Return the SHA-256 of JSON data, in hex."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
