"""How a run ended: the strongest evidence in its lines.

In order: a verdict; a comparison's pass rate; the program's own result; what ended the process, an exception or a
return code; an error after which nothing more came. Where there is no error at all: the program's own words that it is
done, the engine that was built. Else the last phase that it reached.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from trtforensics.console.counting import listed
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.run import Ending, Phase, PhaseName, RunOutcome, StepExit, SurvivedError
from trtforensics.parsers.builds.views import LinesView, Spans

_CRASHES = ("crashed", "terminated", "asserted", "myelin_assertion")
ENDS = (*_CRASHES, "host_killed", "killed_job", "interrupted", "ended_badly")
"""What says that a process ended early."""
_TIME = regex(r"\[?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[ T])?[0-9]{2}:[0-9]{2}:[0-9]{2}")
_EARLY_ENDS = (
    (("own_usage",), Ending.FAILED, "a program refused its command line"),
    (("interrupted",), Ending.INTERRUPTED, "somebody interrupted it"),
    (("host_killed", "killed_job", "ended_badly"), Ending.KILLED, "the system ended it"),
    (_CRASHES, Ending.CRASHED, "the process crashed"),
)
RAISED = ("raised_error", "raised_exception", "raised_ort")
_OWN = ("own_result", "own_result_upper", "own_tests", "own_banner", "own_gtest")
STEPS = ("step_code", "step_failure", "step_rc", "step_status")
_FAILED_ROWS = {"own_cells_fail", "own_row_cross", "own_row_fail", "own_row_empty"}
_ROWS = ("own_cells_pass", "own_row_check", "own_row_pass", *sorted(_FAILED_ROWS))
_ROW_NAME = regex(r"^\W*(?:[0-9]+[^\w,]+(?=\w))?|\W+$")
"""What stands around the name of a row."""
_CHECKS = {row["form"]: regex(row["pattern"]) for row in rows("checks", "trtforensics.parsers.builds")}
"""How programs list checks, a line each, and how they count them."""
_LISTED, _NEAR = 3, 24
"""Lines with verdicts that make a list of checks; lines that may follow the last check of a run."""
BENIGN = regex(
    r"catchCudaError|Deserialize engine failed because |Skipping tactic |Tactic Device request: |== CAPTURED STD"
    r"|FAILED \| Iteration \d|I\w+::get\w+: Error Code 3|not supported for DLA"
)
"""Errors that builds survive: TensorRT-RTX prints the first where there is no GPU, Polygraphy's debug the third last;
DeepStream the second, and builds the engine; one answers a question to an object, the last's layers go to the GPU."""
_FRAME = regex(r"  |\.\.\.|\s*$")
"""A line of a traceback's frames, or that leaves some out."""
_LAST_WORDS = 8
"""Lines that may follow an exception which ended a program: what clean-up prints."""
_WARNING = regex(r".{0,60}\bWARN(?:ING)?\b")
_GOES_ON = 3
"""Lines of a program behind an error that show that it went on."""
_GOOD = {"pass", "passed", "success", "successful", "ok", "valid"}
_SIGNALS = {2: Ending.INTERRUPTED} | dict.fromkeys((9, 13, 15), Ending.KILLED)
_SIGNALS |= dict.fromkeys((4, 6, 7, 8, 11), Ending.CRASHED)
_CODES = dict.fromkeys((-1073741819, 3221225477, -1073740791, 3221226505), Ending.CRASHED) | {124: Ending.KILLED}
"""Windows' access violation and overrun of a buffer; what ``timeout`` returns for what it ended."""
ENGINE_MADE = ("engine_generated", "engine_generated_old", "engine_built", "poly_built", "own_built")
_OWN_ENDS = ("own_end", *(f"own_end_{how}" for how in ("done", "complete", "passed", "upper", "success", "built")))
OF_BENCHMARKS = ("llm_requests", "llm_tokens")
"""The figures that benchmarks of TensorRT-LLM print last."""
LOADED = ("jetson_loaded", "engine_size", "deserialization", "engine_loaded", "engine_deserialized", "own_loaded")
_RATED = [row["kind"] for row in rows("own_figures", "trtforensics.parsers.builds") if row["of_inference"] == "yes"]
OF_INFERENCE = ("sample_profile_end", "metric_latency", "own_perf", "own_answer", *_RATED)
"""What a program states of its inferences."""
_ANNOUNCED = ("banner", "poly_run")
"""Programs that announce themselves print a verdict at their end."""
_FAILURES = [*rows("failures", "trtforensics.parsers.builds")]
"""What failed by a word of an error's text and the code of its finding, what that leaves, if a build stops by it."""
SPOILED = {row["spoils"] for row in _FAILURES}
_TOOLS = [*rows("polygraphy", "trtforensics.parsers.builds")]
"""What shows a tool of Polygraphy, where all of these kinds are there; its subcommand, and what it came to."""
_FOLDERS = regex(r"(?<!\w)\.{0,2}/(?:[^\s/]+/)*")
"""The folders of a path, whose names say nothing of what failed: ``/tmp/tritonbuild/``."""
CLEANING = regex(r"deallocate|destroy|destruct|::~|cudaFree|in free", re.IGNORECASE)
"""Errors of clean-up, which spoil nothing."""


