"""The options of a run, apart from what it searches: one object from the command line to the runner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trtforensics.bisect.runner.room import DEFAULT_NEED
from trtforensics.model.older_python import StrEnum


class KeepEngines(StrEnum):
    """Which probes' engine files stay."""

    NONE = "none"
    BAD = "bad"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of ``bisect`` and ``collect``; all but ``build`` may change between the runs on a directory.

    ``timeout`` is in seconds for each command, ``repeat`` the number of checks of each build, ``executor`` empty for
    this machine or ``dask://HOST:PORT``. ``need_free`` is in bytes. ``forget`` names the probes whose verdicts are
    taken back (``verdicts``: all of them), ``from_log`` a file of ``bisect log`` whose verdicts are taken over.
    """

    build: str | None = None
    check: str | None = None
    timeout: float | None = None
    confidence: float | None = None
    repeat: int = 1
    jobs: int = 1
    gpus: tuple[str, ...] = ()
    max_builds: int | None = None
    find: Literal["first", "all"] = "all"
    keep_engines: KeepEngines = KeepEngines.NONE
    build_failure_is_bad: bool = False
    executor: str = ""
    quiet: bool = False
    retry_unresolved: bool = False
    need_free: int = DEFAULT_NEED
    forget: tuple[str, ...] = ()
    from_log: str = ""
