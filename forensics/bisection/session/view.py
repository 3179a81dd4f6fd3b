"""A read-only view of an artifacts directory, for the TUI and ``diff``."""

from dataclasses import dataclass
from pathlib import Path

from trtforensics.bisection.session.artifacts import FIXED, PROBES, RESULT, holder_of, is_paused
from trtforensics.bisection.session.history import Probe
from trtforensics.bisection.session.job import key_of, read_document, read_job
from trtforensics.bisection.session.journal import read_journal
from trtforensics.bisection.session.lever import DescribedItem, item_of


@dataclass(frozen=True, slots=True)
class DirectoryView:
    """The state of a directory.

    ``holder`` names the process that works on it, or is empty. ``paused``: runs start no probe. ``status`` is empty
    while there is no ``result.json``; a probe that never ended has no verdict. ``builds_left`` is an estimate, if any.
    ``run`` is the number of the last run on the directory, from 1. ``fixed`` names the files of ``fixed/``.
    """

    path: Path
    mode: str
    items: tuple[DescribedItem, ...]
    build: str | None
    check: str | None
    probes: tuple[Probe, ...]
    holder: str
    paused: bool
    status: str
    why: str
    culprits: tuple[tuple[DescribedItem, ...], ...]
    suspects: tuple[str, ...]
    builds_left: float | None
    run: int
    fixed: tuple[str, ...]

    @property
    def live(self) -> bool:
        """Whether a process works on it."""
        return bool(self.holder)

    def folder(self, probe: Probe) -> Path:
        """Return a probe's folder."""
        return self.path / PROBES / probe.folder


def view_directory(path: Path) -> DirectoryView:
    """Read a directory; while a bisection runs in it, the view ends with the last flushed line of the journal."""
    job = read_job(path)
    history = read_journal(path, key_of(job))
    answer = _read_result(path / RESULT)
    left = answer.get("builds_left")
    expected = left.get("expected") if isinstance(left, dict) else None
    return DirectoryView(
        path=path,
        mode=str(job.get("mode")),
        items=_items(job.get("items")),
        build=_text(job.get("build")),
        check=_text(job.get("check")),
        probes=tuple(history.probes[number] for number in sorted(history.probes)),
        holder=holder_of(path),
        paused=is_paused(path),
        status=str(answer.get("status", "")),
        why=str(answer.get("why", "")),
        culprits=tuple(_items(members) for members in _list(answer.get("culprits"))),
        suspects=tuple(map(str, _list(answer.get("suspects")))),
        builds_left=float(expected) if isinstance(expected, (int, float)) else None,
        run=history.runs,
        fixed=_names(path / FIXED),
    )


def _names(folder: Path) -> tuple[str, ...]:
    """Return the names in a folder; none where it cannot be listed."""
    try:
        return tuple(sorted(f"{each.name}/" if each.is_dir() else each.name for each in folder.iterdir()))
    except OSError:
        return ()


def _read_result(path: Path) -> dict[str, object]:
    try:
        document = read_document(path, "result", "Run the bisection again: it writes this file anew")
    except FileNotFoundError:
        return {}
    return document if isinstance(document, dict) else {}


def _items(value: object) -> tuple[DescribedItem, ...]:
    return tuple(item_of(each) for each in _list(value) if isinstance(each, dict))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return None if value is None else str(value)