def failure_of(text: str, code: str = "") -> tuple[str, str, bool]:
    """Return what failed by an error, what that leaves, and whether a build stops by it; empty if not known."""
    text = f"{code} {_FOLDERS.sub('', text)}"
    fitting = (
        row for row in _FAILURES if re.match(row["codes"], code) and re.search(row["words"], text, re.IGNORECASE)
    )
    row = next(fitting, None)
    return (row["failed"], row["spoils"], row["stops_build"] == "yes") if row else ("", "", False)


def polygraphy_tool(view: LinesView) -> Mapping[str, str] | None:
    """Return what a run shows of a tool of Polygraphy: the first row of their table that fits."""
    return next((row for row in _TOOLS if all(map(view.has, row["kinds"].split()))), None)


def verdicts(view: LinesView) -> list[tuple[int, str]]:
    """Return the verdicts that banners and Polygraphy print, in the order of their lines."""
    rows = (row for kind in ("banner", "poly_verdict") for row in view.each(kind, "verdict"))
    inner = inner_lines(view)
    return sorted((line, verdict) for line, verdict in rows if verdict not in {None, "RUNNING"} and line not in inner)


def inner_lines(view: LinesView) -> set[int]:
    """Return the lines that commands print which Polygraphy runs to check a model: in an iteration of ``debug``."""
    inner: set[int] = set()
    begun = 0
    for line, verdict in view.each("poly_iteration", "verdict"):
        inner.update(range(begun, line) if begun and verdict != "RUNNING" else ())
        begun = line if verdict == "RUNNING" else 0
    return inner


class _Ended(NamedTuple):
    ending: Ending
    line: int | None
    why: str
    reached: str = ""


_NO_END = "{}; no line tells how the program ended"


