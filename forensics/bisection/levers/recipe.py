"""The recipe by which our build child builds a model, shared by the levers; and why a build failed."""

import json
import re
import shlex
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ENGINE, ProbeOutcome, ProbeSpec, describe
from trtforensics.bisection.runner.surroundings import content_of
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.lever import Lever
from trtforensics.console.output import write_bytes, write_text
from trtforensics.console.own_files import is_there
from trtforensics.parsers.files.replay import check_opening, read_replay
from trtforensics.parsers.lines.dialects import is_error
from trtforensics.parsers.text.document import read_document
from trtforensics.trt.build import BUILD_MODULE, NOT_ASKED, REFUSED, BuildJob
from trtforensics.trt.build_levers import LeverResult
from trtforensics.trt.installed import Installed, child_line

FAILURE = "failure.txt"
"""The last lines of the log of a build that failed."""

FAILURE_LINES = 20
LOG = "build.log"
_RAISED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception)\b")
"""The start of the last line of a Python traceback; buffered lines of the log may follow it."""
_WORDS = 200
"""Characters of a log's line that a reason quotes."""
JOB = "build-job.json"
REPORT = "build-report.json"


def build_command() -> str:
    """Return the command that builds a probe's job: a refused model is bad, an exception (1) says nothing."""
    return (
        f"{shlex.join(child_line(BUILD_MODULE))} {{dir}}/{JOB} > {{log}} 2>&1; s=$?; "
        f"case $s in 0) exit 0;; {REFUSED}) exit 1;; 1|2) exit {NOT_ASKED};; *) exit $s;; esac"
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to build, and with what; see :class:`trtforensics.trt.build.BuildJob` for the fields."""

    installed: Installed
    model: Path
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    compute_capability: str | None = None
    flags: tuple[str, ...] = ()
    typed: bool = False
    level: int | None = None

    def content(self) -> dict[str, object]:
        """Return what identifies a directory's builds: model, options, TensorRT, GPU, driver."""
        content = {**asdict(self), "model": content_of(self.model)}
        del content["installed"]["routes"]
        return content

    def write(self, folder: Path, lever: Mapping[str, object]) -> None:
        """Write a probe's job; ``lever`` holds the lever's fields of the job, or others in place of the recipe's."""
        fields: dict[str, Any] = {**asdict(self), **lever}
        del fields["installed"]
        write_job(folder, self.installed.module, fields.pop("model"), **fields)


def write_job(folder: Path, module: str, model: Path, **asked: Any) -> None:  # noqa: ANN401 - the fields of a job
    """Write the job of a model's build in a folder, where its log, report and engine come to lie."""
    job = BuildJob(module, str(model), str(folder / REPORT), str(folder / ENGINE), **asked)
    write_text(folder / JOB, json.dumps(asdict(job), indent=1))


def pinned_entries(path: Path) -> list[dict[str, object]]:
    """Return the entries of a replay as a build job holds them, so that the child needs no parser."""
    replay = read_replay(read_document(str(path), check=check_opening))
    places = [{"file": entry.span.file, "line": entry.span.line, "byte": entry.span.byte} for entry in replay.entries]
    return [{**asdict(entry), "span": place} for entry, place in zip(replay.entries, places, strict=True)]


def read_report(folder: Path) -> LeverResult:
    """Read from the report of a probe's build what its lever came to; empty where the build did not get as far."""
    path = folder / REPORT
    return LeverResult(**json.loads(path.read_text(encoding="utf-8"))["lever"]) if is_there(path) else LeverResult()


def first_of(sentences: Sequence[str]) -> str:
    """Return the first sentence, and how many more there are."""
    more = f", and {len(sentences) - 1} more" if len(sentences) > 1 else ""
    return f"{sentences[0]}{more}" if sentences else ""


def keep_failure(folder: Path) -> None:
    """Keep the last lines of a failed build's log."""
    log = folder / LOG
    if is_there(log):
        with log.open("rb") as lines:
            write_bytes(folder / FAILURE, b"".join(deque(lines, FAILURE_LINES)))


def _last_words(folder: Path, build: Ended) -> str:
    """Return TensorRT's last error or the Python exception; "" after a timeout or a signal."""
    if build.timed_out or not 0 < build.status <= NOT_ASKED:
        return ""
    lines = (folder / FAILURE).read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in lines if _RAISED.match(line)] or [*filter(is_error, lines)]
    return f", {errors[-1].strip()[:_WORDS]}" if errors else ""


