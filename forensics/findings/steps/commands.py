"""Next steps of findings: commands that can be typed as they stand, made of what the log says of its own command.

A command names only models, engines, tensors and sizes that the log names, keeps the settings of the log's command, and
uses options that its TensorRT version has. Where that cannot be, the step says in words what to do and has no command.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING

from trtforensics.engines.requests import WEAK_FLAGS
from trtforensics.findings.finding import Step
from trtforensics.findings.steps.trtexec_flags import flags as known_flags
from trtforensics.findings.steps.trtexec_flags import has_flag
from trtforensics.model.log import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.findings.versions import Version

TIMING_CACHE = "--timingCacheFile=timing.cache"
"""trtexec's flag that keeps the timings of a build."""

_OPTION = re.compile(r" (?=--?[A-Za-z])")
_PLAIN = re.compile(r"[\w@%+=:,./\\-]*")
_INPUTS = ("--onnx", "--uff", "--model", "--deploy")
_NO_INFERENCE = ("--buildOnly", "--skipInference")
_OF_A_RUN_ALONE = ("--shapes", "--loadEngine", "--buildOnly", "--skipInference")
"""Options of a run that do not ask for inference."""
MIXED = "mixed.onnx"
"""The model that :func:`autocast` writes."""


def model_path(case: Case) -> str:
    """Return the path of the ONNX model: of ``--onnx``, of the command, of the parser's header; empty if unknown."""
    if case.model is not None:
        return case.model.path
    paths = [option.partition("=")[2] for option in options(case) if option.startswith("--onnx=")]
    paths += [word for word in _polygraphy_words(case)[2:] if word.endswith(".onnx")][:1]
    paths += [note.text("value") for note in case.notes("onnx_header") if note.text("name") == "Input filename"]
    return next((path for path in paths if path), "")


def engine_path(case: Case) -> str:
    """Return the path of the engine that the log's command loads; empty where it loads none."""
    return next((o.partition("=")[2] for o in options(case) if o.startswith("--loadEngine=")), "")


def options(case: Case) -> list[str]:
    """Return the options of the log's trtexec command; the log does not quote them, so a path may contain blanks."""
    if case.build.tool not in {Tool.TRTEXEC, Tool.TENSORRT_RTX} or not case.build.command:
        return []
    return [*_options_of(case.build.command)]


@lru_cache
def _options_of(command: str) -> tuple[str, ...]:
    return tuple([part.strip() for part in _OPTION.split(f" {command.strip()}") if part.strip().startswith("-")])


def trtexec(case: Case, *flags: str, without: Iterable[str] = ()) -> str:
    """Return the log's trtexec command with these flags, which replace flags of the same name.

    ``without`` names flags to leave out (``--fp16``). The result is empty where the log has no trtexec command, where
    its version lacks one of the flags, where the command would be the log's own, or where a flag has no effect in it: a
    flag of the build beside ``--loadEngine``, a flag of the run beside ``--buildOnly`` or ``--skipInference``.
    """
    if case.build.tool is not Tool.TRTEXEC:
        return ""
    flags = tuple(_added_to(options(case), flag) for flag in flags)
    kept = _kept(case, flags, without)
    same = sorted([*kept, *flags]) == sorted(options(case))
    if same or not all(_has_effect(case, flag, kept) for flag in flags):
        return ""
    return _typed(case, (*kept, *flags))


def _kept(case: Case, flags: Iterable[str], without: Iterable[str]) -> list[str]:
    """Return the options of the log's command that stay: those that its version takes, and that nothing replaces."""
    refused = frozenset([_name(note.text("name")) for note in case.notes("unknown_option")])
    given = _existing(tuple(options(case)), case.version, refused)
    dropped = {*without, *map(_name, flags)}
    if "--stronglyTyped" in {*flags, *given} - {*without}:
        dropped |= {*WEAK_FLAGS}
    return [option for option in given if _name(option) not in dropped]


def _typed(case: Case, words: Sequence[str]) -> str:
    """Return the log's program with these options; empty where they name neither model nor engine."""
    if case.build.tool is not Tool.TRTEXEC or not any(_name(word) in {*_INPUTS, "--loadEngine"} for word in words):
        return ""
    program = (case.build.command or "").split(" -", 1)[0].strip() or "trtexec"
    return " ".join(map(_quoted, (program, *words)))


