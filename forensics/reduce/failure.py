"""The fingerprint of a failure: how its command ended, the root finding of its log, and where the program stopped.

Of a traceback the innermost frame outside of installed packages counts: it is the user's check that failed there,
whatever a library then called. Messages count without what a smaller model, or another run, has otherwise: names of the
model, paths of the probe, numbers, temporary names. Of numbers only codes and exit statuses count: whatever else is a
number may be a shape, an index, a measure, an address or a time.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec, check_log_name
from trtforensics.bisection.session.job import sealed, unsealed
from trtforensics.console.output import write_bytes
from trtforensics.errors import NotABuildLogError, SourceError
from trtforensics.findings.finding import Finding, Severity, without_numbers
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.model.older_python import StrEnum
from trtforensics.parsers.lines.unread import name_tensorrt
from trtforensics.sources.quoting import QuotedLog, read_log

_TOKEN = re.compile(r"[^\s'\"()\[\],;<>{}]+")
_QUOTED = re.compile(r"(?<=')[^'\n]+(?=')|(?<=\")[^\"\n]+(?=\")|(?<=`)[^`'\n]+(?=[`'])")
"""A name in quotes, which may hold what else ends a token."""
_NUMBER = re.compile(
    r"(?P<code>\b(?:code|status|errno|signal|os error|(?:cuda|cudnn|cublas)(?: error)?)\b[ :=#(\[]{1,2}-?\d+\b"
    r"(?!\.\d|%))"
    r"|0x[0-9a-f]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:(?:\d+ )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2})?\d+"
    r"|\d+(?:\.\d+)?(?:e[-+]?\d+)?",
    re.IGNORECASE,
)
_TEMPORARY = re.compile(r"(?<![\w.])(?P<root>/tmp|/var/tmp|/dev/shm)/[^\s/'\":,;()\[\]]+|\btmp[a-z0-9_]{8}\b")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a model: of its nodes with their operators, of tensors with the nodes that make them, of others.

    ``outputs`` has the original's output for each output of the probe's model, "" for the result of a cut; where none
    of the outputs that the original's failure names (``expected``) is left, any output stands for them. ``paths`` has
    what the probe's files are called.
    """

    operators: Mapping[str, str]
    makers: Mapping[str, str]
    others: frozenset[str] = frozenset()
    outputs: Mapping[str, str] = field(default_factory=dict)
    expected: tuple[str, ...] = ()
    paths: Mapping[str, str] = field(default_factory=dict)

    def among(self, nodes: Collection[str]) -> Names:
        """Return the names in a model of some nodes: a tensor that none of them makes belongs to no node."""
        makers = {name: node for name, node in self.makers.items() if node in nodes}
        return replace(self, makers=makers, others=self.others | (self.makers.keys() - makers.keys()))

    def blanked(self, text: str) -> str:
        """Return a text without what varies."""
        if self.paths:
            known = "|".join(map(re.escape, sorted(self.paths, key=len, reverse=True)))
            text = re.sub(rf"(?<![\w.-])(?:{known})(?![\w-])", lambda match: self.paths[match[0]], text)
        text = _TEMPORARY.sub(lambda match: f"{match['root']}/#" if match["root"] else "#", text)
        text = _QUOTED.sub(lambda match: "#" if self._known(match[0]) else match[0], text)
        text = _TOKEN.sub(lambda match: self._blank(match[0]), text)
        return _NUMBER.sub(lambda match: match["code"] or "#", text).strip()

    def nodes_in(self, text: str, besides: Collection[str] = ()) -> Iterator[str]:
        """Yield the nodes that a text names, then those whose results it names; some results say nothing."""
        names = [name for name in self._names_in(text) if name not in besides]
        yield from (name for name in names if name in self.operators)
        yield from (self.makers[name] for name in names if name in self.makers)

    def outputs_in(self, text: str) -> Iterator[str]:
        """Yield the original's outputs for the outputs that a text names."""
        is_left = not self.expected or not set(self.expected).isdisjoint(self.outputs.values())
        for name in self._names_in(text):
            if name in self.outputs:
                yield from (self.outputs[name],) if is_left else self.expected

    def _names_in(self, text: str) -> list[str]:
        return [known for word in (*_QUOTED.findall(text), *_TOKEN.findall(text)) if (known := self._known(word))]

    def _known(self, token: str) -> str:
        """Return the name that a token is, or that stands before its colon or full stop; "" for none."""
        known = (self.operators, self.makers, self.others)
        return next((name for name in (token, token.rstrip(":.")) if any(name in names for names in known)), "")

    def _blank(self, token: str) -> str:
        known = self._known(token)
        return f"#{token[len(known) :]}" if known else token


