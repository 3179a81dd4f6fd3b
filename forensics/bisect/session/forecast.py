"""The forecast of ``--dry-run``: the cost of a bisection before any probe runs."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from trtforensics.bisect.session.artifacts import PROBES
from trtforensics.bisect.session.bisection import job_of
from trtforensics.bisect.session.job import check_directory
from trtforensics.bisect.session.journal import read_journal
from trtforensics.bisect.session.report import duration
from trtforensics.console.output import explained
from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.search import Outlook
    from trtforensics.bisect.session.lever import Lever

SCHEMA = 1
KIND = "forecast"
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Forecast:
    """The items to search, and the cost of the search.

    ``expected_builds`` and ``worst_builds`` are those left until one culprit is certified, where probes run one at a
    time; ``second_checks`` of them are checked twice. ``done`` probes are in the directory already. Times are in
    seconds and sizes in bytes; ``probe_seconds`` and ``probe_bytes`` are means. Times are None until a probe has run
    (``measured``), and ``worst_seconds`` is None without ``--timeout``.
    """

    schema: int
    kind: str
    mode: str
    items: tuple[str, ...]
    atoms: int
    edges: int
    expected_builds: float
    worst_builds: int
    second_checks: int
    done: int
    measured: bool
    probe_seconds: float | None
    expected_seconds: float | None
    worst_seconds: float | None
    probe_bytes: int
    expected_bytes: int
    free_bytes: int

    def to_json(self) -> str:
        """Return the forecast as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def forecast(lever: Lever, outlook: Outlook, options: RunOptions, directory: Path) -> Forecast:
    """Work out what a bisection would cost; the directory stays as it is.

    Raises:
        UsageError: the directory is another job's.
        SourceError: its journal cannot be read.
    """
    job = job_of(lever, options)
    check_directory(directory, job)
    history = read_journal(directory, job.key())
    probes = [probe for probe in history.probes.values() if probe.finished]
    seconds = mean(finished.seconds for probe in probes for finished in probe.finished) if probes else None
    sizes = [_size(directory / PROBES / probe.folder) for probe in probes]
    size = round(mean(sizes)) if sizes else _inputs_size(lever)
    return Forecast(
        schema=SCHEMA,
        kind=KIND,
        mode=lever.mode,
        items=tuple(item.name for item in lever.items),
        atoms=len(outlook.atoms),
        edges=len(lever.edges),
        expected_builds=outlook.expected,
        worst_builds=outlook.worst,
        second_checks=outlook.checks,
        done=len(probes),
        measured=bool(probes),
        probe_seconds=seconds,
        expected_seconds=None if seconds is None else seconds * outlook.expected / options.jobs,
        worst_seconds=_worst(outlook, options),
        probe_bytes=size,
        expected_bytes=round(size * outlook.expected),
        free_bytes=_free(directory),
    )


def forecast_text(cost: Forecast) -> str:
    """Return a forecast as text."""
    more = [f"  … {len(cost.items) - _SHOWN:,} more"] if len(cost.items) > _SHOWN else []
    done = f"; {cost.done} done in this directory" if cost.done else ""
    builds = f"about {cost.expected_builds:.0f}, at most {cost.worst_builds}"
    second = f"; {cost.second_checks} checks more, to see the same twice" if cost.second_checks else ""
    lines = [
        f"items: {len(cost.items):,}, in atoms: {cost.atoms:,}, edges: {cost.edges:,}",
        *(f"  {name}" for name in cost.items[:_SHOWN]),
        *more,
        f"builds: {builds}, if one item is the culprit and probes run one at a time{second}{done}",
        f"time: {_time(cost)}",
        f"disk: {_disk(cost)}",
    ]
    return "".join(f"{visible(line)}\n" for line in lines)


def _time(cost: Forecast) -> str:
    bound = "without --timeout there is no bound"
    if cost.worst_seconds is not None:
        bound = f"at most {duration(cost.worst_seconds)} by --timeout"
    if cost.expected_seconds is None:
        return f"not known before a probe has run; {bound}"
    return f"about {duration(cost.expected_seconds)} ({cost.probe_seconds:.1f} s a probe so far); {bound}"


def _disk(cost: Forecast) -> str:
    about = f"about {cost.expected_bytes:,} bytes ({cost.probe_bytes:,} a probe), {cost.free_bytes:,} free"
    return about if cost.measured else f"{about}; engines and logs not counted"


def _worst(outlook: Outlook, options: RunOptions) -> float | None:
    if options.timeout is None:
        return None
    commands = (options.build is not None) + (options.check is not None) * options.repeat
    return (outlook.worst * commands + outlook.checks * options.repeat) * options.timeout


def _inputs_size(lever: Lever) -> int:
    """Return the size of the input files of a probe with every item from bad, written to a temporary folder."""
    with tempfile.TemporaryDirectory() as scratch, explained(scratch):
        lever.prepare(frozenset(range(len(lever.items))), Path(scratch))
        return _size(Path(scratch))


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _free(directory: Path) -> int:
    """Return the free bytes of the disk that the directory is or would be on."""
    there = next(path for path in (directory.absolute(), *directory.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free
