"""The job of an artifacts directory, known by its mode, content of items, build command and tool versions."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from trtforensics import __version__
from trtforensics.console.output import write_text
from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.bisect.runner.options import RunOptions

SCHEMA = 1
NAME = "job.json"

_TOOLS = ("tensorrt", "tensorrt-cu13", "tensorrt-cu12", "tensorrt-rtx", "polygraphy")
_PARTS = {
    "mode": "another mode",
    "content": "other items",
    "build": "another build command",
    "versions": "other tool versions",
}


@dataclass(frozen=True, slots=True)
class Job:
    """A job. ``items`` describe it to readers of the directory; ``content`` is what they stand for."""

    mode: str
    items: list[dict[str, object]]
    content: object
    build: str | None
    versions: dict[str, str]

    def identity(self) -> dict[str, object]:
        """Return the parts that two runs of one job have in common."""
        return {
            "mode": self.mode,
            "content": _digest(self.content),
            "build": self.build,
            "versions": self.versions,
        }

    def document(self, options: RunOptions) -> dict[str, object]:
        """Return ``job.json``: the job, and the flags of its last run."""
        identity = self.identity()
        return {
            "schema": SCHEMA,
            "kind": "bisection",
            **identity,
            "fingerprint": _digest(identity),
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
        if directory.is_dir() and any(entry.name != ".lock" for entry in directory.iterdir()):
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


def write_job(directory: Path, job: Job, options: RunOptions) -> None:
    """Write ``job.json``.

    Raises:
        OutputError: the file cannot be written.
    """
    write_text(directory / NAME, json.dumps(job.document(options), indent=1, ensure_ascii=False) + "\n")


def read_job(directory: Path) -> dict[str, object]:
    """Read ``job.json``.

    Raises:
        SourceError: it is missing, unreadable or of another schema.
    """
    path = directory / NAME
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(str(path), (error.strerror or str(error)).lower()) from error
    except ValueError as error:
        raise SourceError(str(path), f"is not the job of a bisection: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or document.get("kind") != "bisection":
        raise SourceError(str(path), f"is not the job of a bisection of schema {SCHEMA}")
    return document


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