def paths_of(spec: ProbeSpec) -> dict[str, str]:
    """Return the placeholder for each spelling of a probe's files: absolute, without links, from where it runs."""
    places = {name: value for name, value in spec.values.items() if name != "probe"} | {"dir": spec.folder}
    paths = {tempfile.gettempdir(): "/tmp"}  # noqa: S108 - a word for it
    for name, value in places.items():
        spellings = (value, os.path.realpath(value), os.path.relpath(value, spec.cwd))
        paths |= {path: f"{{{name}}}" for path in spellings if os.sep in path}
    return paths | {Path(spec.folder).name: "{probe}", Path(places["model"]).name: "{model}"}


FILE = "failure.json"
NUMBERS = "numbers"
"""The stage of a failure that is wrong numbers."""
_BUILD_LOGS = ("build.log", "build.err", "build.out")
_LARGEST = 1 << 30
_TAIL = 1 << 16
"""Bytes of the end of an output in which its last words are looked for."""
_BY_SIGNAL, _LAST_SIGNAL = 128, 192
"""A shell exits so, plus the signal's number, where a signal ended its command."""
_LAST_LINES = 20
_VARIES = "…"
"""Stands for a word that differs between two runs of the original."""
_NEAR = 8
"""Lines behind a finding's first one in which the parser says in which function it gave up."""
_HINTS = 3
_MEASURED = re.compile(r"FAILED \| Output|Minimum Required Tolerance|(?:Inf|NaN) Detected")
"""What Polygraphy 0.53 says of an output that fails a check."""
_NOT_FINITE = re.compile(r"(?:Inf|NaN) Detected|\b(?:mean|min|max)=-?(?:inf|nan)\b")
_MEASURES = 6
_ERROR = re.compile(r"Error Code (\d+)|\bError\[(\d+)\]")
_COMMAND = "| Command: "
"""Polygraphy repeats its command behind this: what that names is no part of the message."""
_FUNCTION = re.compile(
    r"(?P<file>\w+\.(?:cpp|cc|cu|h))(?:::(?P<own>[\w~<>]+)::\d+|:\d+ In function (?P<importer>\w+))"
    r"|\bIn (?P<inner>[\w:~<>]+)(?:\(\))? at \S*?(?P<at>\w+\.(?:cpp|cc|cu|h))"
)
"""Where a message says it comes from: ``file::function::line``, ``file:line In function …`` or ``In … at path``."""


_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'[\s|]*File "(?P<file>[^"]+)", line \d+, in (?P<function>.+)')
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python\d|^<frozen ")
_STACK = re.compile(
    r"\s*#\d+\s+(?:0x[0-9a-f]+ in )?(?P<function>(?!__|raise\b|gsignal\b|abort\b)[\w:~<>]+).*?"
    r"(?:\bat |\s)(?P<file>[\w./+-]+\.(?:cpp|cc|cxx|cu|c|hpp|h)):\d+"
)
_ASSERTED = re.compile(r"\bwhat\(\):|Assertion .*failed")
_SUMMARY = re.compile(r"(?:FAILED|PASSED) \| Runtime: ")
"""Polygraphy's last line, which repeats its command."""
_HOLDERS = {"If", "Loop", "Scan"}
"""Operators that the parser names where it stops at a node inside of them; the source function tells which that is."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The frame that an output ends in, and its last words; "" where there are none.

    ``asserted``: the words are those of an exception or assertion, and not merely the last that were printed.
    """

    frame: str = ""
    words: str = ""
    asserted: bool = False


def raised_in(lines: Sequence[str]) -> Raised:
    """Return where the lines of an output say that the command stopped."""
    start = max((number for number, line in enumerate(lines) if line.endswith(_TRACEBACK)), default=None)
    if start is not None:
        return _of_traceback(lines[start + 1 :])
    stack = next((match for line in lines if (match := _STACK.match(line))), None)
    frame = f"{PurePath(stack['file']).name}: {stack['function']}" if stack else ""
    asserted = next((line for line in reversed(lines) if _ASSERTED.search(line)), "")
    last = (line for line in reversed(lines) if line.strip() and not _SUMMARY.search(line))
    return Raised(frame, asserted or next(last, ""), bool(asserted))


def _of_traceback(lines: Sequence[str]) -> Raised:
    frames = []
    for line in lines:
        match = _FRAME.fullmatch(line)
        if match:
            frames.append(match)
        elif line[:1].strip(" |"):
            error = line.strip()
            of_user = [frame for frame in frames if not _INSTALLED.search(frame["file"])] or frames
            kind = error.partition(":")[0]
            spots = [f"{PurePath(frame['file']).name}: {frame['function']}: {kind}" for frame in of_user[-1:]]
            return Raised("".join(spots), error, asserted=True)
    return Raised()


class Sameness(StrEnum):
    """How much of two failures must agree."""

    LOOSE = "loose"
    """How they ended, and the code of the root finding; of wrong numbers, that they are wrong."""
    STRICT = "strict"
    """All parts: also exit status, error code, source file and function, frame, operator and message."""


