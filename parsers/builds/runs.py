"""The runs of a log: which program each is, and what it does.

``run_edges`` says where they begin, ``run_outcomes`` how they ended.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from trtforensics.console.counting import listed
from trtforensics.knowledge.table import rows
from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.deferred import regex
from trtforensics.model.log import OnnxNode
from trtforensics.model.run import POLYGRAPHY_READERS, Phase, PhaseName, Program, Run, RunResult
from trtforensics.parsers.builds.comparisons import comparisons
from trtforensics.parsers.builds.header import names_version
from trtforensics.parsers.builds.run_edges import PROGRAMS, RunEdges, of_programs, program_of, typed_commands
from trtforensics.parsers.builds.run_outcomes import ENDS, STEPS, RunEvidence, polygraphy_tool, verdicts
from trtforensics.parsers.builds.views import LinesView, Log

_PHASES = [*rows("phases", "trtforensics.parsers.builds")]
"""Each phase with the kinds of line of it, and those that state its seconds, best first."""
_OF_DIALECT = {row["kinds"]: Program(row["program"]) for row in PROGRAMS if row["by"] == "logger"}
_PYTHON = ("python", "python_old", "custom")
_MARKS, _WEAK_MARKS = (
    [(Program(row["program"]), row["kinds"].split()) for row in PROGRAMS if row["by"] == by] for by in ("mark", "weak")
)
"""Programs by what only they print; the first that a run has a line of. Python's logger comes before the weak marks."""
_NOT_OF_TENSORRT = ("poly_", "mlperf_", "triton_", "of_", "own_", "raised_", "typed_")
_COUNTED = regex(r"(?i)\W*frame[ _](?:number|num|no|id)\W*\d+\b.*(?:count|objects?|detections?)\b")
"""The beginning of a line that counts what an inference found in a frame."""
_NEUTRAL = frozenset(
    {*("message", "untyped", "dialect", "resumed", "blank", "other", "layer_name", "prompt", "cell", "traceback")}
    | {*ENDS, "return_code", *STEPS, "make_code", "signalled"}
)
"""Kinds of line, besides those with the beginnings above, that do not show that TensorRT was used."""
_TENSORRT_LOGGERS = frozenset({*_PYTHON, "trtexec", *_OF_DIALECT} - {"onnxruntime", "onnxruntime_site"})


def runs(
    log: Log, cut: RunEdges, nodes: Sequence[Sequence[OnnxNode]], results: Sequence[Sequence[RunResult]]
) -> Iterator[Run]:
    """Give the runs of a log, whose builds have these nodes and results."""
    begins = [*cut.begins, log.last_line + 1]
    builds = log.places(begins)
    for index, (first, behind) in enumerate(pairwise(begins)):
        of_run = range(builds[index], builds[index + 1])
        view = LinesView(log.events, first, cut.last_line(first, behind - 1))
        # what is pasted behind a verdict is none of the run's
        said = LinesView(log.events, first if index else 1, max([at for at, _ in verdicts(view)] or [view.last_line]))
        program, line = _program(view, log, cut.first_own(first))
        phases, (at, command) = tuple(_phases(view)), _command(view)
        told = tuple(result for build in of_run for result in results[build])
        inferred = [each.span.line for each in told if each.stated is not None and each.stated.is_of_inference]
        inferred += [line for line, text in view.each("untyped", "text") if _COUNTED.match(text)]
        yield Run(
            index,
            first,
            view.last_line,
            program,
            None if line is None else log.spans.of(line),
            command,
            phases,
            RunEvidence(view, log.spans, phases, inferred).outcome(),
            _uses_tensorrt(view, program),
            tuple(of_run),
            told,
            comparisons(view, log.spans, [node for build in of_run for node in nodes[build]]),
            _engine_file(view, command),
            next((version for _, version in view.each(_OWN_VERSIONS.get(program, "other"), "version")), None),
            _loaded_file(view, command),
            tuple(
                (text, log.spans.of(line))
                for line, text in [*_facts(said, "more", "last", "few", "many", "count"), *_in_its_words(view, program)]
            ),
            log.spans.of(at) if at else None,
            _subcommand(view, command or "") if program is Program.POLYGRAPHY else "",
            _setting(said, program),
        )