def logged(case: Case, *flags: str) -> str:
    """Return the log's trtexec command with those of these flags that it can take, and both streams in one file."""
    fitting = [flag for flag in flags if trtexec(case, flag)]
    own = trtexec(case, *fitting) if fitting else _typed(case, _kept(case, (), ()))
    return f"{own} > again.log 2>&1" if own else ""


def _added_to(given: Sequence[str], flag: str) -> str:
    """Return a flag; types of layers join those that the command gives, because later entries override earlier ones."""
    name, _, value = flag.partition("=")
    old = next((option.partition("=")[2] for option in given if _name(option) == name), "")
    return f"{name}={old},{value}" if name in _TYPES_OF_LAYERS and old else flag


_TYPES_OF_LAYERS = ("--layerPrecisions", "--layerOutputTypes")


@lru_cache
def _existing(given: Sequence[str], version: Version | None, refused: frozenset[str]) -> tuple[str, ...]:
    """Return the options of a command that may be kept: those that neither the version lacks nor the program refused.

    A log may hold a thousand builds by one command, and twenty rules ask for each.
    """
    known = () if version is None else known_flags()
    names = [(_name(option), option) for option in given]
    return tuple(
        [option for name, option in names if name not in refused and (name not in known or has_flag(version, option))]
    )


def _has_effect(case: Case, flag: str, kept: Sequence[str]) -> bool:
    known = known_flags().get(_name(flag))
    if known is None or not has_flag(case.version, flag):
        return False
    names = set(map(_name, kept))
    if known.name in WEAK_FLAGS and "--stronglyTyped" in names:
        return False
    loads = "--loadEngine" in names
    runs = not names & {*_NO_INFERENCE}
    return (known.when != "build" or not loads) and (known.when != "run" or _name(flag) in _OF_A_RUN_ALONE or runs)


def _name(option: str) -> str:
    return option.partition("=")[0].partition(" ")[0]


def polygraphy(words: str, case: Case, *flags: str) -> str:
    """Return a Polygraphy command on the model (``words`` are ``surgeon sanitize``); empty where it is unknown."""
    model = model_path(case)
    return " ".join(["polygraphy", words, _quoted(model), *map(_quoted, flags)]) if model else ""


def polygraphy_run(case: Case, *flags: str, reduced: bool = True) -> str:
    """Return a ``polygraphy run`` of the model with the settings of the log's command; empty where these are unknown.

    Without ``reduced`` it builds in FP32: the precisions of the log's command are left out.
    """
    if case.build.tool is Tool.POLYGRAPHY:
        words = _polygraphy_words(case)
        if words[1:2] != ["run"] or not model_path(case):
            return ""
        asked = {flag for flag in flags if flag.startswith("--")}
        dropped = asked if reduced else asked | _REDUCED
        kept = [word for group in _groups(words) if group[0].partition("=")[0] not in dropped for word in group]
        same = sorted([*kept, *flags]) == sorted(words)
        return "" if same else " ".join(map(_quoted, [*kept, *flags]))
    if case.build.tool is not Tool.TRTEXEC or not options(case):
        return ""
    settings = [word for option in options(case) for word in _as_polygraphy(option) if reduced or word not in _REDUCED]
    return polygraphy("run", case, "--trt", *settings, *flags)


def _groups(words: Sequence[str]) -> Iterator[list[str]]:
    """Give the words of a command line: each option with the values behind it."""
    group: list[str] = []
    for word in words:
        if word.startswith("-") and group:
            yield group
            group = []
        group.append(word)
    yield group


_REDUCED = frozenset({"--fp16", "--bf16", "--int8", "--fp8"})
_SHAPES = {"--minShapes": "--trt-min-shapes", "--optShapes": "--trt-opt-shapes", "--maxShapes": "--trt-max-shapes"}


def _as_polygraphy(option: str) -> Iterator[str]:
    """Give what an option of trtexec is in Polygraphy: precisions, shapes and plugins; nothing for others."""
    name, _, value = option.partition("=")
    if name in _REDUCED:
        yield name
    elif name == "--best":
        yield from ("--fp16", "--int8")
    elif name in _SHAPES and value:
        yield from (_SHAPES[name], *_shapes(value))
    elif name in {"--plugins", "--staticPlugins", "--dynamicPlugins"} and value:
        yield from ("--plugins", value)