class RunEvidence:
    """The lines of a run that tell how it ended."""

    def __init__(self, view: LinesView, spans: Spans, phases: Sequence[Phase], inferred: Sequence[int]) -> None:
        self._view = view
        self._spans = spans
        self._phases = phases
        self._inferred = sorted([*inferred, *view.lines(*OF_INFERENCE)])
        """The lines that state something of its inferences."""
        rows, inner = view.each("message", "severity", "text"), inner_lines(view)
        errors = ((line, text) for line, level, text in rows if level == "E" and line not in inner)
        self._errors = [(line, text) for line, text in errors if not BENIGN.search(text)]
        self._told = next((each for each in reversed(self._errors) if not CLEANING.search(each[1])), None)
        """The last error that is none of clean-up, which tells what failed."""
        self._warned = {line for line, text in view.each("untyped", "text") if _WARNING.match(text)}
        """Lines that only warn of what a program called."""
        raised = view.lines(*RAISED)
        of_cells = {next((line for line in raised if line > cell), 0) for cell in view.lines("raised_cell")}
        self._raised = [line for line in raised if line not in of_cells or self._said_after(line) <= _LAST_WORDS]
        """The exceptions, without those of a notebook's cells behind which others ran."""
        self._exits = tuple(StepExit(step, code, spans.of(line)) for line, step, code in sorted(self._codes()))

    def outcome(self) -> RunOutcome:
        """Return how the run ended."""
        own, checks = self._own_result(), self._checks()
        if own is not None and checks is not None and own.ending is checks.ending:
            own = own._replace(reached=checks.reached)
        if checks is not None and checks.ending is Ending.FAILED:
            own = own or checks
        verdict = self._verdict(own) or self._comparison() or own or self._listed() or self._table()
        ended = verdict or self._process() or self._exit() or checks or self._goal_after_error()
        ended = ended or self._fatal_error() or self._own_end()
        ended = ended or self._serving() or self._last_words() or self._reached() or self._cells() or self._last_phase()
        span = None if ended.line is None else self._spans.of(ended.line)
        return RunOutcome(
            ended.ending,
            span,
            ended.why,
            self._survived(ended),
            is_verdict=verdict is not None,
            reached=ended.reached,
            exits=self._exits,
        )

    def _codes(self) -> Iterator[tuple[int, str, int]]:
        """Give the exit codes that lines state, with the step where a line names it; of a signal its negative.

        What a cell of a notebook calls may fail: others go on.
        """
        yield from ((line, "", -number) for line, number in self._view.each("signalled", "count"))
        rows = (row for kind in STEPS for row in self._view.each(kind, "step", "count"))
        steps = {line: (step, code) for line, step, code in rows}
        for kind in ("return_code", "make_code"):
            codes = self._view.each(kind, "count")
            skipped = steps.keys() | self._warned
            yield from ((line, "", code) for line, code in codes if line not in skipped and not self._cell_after(line))
        for line, (step, code) in steps.items():
            yield line, step.removesuffix("_return").removesuffix("_exit"), code

    def _verdict(self, own: _Ended | None) -> _Ended | None:
        """Return the last verdict, or the failure that a script around such programs states behind it."""
        given = verdicts(self._view)
        if not given:
            return None
        line, verdict = given[-1]
        if own is not None and own.ending is Ending.FAILED and (own.line or 0) > line:
            return own
        return _Ended(Ending.FAILED if verdict == "FAILED" else Ending.PASSED, line, f"the verdict is {verdict}")

    def _comparison(self) -> _Ended | None:
        rates = [(line, rate) for line, rate in self._view.each("poly_summary", "percent") if rate is not None]
        below = [(line, rate) for line, rate in rates if rate < 100]  # noqa: PLR2004 - percent
        if rates:
            line, rate = (below or rates)[-1]
            return _Ended(Ending.FAILED if below else Ending.PASSED, line, f"the comparison's pass rate is {rate:g} %")
        checks = list(self._view.each("poly_checked", "verdict", "text"))
        failed = [line for line, verdict, _ in checks if verdict == "FAILED"]
        if failed:
            return _Ended(Ending.FAILED, failed[-1], "outputs differ, or are not valid")
        sayings = ("All outputs matched", "Output Validation")
        whole = [line for line, _, text in checks if (text or "").startswith(sayings)]
        return _Ended(Ending.PASSED, whole[-1], "all outputs passed") if whole else None

    def _own_result(self) -> _Ended | None:
        results = [(line, verdict) for kind in _OWN for line, verdict in self._view.each(kind, "verdict")]
        tests = self._view.each("own_pytest", "text")
        results += [(line, "failed" if re.search("fail|error", str(text)) else "passed") for line, text in tests]
        nothing = [line for line in self._view.lines("own_none") if self._said_after(line) <= _LAST_WORDS]
        results += [(line, "nothing made") for line in nothing]
        results += [(line, word) for word in ("success", "failure") for line in self._view.lines(f"own_{word}")]
        metrics = {line: str(text) for line, text in self._view.each("own_gate", "text")}
        results += [(line, "failure" if "[FAILED]" in text else "passed") for line, text in metrics.items()]
        if not results:
            return None
        counts = any(verdict.lower() in {"valid", "invalid"} for _, verdict in results)  # MLPerf's: each has to be good
        line, verdict = max([each for each in results if counts and each[1].lower() not in _GOOD] or results)
        good = verdict.lower() in _GOOD
        gates = " ".join(text or "" for at, text in self._view.each("own_result", "text") if at == line)
        gates += re.sub(r"\[(\w+)\] ([\w ]+\w)", r"\2=\1", metrics.get(line, ""))
        failed, passed = (
            ", ".join(re.findall(rf"(\w+)=(?i:{words})", gates)) for words in ("fail|false", "pass|true|ok")
        )
        why = f": {failed} failed{f' ({passed} passed)' if passed else ''}" if failed else ""
        return _Ended(Ending.PASSED if good else Ending.FAILED, line, f"the program's own result is {verdict}{why}")

    def _checks(self) -> _Ended | None:
        """Return what the checks of a list came to by the program's own count, else by their lines."""
        texts = [(line, text) for line, text in self._view.each("untyped", "text") if _CHECKS["any"].search(text)]
        tests = [*self._view.each("own_gtest", "text", "verdict")]  # a line for those of each verdict
        texts += [(tests[-1][0], ", ".join(f"{text} {verdict}" for _, text, verdict in tests))] if tests else []
        read = [(line, text, _counted_checks(text)) for line, text in sorted(texts)]
        counts = [(line, count) for line, _, count in read if count is not None]
        rest = [(line, text) for line, text, count in read if count is None]
        lists = [_listed_checks(rest, form) for form in ("head", "tail", "mark")]
        marked = [line for line, _ in lists[-1].values()]  # programs mark what they say, too
        is_dense = marked and marked[-1] - marked[0] <= _LISTED * len(marked)
        before = self._view.each("untyped", "text") if is_dense else ()
        above = (text for line, text in before if 0 < marked[0] - line <= _LISTED)
        if not any(map(_CHECKS["of checks"].search, above)):
            del lists[-1]
        rows = max(lists, key=len)
        line = max([*(line for line, _ in rows.values()), *(line for line, _ in counts)], default=0)
        if not (counts or len(rows) >= _LISTED) or self._works_after(line) or self._said_after(line) > _NEAR:
            return None
        names = [name for name, (_, is_bad) in rows.items() if is_bad]
        good, bad, what = counts[-1][1] if counts else (len(rows) - len(names), len(names), "checks")
        if not (good or bad) or (counts and len(names) > bad) or (not bad and self._went_wrong(line)):
            return None
        which = f": {listed(names)}" if names else ""
        reached = f"{bad} of {good + bad} {what} failed{which}" if bad else f"all {good} {what} passed"
        return _Ended(Ending.FAILED if bad else Ending.PASSED, line, "its list of checks says so", reached)

    def _table(self) -> _Ended | None:
        """Return that rows of a table are marked as failed: those of TensorRT alone, where the table has any."""
        rows = ((kind in _FAILED_ROWS, *row) for kind in _ROWS for row in self._view.each(kind, "name"))
        named = sorted((line, is_failed, _ROW_NAME.sub("", name or "") or "TensorRT") for is_failed, line, name in rows)
        of_it = [row for row in named if re.search("(?i)tensorrt|\\btrt", row[2])] or named
        failed = {name: line for line, is_failed, name in of_it if is_failed}
        if not failed or (len(named) < 2 and not self._view.has("own_row_empty")):  # noqa: PLR2004 - a table
            return None
        why, names = f"of {len(of_it)} marked rows {len(failed)} failed", listed([*failed])
        return _Ended(Ending.FAILED, min(failed.values()), why, f"failed for {names}")

    def _process(self) -> _Ended | None:
        """Return what ended the process: the user, the system, a crash, an exception."""
        ends = ((self._view.lines(*names), ending, why) for names, ending, why in _EARLY_ENDS)
        last = [each for each in ends if each[0] and not self._works_after(each[0][-1])]
        early = [_Ended(ending, at[0], why) for at, ending, why in last if not self._cell_after(at[-1])]
        if early:
            return min(early, key=lambda ended: ended.line or 0)
        raised, heads = self._raised, self._view.lines("raised_cell", "traceback")
        if raised and not self._cell_after(raised[-1]) and self._is_uncaught(raised[-1]):
            return _Ended(Ending.FAILED, raised[-1], "an exception ended it")
        if heads and heads[-1] > max(self._view.lines(*RAISED), default=0) and self._is_cut(heads[-1]):
            return _Ended(Ending.FAILED, heads[-1], "an exception ended it, whose text is cut off")
        return None

    def _exit(self) -> _Ended | None:
        """Return what the return code says, or the program's last words of its build."""
        if self._exits:
            *_, last = self._exits
            failed = [*takewhile(lambda each: each.code, reversed(self._exits))][::-1]
            steps = {each.step: each for each in self._exits} if last.step else {}
            failed = failed or [each for each in steps.values() if each.code]
            first = failed[0] if failed else last
            whose = f"exit code of the step {first.step}" if first.step else "exit code"
            ending = _CODES.get(first.code) or _SIGNALS.get(first.signal or 0, Ending.FAILED)
            return _Ended(ending if failed else Ending.PASSED, first.span.line, f"the {whose} is {first.code}")
        clean = self._view.lines("finished_cleanly")
        if clean:
            return _Ended(Ending.PASSED, clean[-1], "the process finished cleanly")
        given_up = self._view.lines("build_failed", "build_stopped")
        if given_up and not self._view.lines(*_OWN_ENDS)[-1:] > given_up[-1:] and not self._works_after(given_up[-1]):
            return _Ended(Ending.FAILED, given_up[-1], "it says that its build failed")
        return None

    def _own_end(self) -> _Ended | None:
        """Return the program's own words that it is done; none of them counts beside an error or an exception."""
        serving = self._serving()
        if self._went_wrong() or (serving is not None and serving.ending is Ending.NONE):
            return None
        done = max(self._view.lines("own_goal", *OF_BENCHMARKS), default=0)
        begun = max(self._view.lines("own_building"), default=0)  # of a step after that which is done
        if done and done >= begun and not self._works_after(done, besides=PhaseName.INFER):
            return _Ended(Ending.PASSED, done, "it says that it is done")
        ends = self._view.lines(*_OWN_ENDS)
        if ends and not self._goes_on_after(ends[-1]):
            return _Ended(Ending.PASSED, ends[-1], "it says that it came to its end")
        return None

    def _listed(self) -> _Ended | None:
        """Return what a tool of Polygraphy came to without a verdict: a list of what a file holds, a new file."""
        tool = None if self._went_wrong() or self._view.has(*_ANNOUNCED) else polygraphy_tool(self._view)
        if tool is None or not tool["reached"]:
            return None
        last = self._view.reach(*tool["kinds"].split())[1]
        return _Ended(Ending.PASSED, last, "what it was run for is there", tool["reached"])

    def _serving(self) -> _Ended | None:
        """Return that a server takes requests, or was closed: the log of one that runs has no end."""
        since, closed = self._view.lines("own_serving"), self._view.lines("own_closed")
        if closed and (not since or closed[-1] > since[-1]):
            return _Ended(Ending.PASSED, closed[-1], "the server was closed", "served, then closed")
        if not since or (self._told is not None and self._told[0] > since[-1]):
            return None
        return _Ended(Ending.NONE, since[-1], _NO_END.format("it takes requests"), "serving")

    def _last_words(self) -> _Ended | None:
        """Return an error of another program's logger that nothing follows."""
        said = self._view.lines("said_error")
        if said and not self._said_after(said[-1]):
            return _Ended(Ending.FAILED, said[-1], "the last that it reports is an error")
        return None

    def _cells(self) -> _Ended | None:
        """Return what a notebook came to, which has no end of its own: whether a cell of it raised an exception."""
        cells, raised = self._view.lines("cell"), self._view.lines(*RAISED)
        if not cells or self._told is not None:
            return None
        if raised:
            return _Ended(Ending.NONE, raised[-1], "a cell raised an exception; others ran after it", "a cell failed")
        return _Ended(Ending.PASSED, cells[-1], "no cell raised an exception", "no cell failed")

    def _reached(self) -> _Ended | None:
        """Return what a program without verdicts came to: inferences, an engine that it built, or one that it loaded.

        Without a line that an engine is complete, one that is loaded behind the start of a build is taken to be built.
        """
        begun, loaded = self._view.lines("init_builder", "stage_original", "own_building"), self._view.lines(*LOADED)
        since = max(begun, default=0)
        if self._went_wrong(since) or self._view.has(*_ANNOUNCED):
            return None
        ran = max(self._inferred, default=0)
        if ran > since:
            return _Ended(Ending.PASSED, ran, _NO_END.format("it states its inferences"), "inference ran")
        made = max(self._view.lines(*ENGINE_MADE), default=0)
        built = made if made > since else max(loaded, default=0) if begun else 0
        if built > since:
            return _Ended(Ending.PASSED, built, _NO_END.format("its engine was built"), "engine built")
        if loaded and not begun:
            return _Ended(Ending.NONE, loaded[-1], _NO_END.format("its engine was loaded"), "engine loaded")
        return None

    def _went_wrong(self, since: int = 0) -> bool:
        """Whether an error, an exception or a failed build stands behind a line."""
        told = 0 if self._told is None else self._told[0]
        return max([*self._raised, *self._view.lines("build_failed", "build_stopped"), told]) > since

    def _is_uncaught(self, line: int) -> bool:
        """Whether an exception ended the program: it says little more, or only what it had printed before.

        A program whose output goes to a file writes what it printed at its end, behind the traceback.
        """
        tops = [top for top in self._view.lines("traceback_top") if top < line]
        heads = self._view.lines("traceback") or self._view.lines("traceback_frame")
        traces = [trace for trace in heads if trace < line]
        if not traces:
            return False
        reached_top = bool(tops) and tops[-1] > traces[-1] and not self._own_after(line) and not self._logs_after(line)
        return reached_top or self._said_after(line) <= _LAST_WORDS

    def _is_cut(self, line: int) -> bool:
        """Whether behind the head of a traceback stands nothing but its frames, or a head of a notebook's."""
        texts = (text for number, text in self._view.each("untyped", "text") if number > line)
        framed = self._view.has("raised_cell") or all(map(_FRAME.match, texts))
        return framed and not self._cell_after(line) and not self._works_after(line) and not self._logs_after(line)

    def _logs_after(self, line: int) -> bool:
        """Whether a logger writes behind a line: a line with a time was not printed before."""
        return any(number > line and _TIME.match(text) for number, text in self._view.each("untyped", "text"))

    def _goal_after_error(self) -> _Ended | None:
        """Return the program's own words that it is done, behind all of its errors."""
        goals = self._view.lines("own_goal")
        if not (self._errors and goals) or goals[-1] < self._errors[-1][0] or self._works_after(goals[-1]):
            return None
        return _Ended(Ending.NONE, goals[-1], "it came to its end after an error", "came to its end after an error")

    def _fatal_error(self) -> _Ended | None:
        """Return the last error, where nothing else of the program follows it; clean-up may fail."""
        if self._told is None or self._goes_on_after(self._errors[-1][0]):
            return None
        line, text = self._told
        what = failure_of(text)[0]
        begun = [phase for phase in self._phases if phase.name is not PhaseName.IMPORT and phase.first_line < line]
        made = self._view.has(*ENGINE_MADE, *LOADED, "own_build_time")
        at_build = what == "inference failed" and not made and {phase.name for phase in begun} == {PhaseName.BUILD}
        return _Ended(Ending.FAILED, line, "the last that it reports is an error", "build failed" if at_build else what)

    def _last_phase(self) -> _Ended:
        ends = self._view.lines(*_OWN_ENDS)
        failed = failure_of(self._told[1])[0] if self._told else ""
        if self._errors and ends and not self._goes_on_after(ends[-1]):
            return _Ended(Ending.NONE, ends[-1], "it came to its end after an error", failed)
        if not self._phases:
            return _Ended(Ending.NONE, None, "no line tells how; it reached no phase", failed)
        last = max(self._phases, key=lambda phase: phase.last_line)
        return _Ended(Ending.NONE, last.last_line, f"no line tells how; the last phase is {last.name}", failed)

    def _survived(self, ended: _Ended) -> SurvivedError | None:
        if not self._errors or ended.ending is not Ending.NONE:
            return None
        line, text = self._told or self._errors[-1]
        _, spoils, stops = failure_of(text) if self._told else ("", "", False)
        return SurvivedError(self._spans.of(line), text, spoils, stops)

    def _works_after(self, line: int, besides: PhaseName | None = None) -> bool:
        return any(phase.last_line > line for phase in self._phases if phase.name is not besides)

    def _cell_after(self, line: int) -> bool:
        return any(cell > line for cell in self._view.lines("cell"))

    def _said_after(self, line: int) -> int:
        """Count the lines behind a line that are not blank."""
        return self._view.last_line - line - sum(number > line for number in self._view.lines("blank"))

    def _own_after(self, line: int) -> int:
        """Count the lines behind a line that TensorRT, or a program that drives it, wrote."""
        return self._said_after(line) - sum(number > line for number in self._view.lines("other"))

    def _goes_on_after(self, line: int) -> bool:
        """Whether TensorRT or the program has something else to say behind an error."""
        return self._own_after(line) > 0 or self._said_after(line) >= _GOES_ON