_STRICT = {
    "status": "it ended with status",
    "error": "TensorRT's error code is",
    "functions": "it stopped in",
    "frame": "the innermost frame is",
    "outputs": "it names the output",
    "operator": "the operator is",
    "form": "it says",
}
"""The parts that only :attr:`Sameness.STRICT` compares, and how a sentence says what another failure has."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure.

    ``stage`` is build, check or numbers; ``ended`` says how it ended (``failed``, ``signal 11``, ``timed out``), and
    ``status`` is the exit status of the command that failed. ``code`` is that of the root finding, empty where the log
    has none, ``error`` TensorRT's own. ``frame`` is the innermost of a traceback. ``outputs`` are the original's that
    the message names, "" for the result of a cut. ``lines`` are the finding's, as they stand; ``named`` are the nodes
    that they name, the likeliest first. ``varies`` names the parts that differ from run to run and do not count.
    """

    stage: str
    ended: str
    code: str = ""
    operator: str = ""
    functions: tuple[str, ...] = ()
    form: str = ""
    title: str = ""
    lines: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    status: int = 0
    error: str = ""
    frame: str = ""
    outputs: tuple[str, ...] = ()
    varies: tuple[str, ...] = ()

    def difference(self, other: Failure, same: Sameness) -> str:
        """Say in which part another failure differs from this one; empty where it is the same."""
        parts = {"stage": "it failed in the", "code": "the finding is"}
        if same is Sameness.STRICT or self.stage != NUMBERS:
            parts["ended"] = "they" if self.stage == NUMBERS else "it"
        parts |= _STRICT if same is Sameness.STRICT else {}
        for part, words in parts.items():
            if not self._agrees(part, other):
                value = getattr(other, part)
                spelled = ", ".join(value) if isinstance(value, tuple) else str(value)
                return f"{words} {spelled or 'none'}"[:300]
        return ""

    def _agrees(self, part: str, other: Failure) -> bool:
        """Whether a part of another failure is this one's, as far as it counts."""
        if part in self.varies or (part in {"operator", "form"} and self.operator in _HOLDERS and self.functions):
            return True
        if part == "outputs":
            ours, others = (set(each.outputs) - {""} for each in (self, other))
            return not ours or not others or not ours.isdisjoint(others)
        if part == "operator" and not other.operator and other.outputs:
            return True  # what is inside of the original is an output of a cut model
        if part == "form":
            words, theirs = self.form.split(), other.form.split()
            pairs = zip(words, theirs, strict=False)
            return len(words) == len(theirs) and all(word in {_VARIES, another} for word, another in pairs)
        return bool(getattr(self, part) == getattr(other, part))

    def seen_again(self, other: Failure) -> Failure:
        """Return this failure without what another run of the same model has otherwise."""
        words, others = self.form.split(), other.form.split()
        varies = {*self.varies, *(part for part in _STRICT if part != "form" and not self._agrees(part, other))}
        if len(words) == len(others):
            pairs = zip(words, others, strict=True)
            words = [word if word == another else _VARIES for word, another in pairs]
        else:
            varies.add("form")
        return replace(self, form=" ".join(words), varies=tuple(sorted(varies)))

    @property
    def sentence(self) -> str:
        """The failure in one line."""
        return f"{self.code} {self.title}".strip() or self.form or f"{self.stage}: {self.ended}"


def failure_of(folder: Path, outcome: ProbeOutcome, names: Names) -> Failure:
    """Return the fingerprint of a probe that failed, from the logs in its folder."""
    last = outcome.checks[-1] if outcome.checks else outcome.build
    status = last.status if last is not None else 0
    signal = -status if status < 0 else status - _BY_SIGNAL if _BY_SIGNAL < status <= _LAST_SIGNAL else 0
    ended = "timed out" if outcome.timed_out else f"ended by signal {signal}" if signal else "failed"
    stage = "check" if outcome.checks else "build"
    logs = [check_log_name(number) for number in range(len(outcome.checks))] if outcome.checks else _BUILD_LOGS
    paths = [folder / name for name in logs if (folder / name).is_file() and (folder / name).stat().st_size]
    ends = [_end_of(path) for path in paths]
    words = [line for end in ends for line in end[-_LAST_LINES:]]
    last_named = _distinct(node for line in reversed(words) for node in names.nodes_in(line))
    raised = raised_in([line for end in ends for line in end])
    failure = Failure(stage, ended, status=0 if signal or outcome.timed_out else status, frame=raised.frame)
    with _joined(paths) as whole:
        root = None if whole is None or (raised.frame and not _of_tensorrt(whole)) else _root(whole)
        if root is not None:
            failure = _with_finding(failure, *root, names)
            return failure if failure.named else replace(failure, named=last_named)
    form = names.blanked(raised.words) if raised.asserted or not (signal or outcome.timed_out) else ""
    lines = (raised.words,) if form else ()
    outputs = tuple(dict.fromkeys(names.outputs_in(raised.words)))
    return replace(failure, form=form, lines=lines, named=last_named, outputs=outputs)