def _program(view: LinesView, log: Log, own: int) -> tuple[Program, int | None]:
    for line, name in view.each("banner", "program"):
        if name is not None:
            harness = Program.MLPERF if "HARNESS" in name.upper() else Program.CPP
            return (Program.TRTEXEC if "trtexec" in name else harness), line
    loggers = list(_loggers(view, log, own))
    hosts = [(program, view.lines(*kinds)) for program, kinds in _MARKS if program is Program.TRITON]
    guest = {_OF_DIALECT.get(name) for _, name in loggers} <= {None, Program.TORCH_TENSORRT, Program.ONNXRUNTIME}
    typed = [(program_of(command), line) for line, command in typed_commands(view)]
    candidates: list[tuple[Program, Sequence[int]]] = [
        *(hosts if guest else ()),
        *((_OF_DIALECT[name], [line]) for line, name in loggers if name in _OF_DIALECT),
        *((program, view.lines(*kinds)) for program, kinds in _MARKS),
        *((Program.PYTHON, [line]) for line, name in loggers if name in _PYTHON),
        *((program, [line]) for program, line in typed if program not in {None, Program.PYTHON}),
        *(
            (program, [*view.lines(*kinds), *(line for started, line in typed if started is program)])
            for program, kinds in _WEAK_MARKS
        ),
        *((Program.CPP, view.lines("loaded_file", "own_loaded")) for _, name in loggers if name == "trtexec"),
        *((Program.CPP, [line]) for line, name in loggers if name == "dated_tags"),
    ]
    return next(((program, lines[0]) for program, lines in candidates if lines), (Program.UNKNOWN, None))


def _loggers(view: LinesView, log: Log, own: int) -> Iterator[tuple[int, str]]:
    """Give the loggers that write in a run, each with its first line; ``own`` is the first line of any."""
    rows = log.events["dialect"]
    before = bisect_left(rows.lines, view.first_line) - 1
    if before >= 0 and own <= view.last_line and own not in view.lines("dialect"):
        yield own, rows.values("dialect", range(before, before + 1))[0]
    yield from view.each("dialect", "dialect")


def _command(view: LinesView) -> tuple[int, str | None]:
    """Return a run's command and its line: the printed command, else the typed one."""
    printed = (row for kind in ("banner", "poly_run", "poly_verdict") for row in view.each(kind, "command"))
    typed = typed_commands(view)
    known = (row for row in typed if program_of(row[1]) is not None)
    code = {*view.lines("cell")}  # of a notebook, but for what it hands to a shell
    others = of_programs(row for row in typed if row[0] not in code or row[1].startswith(("!", "%")))
    return next((row for row in chain(printed, known, others) if row[1]), (0, None))


_MODE = regex(rf"polygraphy(?:\.exe)? ((?:run|convert)\b|(?:{'|'.join(POLYGRAPHY_READERS)})(?: [a-z-]+(?!\S))?)")


def _subcommand(view: LinesView, command: str) -> str:
    mode, tool = _MODE.search(command), polygraphy_tool(view)
    return mode[1] if mode else tool["subcommand"] if tool else ""


def _phases(view: LinesView) -> Iterator[Phase]:
    for phase in _PHASES:
        kinds, timed = phase["kinds"].split(), (each.split(".") for each in phase["seconds"].split())
        if view.has(*kinds):
            stated = ([*view.each(kind, field)] for kind, field in timed if view.has(kind))
            seconds = [float(each) for _, each in next(stated, []) if each is not None]
            yield Phase(PhaseName(phase["phase"]), *view.reach(*kinds), sum(seconds) if seconds else None)


_TENSORRT_NAMED = regex(r"(?i:tensorrt|\btrt|\.engine\b)")
_TENSORRT_COMMAND = regex(r"--trt\b|tensorrt|\btrt$|inspect (?:engine|tactics)|--convert-to[ =]trt")


