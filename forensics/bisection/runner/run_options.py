"""The options of a run, apart from what it searches: one object from the command line to the runner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trtforensics.bisection.runner.disk_space import DEFAULT_NEED
from trtforensics.console.arguments import count, option, probability, seconds, size, words
from trtforensics.console.cluster import cluster_address

KeepEngines = Literal["none", "bad", "all"]
"""Which probes' engine files stay."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of ``bisect``, ``collect`` and ``reduce``; all but ``build`` may change between runs on a directory.

    ``timeout`` is in seconds for each command, ``repeat`` the number of checks of each build. ``need_free`` is in
    bytes. ``forget`` names the probes whose verdicts are taken back (``verdicts``: all of them).
    """

    confidence: float | None = option(
        "--confidence",
        type=probability,
        metavar="P",
        help="for noisy outcomes: search until the answer is right with this probability, such as 0.99",
    )
    max_builds: int | None = option(
        "--max-builds", type=count, metavar="N", help="stop after N builds, counting those of earlier runs"
    )
    find: Literal["first", "all"] = option(
        "--find", default="all", choices=("first", "all"), help="stop at one set, or go on (default: all)"
    )
    retry_unresolved: bool = option(
        "--retry-unresolved", default=False, help="build again what earlier runs here could not judge"
    )
    build: str | None = option("--build", metavar="CMD", help="the command that builds a probe")
    check: str | None = option(
        "--check",
        metavar="CMD",
        help="judges a probe: a command, or builtin:finite, rows, repeat, against:FILE (default: build's status)",
    )
    timeout: float | None = option(
        "--timeout",
        type=seconds,
        metavar="S",
        help="end a build or a check after S seconds; its probe is then unresolved",
    )
    repeat: int = option(
        "--repeat", default=1, type=count, metavar="N", help="check each build N times; all must agree"
    )
    jobs: int | None = option(
        "--jobs", type=count, metavar="P", help="run P probes at once (default: 1, or one for each GPU)"
    )
    gpus: tuple[str, ...] = option(
        "--gpus", default=(), type=words, metavar="0,1", help="give each running probe one of these GPUs"
    )
    executor: str | None = option(
        "--executor", type=cluster_address, metavar="dask://HOST:PORT", help="run probes on a Dask cluster's workers"
    )
    keep_engines: KeepEngines = option(
        "--keep-engines", default="none", choices=("none", "bad", "all"), help="which engines stay (default: none)"
    )
    need_free: int = option(
        "--need-free",
        default=DEFAULT_NEED,
        type=size,
        metavar="SIZE",
        help="end the run where its disk has less space, such as 500M: only good verdicts count there (default: 64M)",
    )
    forget: tuple[str, ...] = option(
        "--forget",
        default=(),
        metavar="PROBE",
        help="take back the verdict of a probe, by number or folder, or of all: `verdicts`; repeat for several",
    )
    build_failure: Literal["unresolved", "bad"] = option(
        "--build-failure",
        default="unresolved",
        choices=("unresolved", "bad"),
        help="the verdict of a failed build (default: unresolved)",
    )

    @property
    def probes_at_once(self) -> int:
        """How many probes may run at once."""
        return self.jobs or len(self.gpus) or 1
