"""Where runs and builds begin, so that each build lies in one run.

A run begins at a banner or at a typed command; and behind a verdict, a crash or an interruption, where work goes on.
The head may be missing: two verdicts are two runs, and so are two blocks of trtexec's options.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from math import inf

import numpy as np

from trtforensics.knowledge.table import rows
from trtforensics.model.arrays import Bools, Positions
from trtforensics.model.deferred import regex
from trtforensics.model.run import Program
from trtforensics.parsers.builds.run_outcomes import ENDS, ENGINE_MADE, OF_INFERENCE, RAISED, inner_lines, verdicts
from trtforensics.parsers.builds.views import ENGINE, LinesView
from trtforensics.parsers.lines.events import Events

PROGRAMS = [*rows("programs", "trtforensics.parsers.builds")]
"""What shows each program: its loggers, kinds of line that only it prints, weak ones, and command lines."""
_ANSWER, _MACHINE, _OF_SYSTEM = (regex(row["kinds"]) for row in PROGRAMS if not row["program"])
"""A line with what a program measured; a heading that names a GPU; a command that lists, copies, installs, compiles."""
_PROMPTS = ("prompt", "typed_other", "typed_by_root", "typed_in_windows", "typed_themed", "cell")
_OPENINGS = {"typed_trtexec": "trtexec", "typed_polygraphy": "polygraphy"}
_OPENINGS |= {"typed_python": "python", "typed_here": "./", "typed_make": "make "}
"""What commands without a prompt, or with a bare one, open with behind their folder."""
_FENCE = regex(r"\s*```(?P<code>python|py\b|c\+\+|cpp|diff|json|ya?ml|cmake|xml)?")
_SET_UP = regex(r"\.py:[0-9]+ [A-Z]+\] (?:Running|Detected|Generated) ")
_MOST_TYPED = 8
"""Runs of typed commands, whatever they start, that a text is taken apart into."""
_OF_EXCERPT = 2000
"""Headings that name a GPU begin runs in texts of at most so many lines."""
_NEAR_END = 3
"""Lines from the end of a block in which it may say how it ended."""
_VERSION = "TensorRT version"
_HEADS = ("Model Options", "Device Information", _VERSION)
_SUMMARY = ("Trace details", "Performance summary")
"""The blocks of a run's times; where the first comes again behind the second, or the second, a run follows."""
_RUNNERS = (("poly_comparison", "left"), ("poly_average", "runner"))
_RUNNER = regex(r"(\w+-runner-N0)-([0-9/]+-[0-9:]+)$")
"""The name that Polygraphy gives the first runner of a kind in a process, with the time of it."""
_COMMANDS = [(regex(row["kinds"]), Program(row["program"])) for row in PROGRAMS if row["by"] == "command"]
_BEFORE_COMMAND = regex(r"(?:[!%]|time |sudo |[A-Z_]\w*=\S+ )+")


def program_of(command: str) -> Program | None:
    """Return the program that a command line starts, None for one that has nothing to do with TensorRT."""
    words = _BEFORE_COMMAND.sub("", command, count=1).strip()
    return next((program for pattern, program in _COMMANDS if pattern.match(words)), None)


def typed_commands(view: LinesView) -> list[tuple[int, str]]:
    """Return the commands that somebody typed, by their lines; empty for a prompt alone."""
    rows = [(line, command or "") for kind in _PROMPTS for line, command in view.each(kind, "command")]
    for kind, name in _OPENINGS.items():
        rows += [(line, f"{folder or ''}{name}{rest}") for line, folder, rest in view.each(kind, "folder", "command")]
    return sorted(dict(reversed(rows)).items())