def _uses_tensorrt(view: LinesView, program: Program) -> bool:
    """Whether anything in a run is TensorRT's; where nothing shows what the run did, it is taken to be."""
    if program is Program.TENSORRT_LLM and view.has("llm_pytorch"):
        return False
    if program is Program.TF_TRT and 0 < len(view.lines("of_tf_trt")) == len(view.lines("tftrt_unloaded")):
        return False
    loaded = [version for _, version in view.each("tftrt_version", "version")]
    if loaded and not names_version("".join(loaded)):
        return False
    backends = [name for _, name in view.each("triton_backend", "name")]
    of_others = bool(backends) and not any("tensorrt" in name for name in backends)
    if not of_others and program not in {Program.POLYGRAPHY, Program.PYTHON, Program.ONNXRUNTIME, Program.UNKNOWN}:
        return True
    signs = (
        any(name in _TENSORRT_LOGGERS for _, name in view.each("dialect", "dialect")),
        any(kind not in _NEUTRAL and not kind.startswith(_NOT_OF_TENSORRT) for kind in view.kinds()),
        any(text.startswith("tensorrt") for _, text in view.each("poly_module", "text")),
        any(_TENSORRT_COMMAND.search(command) for _, command in view.each("poly_run", "command")),
        any("trt-runner" in str(name) for kind, field in _RUNNERS for _, name in view.each(kind, field)),
    )
    if not any(signs) and view.has("own_program"):
        return any(_TENSORRT_NAMED.search(text) for _, text in view.each("untyped", "text"))
    return any(signs) or (not of_others and not view.has(*_OF_ONNX))


_RUNNERS = [(f"poly_{kind}", side) for kind in ("comparison", "summary") for side in ("left", "right")]
_RUNNERS += [(f"poly_{kind}", "runner") for kind in ("validating", "stats", "stats_old", "runner", "average")]
_OF_ONNX = {f"poly_{kind}" for kind in ("run", "validating", "checked", "module", "listed", "data_listed")}
_OF_ONNX |= {f"poly_{kind}" for kind in ("model_after", "scripted", "cast", "plugins", "reducing")}
"""What Polygraphy prints that may have used ONNX alone."""
_SETTINGS = [
    (row, [each.split(".") for each in row["fields"].split()], regex(row["pattern"] or "(.+)"))
    for row in rows("settings", "trtforensics.parsers.builds")
]
"""Fields that state how a run was set up, what counts of them, and the words for all values.

They are shown in the headline: ``first``, ``own`` where trtexec has no option for it, or ``one`` if there is no other;
below it as ``more``, the ``last`` of them alone, with their ``count``, or only if there are ``many``, or but a ``few``.
"""
_LISTING = regex(r"[-dl][rwx-]{9}\S* .*|(?:x )?[^\s:=]+/[^\s:=]+|\s*(?:inflating|extracting|adding): .*")
"""A line of a folder's or an archive's listing, which names what may never have run."""
_LEAST, _MOST = {"many": 2}, {"few": 2}
_OWN_VERSIONS = {Program.TENSORRT_LLM: "llm_version", Program.TRITON: "triton_version"}
_MOST_VALUES = 12
_TYPE_WORDS = {
    name.upper(): known.word for known in ELEMENT_TYPES.values() for name in (known.name, known.onnx, known.word)
} | {"FLOAT32": ELEMENT_TYPES["Float"].word}  # as programs write it, and TensorRT does not


def _setting(view: LinesView, program: Program) -> str:
    """Return what a run says of its set-up: models, GPU and types, where trtexec does not print them as its options.

    Of MLPerf that is its scenario and mode too, and whether its result counts; of ONNX Runtime the provider it takes.
    """
    own = () if program in {Program.TRTEXEC, Program.POLYGRAPHY} else ("one", "own")
    engines = {name for _, name in view.each("loaded_file", "name")}
    first = (text for _, text in _facts(view, "first", *own))
    texts = [text for text in first if len(engines) < 2 or not text.startswith("input ")]  # noqa: PLR2004 - whose, else
    verdicts = (verdict for kind in ("own_result", "own_tests") for _, verdict in view.each(kind, "verdict"))
    return ", ".join(dict.fromkeys([*texts, *(verdict for verdict in verdicts if verdict in {"VALID", "INVALID"})]))