def _listed_checks(texts: Sequence[tuple[int, str]], form: str) -> dict[str, tuple[int, bool]]:
    """Return the checks that lines of a form name, with the line of each and whether it failed."""
    found: dict[str, tuple[int, bool]] = {}
    for line, text in texts:
        if match := _CHECKS[form].match(text):
            verdict = next(value for group, value in match.groupdict().items() if value and group != "name")
            name = _CHECKS["name"].sub("", match["name"])
            found[name] = line, _CHECKS["bad"].search(verdict) is not None or found.get(name, (0, False))[1]
    return found


def _counted_checks(text: str) -> tuple[int, int, str] | None:
    """Return how many checks passed and failed by a line that counts them, and what it calls them."""
    for form in ("ctest", "part"):
        if match := _CHECKS[form].search(text):
            named = match.groupdict()
            whole = int(named["all"])
            good = int(named["passed"]) if form == "part" else whole - int(named["failed"])
            return (good, whole - good, named.get("word") or "tests") if good <= whole else None
    found = max(([*_CHECKS[form].finditer(text)] for form in ("counted", "labelled")), key=len)
    counts = [(int(match["number"]), _CHECKS["bad"].search(match["verdict"]) is not None) for match in found]
    word = next((of for match in found if (of := match.groupdict().get("word"))), "")
    has_good = not all(is_bad for _, is_bad in counts)  # without them it may be a number of errors
    is_count = (has_good and (len(found) > 1 or word)) or _CHECKS["timed"].search(text)
    sums = [sum(number for number, is_bad in counts if is_bad is which) for which in (False, True)]
    return (sums[0], sums[1], word or "tests") if found and is_count else None