def of_programs(typed: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the commands that start a program, which is none of the system's."""
    own = ((line, command) for line, command in typed if command)
    return [(line, command) for line, command in own if not _OF_SYSTEM.match(_BEFORE_COMMAND.sub("", command))]


def _next(lines: Sequence[int], first: int) -> float:
    """Return the first of some lines that is not before a line; infinity if there is none."""
    place = bisect_left(lines, first)
    return lines[place] if place < len(lines) else inf


class RunEdges:
    """Cuts the lines of a log into builds and into runs.

    ``edges`` holds the first line of each build and the line behind the last one, ``begins`` the first line of each
    run. Behind the first ``first_source`` lines follow other files of the same run.
    """

    def __init__(self, events: Events, lines: int, first_source: int) -> None:
        self._log = LinesView(events, 1, lines)
        self._limit = first_source
        self._closed: dict[int, int] = {}
        """The lines before fenced runs, each with the fence behind the run before: what stands between is a text."""
        builds = _build_begins(self._log, first_source)
        begins = self._begins(builds)
        starts = sorted({*builds, *begins})
        moved = {begin: self._typed_before(begin, starts) for begin in begins}
        moved |= {begin: self._set_up_before(begin) for begin in begins if moved[begin] == begin}
        starts = sorted({moved.get(start, start) for start in starts})
        self.begins = sorted(set(moved.values()))
        scripts = self._log.lines("own_options")[:1]
        if len(starts) > 1 and starts[1] in self.begins and scripts != [1] and not self._tells(1, starts[1] - 1):
            del starts[1]
            self.begins.remove(1)
        self.edges: Positions = np.array([*starts, lines + 1], np.int64)

    @cached_property
    def _others(self) -> Positions:
        """The lines of other programs, and blank ones."""
        return np.sort(np.array([*self._log.lines("other"), *self._log.lines("blank")], np.int64))

    @cached_property
    def _ahead(self) -> Positions:
        """By how much the lines of other programs are ahead of their places: the same within a stretch of them."""
        return self._others - np.arange(len(self._others))

    @cached_property
    def _commands(self) -> list[tuple[int, str]]:
        return typed_commands(self._log)

    @cached_property
    def _machines(self) -> Mapping[int, str]:
        """The headings that name a GPU, in small letters, by their lines."""
        texts = self._log.each("untyped", "text") if self._log.last_line <= _OF_EXCERPT else ()
        return {line: match[1].lower().strip() for line, text in texts if (match := _MACHINE.match(text))}

    @cached_property
    def _cells(self) -> set[int]:
        """The lines where cells of a notebook begin: what each of them prints is a run."""
        return {*self._log.lines("cell")}

    @cached_property
    def _made(self) -> list[int]:
        """The lines where programs say in words of their own that they made an engine, or measured one; or raise."""
        goals = {*self._log.lines("own_goal")}
        engines = (line for line, text in self._log.each("untyped", "text") if line in goals and "ngine" in text)
        return sorted([*engines, *self._log.lines("own_building", *ENGINE_MADE, *OF_INFERENCE, *RAISED)])

    @cached_property
    def _answers(self) -> list[int]:
        """The lines behind a command or a machine in which a program tells what it measured, or how it ended."""
        begun = [*(line for line, _ in self._commands), *self._machines]
        if self._cells or not begun:
            return self._made if self._cells else []
        measured = (line for line, text in self._log.each("untyped", "text") if _ANSWER.search(text))
        every = [*self._made, *measured, *self._log.lines(*ENDS, "own_end", "said_error")]
        return sorted(line for line in every if line > min(begun))

    @cached_property
    def _verdicts(self) -> list[int]:
        return [line for line, _ in verdicts(self._log)]

    @cached_property
    def _announced(self) -> list[tuple[int, str]]:
        """The commands that banners print, by their lines."""
        printed = (row for kind in ("banner", "poly_run") for row in self._log.each(kind, "command"))
        return sorted((line, command or "") for line, command in printed)

    def own_lines(self, first: int, last: int) -> int:
        """Count the lines that a logger of TensorRT, or of a program that drives it, wrote."""
        low, high = (int(self._others.searchsorted(line)) for line in (first, last + 1))
        return max(last - first + 1 - (high - low), 0)

    def _tells(self, first: int, last: int) -> bool:
        """Whether a logger writes between two lines, or a program that was started answers and no fence is before."""
        answer, fence = _next(self._answers, first), _next(self._fence_lines, first)
        return answer <= min(last, fence) or self.own_lines(first, last) > 0

    def first_own(self, first: int) -> int:
        """Return the first such line from a line on."""
        place = int(self._others.searchsorted(first))
        return first + max(int(self._ahead.searchsorted(first - place, side="right")) - place, 0)

    def last_line(self, first: int, last: int) -> int:
        """Return the last line of a run: a prompt behind it, and what was typed there, is of no run."""
        last = self._closed.get(last, last)
        place = bisect_right(self._verdicts, last) - 1
        verdict = self._verdicts[place] if place >= 0 and self._verdicts[place] >= first else last
        prompts, made = self._log.lines("prompt"), self._log.lines(*ENGINE_MADE, *OF_INFERENCE)
        for line in prompts[bisect_right(prompts, first) : bisect_right(prompts, last)]:
            typed = (program_of(command) for at, command in self._commands if line <= at <= last)
            starts = not self.own_lines(first, line - 1) and bisect_right(made, line) < bisect_right(made, last)
            if line > verdict or not (starts or self.own_lines(line + 1, last) or any(typed)):
                return line - 1
        return last

    def _begins(self, builds: Sequence[int]) -> list[int]:
        """Return where runs begin; what was typed before is not looked at."""
        running = [line for line, verdict in self._log.each("banner", "verdict") if verdict == "RUNNING"]
        heads = sorted({*running, *self._log.lines("poly_run")} - inner_lines(self._log))
        ends = sorted({*self._verdicts, *self._log.lines(*ENDS)})
        begins = [1]
        for begin, following in pairwise([*builds, self._log.last_line + 1]):
            ended = bisect_left(ends, begin) > bisect_left(ends, begins[-1])
            if ended or bisect_left(heads, begin) < bisect_left(heads, following):
                begins.append(begin)
        divided = (self._without_heads, self._with_options_again, self._fenced, self._with_runners_again, self._scripts)
        for further in (*divided, self._typed_runs):
            begins = sorted({*begins, *further(begins)})
        return [begin for begin in begins if begin <= self._limit]

    def _without_heads(self, begins: Sequence[int]) -> Iterator[int]:
        """Give where a run begins whose head is missing: two verdicts stand in one run."""
        for first, second in pairwise(self._verdicts):
            if bisect_right(begins, first) == bisect_right(begins, second):
                begin = self.first_own(first + 1)
                yield begin if begin < second else first + 1

    def _with_options_again(self, begins: Sequence[int]) -> Iterator[int]:
        """Give where trtexec prints a block of options that the run has had."""
        of_run, printed = 0, set[str]()
        titles = [*self._log.each("section", "section")]
        if titles:  # other programs print the version with each engine that they load
            titles = sorted([*titles, *((line, _VERSION) for line in self._log.lines("tensorrt_version"))])
        for line, title in titles:
            if bisect_right(begins, line) != of_run:
                of_run, printed = bisect_right(begins, line), set()
            if (title in _HEADS and title in printed) or (title in _SUMMARY and _SUMMARY[1] in printed):
                yield line
                printed.clear()
            printed.add(title)

    def _with_runners_again(self, begins: Sequence[int]) -> Iterator[int]:
        """Give where Polygraphy's first runner of a kind has another time in its name: of another process."""
        known: dict[str, str] = {}
        of_run = 0
        names = (row for kind, field in _RUNNERS for row in self._log.each(kind, field))
        inner = inner_lines(self._log)
        named = ((line, match.groups()) for line, text in names if (match := _RUNNER.match(text)))
        for line, (name, time) in sorted(named):
            if bisect_right(begins, line) != of_run:
                of_run, known = bisect_right(begins, line), {}
            if line not in inner and known.setdefault(name, time) != time:
                yield line
                known = {name: time}

    def _scripts(self, _: Sequence[int]) -> Iterator[int]:
        """Give where a script prints what argparse read again, not twice at one launch."""
        for (before, was), (line, text) in pairwise(self._log.each("own_options", "text")):
            if text != was or any(before < made < line for made in self._made):
                yield line

    @cached_property
    def _fences(self) -> list[tuple[int, bool]]:
        """The lines of fences, and whether code stands behind each."""
        read = ((line, _FENCE.match(text)) for line, text in self._log.each("untyped", "text"))
        return [(line, match["code"] is not None) for line, match in read if match]

    @cached_property
    def _fence_lines(self) -> list[int]:
        return [line for line, _ in self._fences]

    def _fenced(self, _: Sequence[int]) -> Iterator[int]:
        """Give the fences of a document behind a fenced block that ends with an error, a crash or a success.

        Such a block is another run where loggers of TensorRT write in it.
        """
        fences = self._fences
        outputs = [fence for pair in zip(fences[::2], fences[1::2], strict=False) if not pair[0][1] for fence in pair]
        pairs = [(first, last) for (first, _), (last, _) in zip(outputs[::2], outputs[1::2], strict=True)]
        blocks = [(first, last) for first, last in pairs if self.own_lines(first + 1, last - 1)]
        errors = (line for line, level in self._log.each("message", "severity") if level == "E")
        ends = sorted({*self._verdicts, *self._log.lines(*ENDS, "build_failed", "own_goal"), *errors})
        following = dict(pairwise(pairs))
        for block, further in pairwise(blocks):
            last, (first, _end) = block[1], further
            if bisect_left(ends, last - _NEAR_END) < bisect_left(ends, last):
                self._closed |= {first - 1: last} if following[block] == further else {}
                yield first

    def _typed_runs(self, begins: Sequence[int]) -> Iterator[int]:
        """Give the commands, cells and other machines' headings behind which is what no other run begins with.

        Of many runs only those count in which a logger writes: others tell little.
        """
        typed = {*self._cells, *(line for line, _ in of_programs(self._commands))}
        limits = pairwise([*self._machines, self._log.last_line + 1])
        machines = [first for first, behind in limits if self._tells(first + 1, behind - 1)]
        others = {line for was, line in pairwise(machines) if self._machines[was] != self._machines[line]}
        stops = sorted({*begins, *others, *(line for line, _ in self._commands), self._log.last_line + 1})
        spans = {line: (line + 1, stops[bisect_right(stops, line)] - 1) for line in sorted({*typed, *others})}
        told = [line for line, span in spans.items() if self._tells(*span)]
        is_few = self._cells or len({*begins, *told}) <= _MOST_TYPED
        yield from (line for line in told if is_few or self.own_lines(*spans[line]))

    def _typed_before(self, begin: int, starts: Sequence[int]) -> int:
        """Return the line of the command that started what begins here, if that stands right before it."""
        place = bisect_left(starts, begin)
        at = bisect_left(self._commands, (begin, "")) - 1
        if at < 0 or begin in self._cells or self._commands[at][0] <= (starts[place - 1] if place else 0):
            return begin
        line, command = self._commands[at]
        printed = self._announced[bisect_left(self._announced, (begin, "")) :]
        flags = {word for word in printed[0][1].split() if word.startswith("--")} if printed else set[str]()
        is_printed = len(flags.intersection(command.split())) * 4 >= len(flags) * 3  # quotes make some differ
        known = (program_of(command) is not None and is_printed) or line in self._cells
        return line if known and not self.own_lines(line + 1, begin - 1) else begin

    def _set_up_before(self, begin: int) -> int:
        """Return the first line behind the verdict before in which a harness says what it is going to run."""
        results = sorted([*self._verdicts, *self._log.lines("own_result", "own_gate")])
        since = results[place - 1] if (place := bisect_left(results, begin)) else begin
        return min(next(iter(self._harness[bisect_right(self._harness, since) :]), begin), begin)

    @cached_property
    def _harness(self) -> list[int]:
        """The lines in which a harness says what it is going to run."""
        return [line for line, text in self._log.each("untyped", "text") if _SET_UP.search(text)]


_AT_WORK = ("adding_input", "parse_begin", "init_builder", "stage_original", "poly_run")
_REPORTED = ("no_implementation",)
"""What a builder that fails reports as an error, to stderr."""
_OPENING = (*_AT_WORK, *_REPORTED)
"""What only a builder at work prints."""

_PRELUDE = ("init_cuda", "plugin_creator", "onnx_rule", "onnx_header", "skipping_tactic")
"""What a build begins with, but others print too: part of the next build if that opens before anything else."""

_CLOSING = (*ENGINE, "engine_size", "deserialization", "plan_engines", "poly_verdict")
"""What a build ends with; another strategy may still follow."""

_WORKING = frozenset((*_OPENING, *_CLOSING, "onnx_rule"))
"""What shows that work goes on after a verdict."""

_CONTINUING = ("strategy_begin", "strategy_initial", "strategy_chosen", "strategy_skipped")

_ROLES = (*_OPENING, *_PRELUDE, *_CLOSING, *_CONTINUING)


def _build_begins(log: LinesView, first_source: int) -> list[int]:
    """Return the first line of each build of a log; the first build takes what precedes it.

    A trtexec banner begins a build, and so does whatever is logged after a verdict. Without banners, what a builder
    does first (the ONNX header, ``Original: N layers`` …) begins a new build once the one before has reached its
    engine. Behind the first ``first_source`` lines follow other files of the same build, its errors say: what a failing
    builder reports there begins no build.
    """
    line, role = _roles(log, first_source)
    begins = _banner_begins(log, line[_is_in(_WORKING)[role]].tolist())
    prelude = _is_in(_PRELUDE)[role]
    stretch = np.array(begins, np.int64).searchsorted(line, side="right")
    again = (prelude[1:] & prelude[:-1] & (stretch[1:] == stretch[:-1])).nonzero()[0] + 1
    line, role = np.delete(line, again), np.delete(role, again)  # of a prelude only the first line counts
    roles = list(zip(line.tolist(), [_ROLES[index] for index in role.tolist()], strict=True))
    further = [
        _begins_without_banner(roles[a:b]) for a, b in pairwise([0, *line.searchsorted(begins).tolist(), len(roles)])
    ]
    starts = sorted({1, *begins, *chain(*further)})
    if len(starts) > 1:
        before = LinesView(log.events, 1, starts[1] - 1)
        if not before.has("banner", *_AT_WORK, *_CLOSING):
            del starts[1]  # nothing but errors of this build stands before the first beginning
    return starts


def _banner_begins(log: LinesView, work: list[int]) -> list[int]:
    """Return where a banner begins a build, and where work goes on after a verdict.

    A line or two that trtexec's destructors print after the verdict are still its own.
    """
    running = [line for line, verdict in log.each("banner", "verdict") if verdict == "RUNNING"]
    ends = [*running, log.last_line + 1]
    resumed = [
        line
        for line in log.lines("resumed")
        if bisect_left(work, line) < bisect_left(work, ends[bisect_left(ends, line)])
    ]
    return sorted({*running, *resumed})


def _begins_without_banner(roles: Iterable[tuple[int, str]]) -> list[int]:
    """Return where further builds begin in a stretch that no banner divides."""
    begins: list[int] = []
    closed = False
    opened = False
    prelude: int | None = None
    for line, role in roles:
        if role in _CONTINUING:
            closed = False
        elif role in _PRELUDE:
            prelude = prelude or line
            continue
        elif role in _CLOSING:
            closed = closed or opened or role == "poly_verdict"
        elif (closed or role == "poly_run") and opened:
            begins.append(prelude or line)
            closed = False
        opened = opened or role in _OPENING
        prelude = None
    return begins


def _roles(log: LinesView, reports: int) -> tuple[Positions, Positions]:
    """Return all lines that have a role, sorted, and the places of their roles in ``_ROLES``."""
    lines = [np.array(log.events[kind].lines, np.int64) for kind in _ROLES]
    both = zip(_ROLES, lines, strict=True)
    lines = [of_kind[of_kind <= reports] if kind in _REPORTED else of_kind for kind, of_kind in both]
    line, role = np.concatenate(lines), np.repeat(np.arange(len(lines)), list(map(len, lines)))
    of_checks = _is_in(("poly_run", "poly_verdict"))[role] & np.isin(line, [*inner_lines(log)])
    line, role = line[~of_checks], role[~of_checks]  # commands that check a model, of which nothing else is known
    order = line.argsort(kind="stable")
    return line[order], role[order]


def _is_in(kinds: Collection[str]) -> Bools:
    return np.array([kind in kinds for kind in _ROLES])