def wrong_numbers(check: str, log: Path) -> Failure:
    """Return the failure that a built-in check reports, with the lines of its log that name outputs and metrics.

    A cut model has other outputs, so that these do not count; whether they are finite does.
    """
    text = log.read_text(errors="replace") if log.is_file() else ""
    spoken = [line for line in text.splitlines() if _MEASURED.search(line)]
    how = "outputs are not finite" if _NOT_FINITE.search(text) else "outputs differ"
    form = f"builtin:{check} does not hold" + (f": {how}" if spoken else "")
    return Failure("check", "failed", form=form, lines=tuple(spoken[:_MEASURES]))


@contextmanager
def _joined(paths: Sequence[Path]) -> Iterator[Path | None]:
    """Give one file with all logs of a command: what it prints and its errors are parts of one build."""
    if len(paths) <= 1:
        yield paths[0] if paths else None
        return
    with tempfile.NamedTemporaryFile(suffix=".log") as whole:
        for path in paths:
            with path.open("rb") as part:
                shutil.copyfileobj(part, whole)
            whole.write(b"\n")
        whole.flush()
        yield Path(whole.name)


def _of_tensorrt(path: Path) -> bool:
    """Whether an output that ends in a traceback has to do with TensorRT; of another the traceback tells more."""
    with path.open("rb") as file:
        return name_tensorrt(file.read(_LARGEST).split(b"\n"))


def _root(path: Path) -> tuple[Finding, QuotedLog] | None:
    try:
        log = read_log(str(path), max_bytes=_LARGEST, on_progress=lambda _: None)
    except (NotABuildLogError, SourceError):
        return None
    findings = judge(Inputs([log]), Suppression()).findings
    errors = [f for f in findings if f.severity is Severity.ERROR and f.consequence_of is None]
    return (errors[0], log) if errors else None


def _with_finding(failure: Failure, finding: Finding, log: QuotedLog, names: Names) -> Failure:
    first = min(evidence.span.line for evidence in finding.evidence)
    build = log.log.builds[finding.build]
    beside = [m for m in build.messages if m.severity == "E" and 0 <= m.span.line - first <= _NEAR]
    cited = [evidence.text for evidence in finding.evidence]
    quoted = log.quote([message.span.line for message in beside])
    texts = [text for text in (*cited, *quoted.values()) if _COMMAND not in text]
    functions = {spot for text in (*cited[:1], *quoted.values()) for spot in _functions(text)}
    about = (node for text in texts for node in names.nodes_in(text))
    named = _distinct(node for node in (*finding.onnx_nodes, *about) if node in names.operators)
    inside = (node for text in texts for node in names.nodes_in(text, names.outputs))
    operators = (names.operators[node] for node in (*finding.onnx_nodes, *inside) if node in names.operators)
    error = next((match[1] or match[2] for text in texts if (match := _ERROR.search(text))), "")
    signature = finding.signature.removeprefix(f"{finding.code} ")
    of_title = signature == without_numbers(finding.title)  # and then names lack their numbers too
    return replace(
        failure,
        code=finding.code,
        operator=next(operators, ""),  # an output, which a check names, says nothing of the node that fails
        functions=tuple(sorted(functions)),
        form=names.blanked(finding.title if of_title else signature),
        title=finding.title,
        lines=tuple(dict.fromkeys((*cited, *quoted.values()))),
        named=named,
        error=error,
        outputs=tuple(dict.fromkeys(name for text in texts for name in names.outputs_in(text))),
    )


def _functions(text: str) -> Iterator[str]:
    for place in _FUNCTION.finditer(text):
        if "CudaError" not in text:  # what a machine without a GPU adds to every failure
            name = place["own"] or place["importer"] or place["inner"]
            yield f"{place['file'] or place['at']}: {name}"


def _distinct(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:_HINTS]


def _end_of(path: Path) -> list[str]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return [line.rstrip("\r") for line in file.read().decode(errors="replace").split("\n")]


def write_failure(folder: Path, failure: Failure, basis: str) -> None:
    """Keep a failure in a folder, with what it was judged by."""
    write_bytes(folder / FILE, sealed(basis, asdict(failure)))


def read_failure(folder: Path, basis: str) -> Failure | None:
    """Return the failure in a folder; None where there is none that was judged by the same."""
    fields = unsealed(folder / FILE, basis)
    if fields is None:
        return None
    decoded: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in fields.items()}
    try:
        return Failure(**decoded)
    except TypeError:
        return None
