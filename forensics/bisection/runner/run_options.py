"""The options of a run, apart from what it searches: one object from the command line to the runner."""

from dataclasses import dataclass
from typing import Literal

from trtforensics.bisection.runner.command import DEFAULT_NEED
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

    confidence: float | None = option("--confidence", type=probability)
    max_builds: int | None = option("--max-builds", type=count)
    find: Literal["first", "all"] = option("--find", default="all", choices=("first", "all"))
    retry_unresolved: bool = option("--retry-unresolved", default=False)
    build: str | None = option("--build")
    check: str | None = option("--check")
    timeout: float | None = option("--timeout", type=seconds)
    repeat: int = option("--repeat", default=1, type=count)
    jobs: int | None = option("--jobs", type=count)
    gpus: tuple[str, ...] = option("--gpus", default=(), type=words)
    executor: str | None = option("--executor", type=cluster_address)
    keep_engines: KeepEngines = option("--keep-engines", default="none", choices=("none", "bad", "all"))
    need_free: int = option("--need-free", default=DEFAULT_NEED, type=size)
    forget: tuple[str, ...] = option("--forget", default=())
    build_failure: Literal["unresolved", "bad"] = option(
        "--build-failure", default="unresolved", choices=("unresolved", "bad")
    )

    @property
    def probes_at_once(self) -> int:
        """How many probes may run at once."""
        return self.jobs or len(self.gpus) or 1