def _facts(view: LinesView, *shown: str) -> Iterator[tuple[int, str]]:
    """Give what the lines of a run say of its set-up, each with the first line that says it."""
    present = {*view.kinds()}
    for row, fields, pattern in _SETTINGS:
        if row["shown"] not in shown or present.isdisjoint(kind for kind, *_ in fields):
            continue
        texts = view.each("untyped", "text") if "models" in row["words"] else ()
        listing = {line for line, text in texts if _LISTING.fullmatch(text)}
        told = [(line, " ".join(map(str, each))) for kind, *names in fields for line, *each in view.each(kind, *names)]
        told = [each for each in told if each[0] not in listing]
        read = ((line, pattern.search(" ".join(text.split()))) for line, text in told)
        known = [(line, [*filter(None, match.groups())]) for line, match in read if match is not None]
        joined = (f"{name} {' to '.join(dict.fromkeys(sizes))}".rstrip() for _, (name, *sizes) in known)
        counts = Counter(_TYPE_WORDS.get(value.upper(), value) if row["shown"] == "own" else value for value in joined)
        values = [f"{value} ({number})" if row["shown"] == "count" else value for value, number in counts.items()]
        known, values = (known[-1:], values[-1:]) if row["shown"] == "last" else (known, values)
        enough = _LEAST.get(row["shown"], 1) <= len(values) <= _MOST.get(row["shown"], len(values))
        if enough and (len(values) == 1 or row["shown"] != "one"):
            yield min(known)[0], row["words"].format(listed(values, _MOST_VALUES))


_AT_END, _LONGEST, _AT_ONCE = 5, 160, 40
"""Lines that may follow the last words (frames, fences, messages of TensorRT), the characters of them, and the lines
that are seen at once: the end of an excerpt, often its writer's own prose, is not repeated."""
_NO_WORDS = regex(r"\s*(?:File \"|\^|```|In \[|!\[|<[A-Za-z.]+ |[*#] |.*={5}|:::|[{\[]+\")|(?!.*[^\W\d_]{2})")
"""A line that says nothing: a frame, a fence, a rule."""


def _in_its_words(view: LinesView, program: Program) -> Iterator[tuple[int, str]]:
    """Give the last that a program says which prints no verdict."""
    if program in {Program.POLYGRAPHY, Program.TRTEXEC} or view.last_line <= _AT_ONCE:
        return
    texts = [*view.each("untyped", "text")]
    begun = max((line for line, text in texts if text.startswith("Last login: ")), default=0)
    line, text = max(((line, text.strip()) for line, text in texts if not _NO_WORDS.match(text)), default=(0, ""))
    blank = sum(number > line for number in view.lines("blank"))
    if line > begun and view.last_line - line - blank <= _AT_END:
        yield line, f"last words: {text[:_LONGEST]}"


def _files_of(option: str, command: str | None) -> list[str]:
    return re.findall(rf"--{option}=(\S+)", command or "")


def _loaded_file(view: LinesView, command: str | None) -> str | None:
    """Return the file that the last engine was loaded from, of trtexec by its command."""
    named = [name for kind in ("loaded_file", "loaded_file_said") for _, name in view.each(kind, "name")]
    named = [] if view.has("own_rebuilding") else named
    named += [text.strip() for _, text in view.each("jetson_loading", "text")]
    named = named or _files_of("(?:loadEngine|engine)", command)
    return str(named[-1]) if named else None


def _engine_file(view: LinesView, command: str | None) -> str | None:
    """Return the file that the engine was written to; trtexec names it before, so only one that made an engine did."""
    saved = [name for _, name in view.each("saved_file", "name")]
    saved += [text for _, what, text in view.each("poly_saving", "what", "text") if what == "engine"]
    failed = any(verdict == "FAILED" for _, verdict in view.each("banner", "verdict"))  # to write it, say
    if view.has("engine_built", *(() if failed else ("engine_created", "engine_generated"))):
        saved += _files_of("saveEngine", command)
        saved += [value for _, name, value in view.each("option", "name", "value") if name == "Save engine" and value]
    return str(saved[-1]) if saved else None