class RecipeLever(Lever):
    """A lever whose builds are our own where it has a recipe; else the user's command builds."""

    def __init__(self, recipe: Recipe | None) -> None:
        self._recipe = recipe
        self.build = None if recipe is None else build_command()

    def prepare(self, active: frozenset[int], folder: Path) -> Mapping[str, Path]:
        """Write the file that a build reads, and the job of a build of our own."""
        path = folder / self.file
        write_text(path, self._text(active))
        if self._recipe is not None:
            self._recipe.write(folder, self._job(active, path))
        return {self.placeholder: path}

    @abstractmethod
    def _text(self, active: frozenset[int]) -> str:
        """Return the file of a probe."""

    @abstractmethod
    def _job(self, active: frozenset[int], path: Path) -> Mapping[str, object]:
        """Return the lever's fields of a job; ``path`` is the file of the probe."""

    def verify(self, active: frozenset[int], folder: Path) -> str:  # noqa: ARG002 - the report has what was asked
        """Say how our own build differs from what was asked."""
        return "" if self._recipe is None else first_of(read_report(folder).differs)

    def run(self, spec: ProbeSpec, commands: Callable[[ProbeSpec], ProbeOutcome]) -> ProbeOutcome:
        """Run a probe; explain a failed build of our own by its report, and keep the end of its log."""
        outcome = commands(spec)
        build = outcome.build
        failed = outcome.verdict is not None and build is not None and (build.status != 0 or build.timed_out)
        if self._recipe is None or build is None or not failed:
            return outcome
        folder = Path(spec.folder)
        keep_failure(folder)
        refused = read_report(folder).refused
        why = first_of(refused) or f"{describe(build)}{_last_words(folder, build)}"
        reason = f"build: {why}; see {FAILURE}"
        if refused:  # a build without what was asked for says nothing, even where failed builds are bad
            return replace(outcome, verdict=Verdict.UNRESOLVED, reason=reason, unfit=reason)
        return replace(outcome, reason=reason)


class TwoSidedLever(RecipeLever):
    """A lever over what a good and a bad build chose.

    ``bans`` are the columns of the list of banned tactics, which are ``banned``; ``hint`` follows the repair's line.
    """

    bans: tuple[str, ...]
    banned: str
    hint = ""

    @abstractmethod
    def _sides(self) -> list[object]:
        """Return what each side chose, as JSON data."""

    @abstractmethod
    def _ban(self, index: int) -> tuple[str, ...]:
        """Return the row of an item's bad tactic, empty where it has none."""

    def content(self) -> object:
        """Return what both sides chose, and what builds it where that is ours."""
        return self._sides() if self._recipe is None else [*self._sides(), self._recipe.content()]

    def fix(self, culprits: Sequence[frozenset[int]], folder: Path) -> Sequence[str]:
        """Write bad's choice with the culprits from good, good's choice with those from bad, and a ban list."""
        everything, members = frozenset(range(len(self.items))), frozenset[int]().union(*culprits)
        write_text(folder / self.file, self._text(everything - members))
        write_text(folder / "culprits.json", self._text(members))
        rows = (self.bans, *filter(None, map(self._ban, sorted(members))))
        write_text(folder / "banned-tactics.tsv", "".join("\t".join(row) + "\n" for row in rows))
        return (
            f"{self.file}: the bad build's tactics, with those of the culprits from good{self.hint}",
            "culprits.json: the good build's tactics, with those of the culprits from bad (fails)",
            f"banned-tactics.tsv: {self.banned} of each culprit",
        )