def _shapes(spec: str) -> Iterator[str]:
    """Give the shapes of ``x:1x3,y:2`` as Polygraphy takes them: ``x:[1,3]``."""
    for part in spec.split(","):
        name, _, dims = part.rpartition(":")
        yield f"{name}:[{dims.replace('x', ',')}]"


def _polygraphy_words(case: Case) -> list[str]:
    """Return the words of the log's Polygraphy command, its program without the folder; none where it has none."""
    command = case.build.command or ""
    if case.build.tool is not Tool.POLYGRAPHY:
        return []
    words = command.split()
    return ["polygraphy", *words[1:]] if words else []


def autocast(case: Case, *flags: str) -> Step:
    """Return the step that has ModelOpt's AutoCast write :data:`MIXED`, the model with types of its own."""
    model = model_path(case)
    words = ["python -m modelopt.onnx.autocast --onnx_path", _quoted(model), "--output_path", MIXED]
    command = " ".join([*words, *map(_quoted, flags)]) if model else ""
    return Step("Put the types into the model with ModelOpt AutoCast", command)


def typed(case: Case) -> Step:
    """Return the step that builds :data:`MIXED` strongly typed."""
    return Step(f"and build {MIXED} strongly typed", trtexec(case, f"--onnx={MIXED}", "--stronglyTyped"))


def reduce(case: Case) -> Step:
    """Return the step that searches the smallest model that the log's command fails on in the same way."""
    model = model_path(case)
    build = trtexec(case, f"--onnx={_PROBE}", without=("--saveEngine",))
    if case.build.tool is Tool.POLYGRAPHY and model in _polygraphy_words(case):
        build = " ".join(_quoted(_PROBE if word == model else word) for word in _polygraphy_words(case))
    build = build.replace(_PROBE, "{model}")
    command = f"trtforensics reduce {_quoted(model)} --build {_quoted(build)} --artifacts-dir reduced"
    return Step("Find the smallest model that fails in the same way", command if model and build else "")


_PROBE = "probe.onnx"
"""Stands for the model of a probe while words are quoted: ``reduce`` quotes what it puts in the place of {model}."""


def sanitize(case: Case) -> Step:
    """Return the step that folds constants and infers shapes."""
    command = polygraphy("surgeon sanitize", case, "--fold-constants", "-o", "folded.onnx")
    return Step("Fold constants and infer shapes first", command)


def timings_kept(case: Case) -> tuple[Step, ...]:
    """Return the step that keeps the timings of the next builds; none where the log's build kept them already."""
    kept = case.build.option("build", "timingCacheFile") or ""
    scope = [note for note in case.notes("cache_scope") if note.text("scope") == "Global"]
    if kept.strip() or scope or (case.version is not None and case.version.rtx):
        return ()
    what = "Keep the timings, so that the same tactics win again"
    if case.build.tool is Tool.TENSORRT_PYTHON:
        return (Step(f"{what}: IBuilderConfig.set_timing_cache"),)
    command = trtexec(case, TIMING_CACHE)
    if case.build.tool is Tool.POLYGRAPHY and not {*_polygraphy_words(case)} & _WITHOUT_CACHE:
        command = polygraphy_run(case, "--save-timing-cache", "timing.cache", "--load-timing-cache", "timing.cache")
    return (Step(what, command),) if command else ()


_WITHOUT_CACHE = {"--load-timing-cache", "--save-tactics", "--load-tactics", "--tactic-replay"}
"""Polygraphy's options that keep timings already, or that switch the timing cache off: an algorithm selector's."""


def profile(case: Case, what: str) -> tuple[Step, ...]:
    """Return the step that measures each layer; none where the log's command asked for that, or cannot be asked."""
    if any(_name(option) in {"--dumpProfile", "--exportProfile"} for option in options(case)):
        return ()
    separate = ["--separateProfileRun"] if has_flag(case.version, "--separateProfileRun") else []
    command = trtexec(case, "--dumpProfile", *separate)
    return (Step(what, command),) if command else ()


def _quoted(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)
