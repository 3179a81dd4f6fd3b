"""Next steps of findings: commands to type, made of the command that the log shows.

A command names only models, engines, tensors and sizes that the log names, keeps the settings of the log's command, and
uses options that its TensorRT version has. It writes to names of its own, never over a file that the log's command
wrote, and loads the engine that the log's build saved where only options of the run change. Where that cannot be, the
step says in words what to do and has no command.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from trtforensics.engines.requests import WEAK_FLAGS
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Step
from trtforensics.findings.observations import UNWRITTEN
from trtforensics.findings.versions import NO_LONGER_NEEDED, WRITTEN, Version, flags_of, has_flag
from trtforensics.findings.versions import flags as known_flags
from trtforensics.knowledge.table import rows
from trtforensics.model.log import Outcome, Tool

TIMING_CACHE = "--timingCacheFile=timing.cache"
"""trtexec's flag that keeps the timings of a build."""

_OPTION = re.compile(r" (?=--?[A-Za-z])")
_PLAIN = re.compile(r"[\w@%+=:,./\\-]*")
_INPUTS = ("--onnx", "--uff", "--model", "--deploy")
_NO_INFERENCE = ("--buildOnly", "--skipInference")
_OF_A_RUN_ALONE = ("--shapes", "--loadEngine", "--buildOnly", "--skipInference")
"""Options of a run that do not ask for inference."""
PROFILING = frozenset({"--dumpProfile", "--exportProfile"})
"""trtexec's options that ask for a profile of the layers."""
CLOSE = ("--atol", "1e-3", "--rtol", "1e-3")
"""Polygraphy's options for a tolerance that FP16 can meet."""
_MIXED = "mixed.onnx"
"""The model that :func:`autocast` writes."""
_LEFT_OUT, _NOT_LOADED, _POLYGRAPHY_WRITES = (
    {row["option"] for row in rows("options_apart", "trtforensics.findings") if row["of"] == of}
    for of in ("left out", "not loaded", "polygraphy writes")
)
"""Options that no proposed command keeps (they write files under names of their own, or refuse a new timing cache);
those of a build whose engine takes more to load than the command says; Polygraphy's that name a file to write."""


def model_path(case: Case) -> str:
    """Return the path of the ONNX model: of ``--onnx``, of the command, of the parser's header; empty if unknown."""
    if case.model is not None:
        return case.model.path
    paths = [value_of(options(case), "--onnx")]
    paths += [word for word in _polygraphy_words(case)[2:] if word.endswith(".onnx")][:1]
    paths += [note.text("value") for note in case.notes("onnx_header") if note.text("name") == "Input filename"]
    return next((path for path in paths if path), "")


def engine_path(case: Case) -> str:
    """Return the path of the engine that the log's command loads; empty where it loads none."""
    return value_of(options(case), "--loadEngine")


def replay_path(case: Case) -> str:
    """Return the path of the replay that the user gave, or that the log's Polygraphy command loads; empty for none."""
    if case.replay is not None:
        return case.replay.replay.source.path
    return next(iter(_polygraphy_values(case, "--load-tactics")), "")


def value_of(given: Iterable[str], name: str) -> str:
    """Return the value of an option of trtexec; empty where it is not given, or has none."""
    return next((option.partition("=")[2] for option in given if _name(option) == name), "")


def options(case: Case) -> list[str]:
    """Return the options of the log's trtexec command; the log does not quote them, so a path may contain blanks."""
    if case.build.tool not in {Tool.TRTEXEC, Tool.TENSORRT_RTX} or not case.build.command:
        return []
    return [*_options_of(case.build.command)]


def given_flags(case: Case) -> list[str]:
    """Return the options of the log's trtexec command without their values."""
    return [option.partition("=")[0] for option in options(case)]


def without_effect(case: Case) -> list[str]:
    """Return the options of a build that the log's trtexec command gives beside ``--loadEngine``: they do nothing."""
    given = given_flags(case)
    at_work = {"--onnx"} if "--shapes" in given else {"--onnx", "--optShapes"}
    return [name for name in given if name in flags_of("build") - at_work] if "--loadEngine" in given else []


@lru_cache
def _options_of(command: str) -> tuple[str, ...]:
    return tuple([part.strip() for part in _OPTION.split(f" {command.strip()}") if part.strip().startswith("-")])


def trtexec(case: Case, *flags: str, without: Iterable[str] = ()) -> str:
    """Return the log's trtexec command with these flags, which replace flags of the same name.

    ``without`` names flags to leave out (``--fp16``). The result is empty where the log has no trtexec command, where
    its version lacks one of the flags, where the command would be the log's own, or where a flag has no effect in it: a
    flag of the build beside ``--loadEngine``, a flag of the run beside ``--buildOnly`` or ``--skipInference``. Where
    only the run changes, the command loads the engine that the log's build saved.
    """
    if case.build.tool is not Tool.TRTEXEC:
        return ""
    flags = tuple(_added_to(options(case), flag) for flag in flags)
    kept = _kept(case, flags, without)
    same = sorted([*kept, *flags]) == sorted(options(case))
    engine = _engine_to_load(case, {*map(_name, flags)} | {*without} & {*given_flags(case)})
    kept = _loading(engine, kept) if engine else kept
    return "" if same or not all(_has_effect(case, flag, kept) for flag in flags) else _typed(case, kept, flags)


def _engine_to_load(case: Case, changed: Iterable[str]) -> str:
    """Return the engine that the log's build saved, where a command that changes these options need not build again."""
    given = options(case)
    names = {*map(_name, given)}
    saving = next((option for option in given if _name(option) == "--saveEngine"), "")
    shapeless = names & {"--minShapes", "--maxShapes"} and not names & {"--shapes", "--optShapes"}
    if case.build.outcome is not Outcome.PASSED or shapeless or names & _NOT_LOADED:
        return ""
    later = case.log.builds[case.build.index + 1 :]
    replaced = any(saving in _options_of(build.command or "") for build in later)
    return saving.partition("=")[2] if flags_of("run").issuperset(changed) and not replaced else ""


def _loading(engine: str, kept: Sequence[str]) -> list[str]:
    """Return the options that load an engine and run it as its build's command did: with the shapes of its profile."""
    shapes = [option.replace("--optShapes", "--shapes", 1) for option in kept if _name(option) == "--optShapes"]
    of_the_run = [option for option in kept if _name(option) not in {*flags_of("build"), *_NO_INFERENCE}]
    return [f"--loadEngine={engine}", *of_the_run, *(() if "--shapes" in map(_name, kept) else shapes)]


def _kept(case: Case, flags: Iterable[str], without: Iterable[str]) -> list[str]:
    """Return the options of the log's command that stay: those that its version takes, and that nothing replaces."""
    refused = frozenset([_name(note.text("name")) for note in case.notes("unknown_option")])
    given = _existing(tuple(options(case)), case.version, refused)
    absent = any(note.kind == "no_device" and note.text("count") for note in case.build.notes)
    without = {*without, *(["--device"] if absent else [])}
    dropped = {*without, *map(_name, flags), *(() if "--loadEngine" in without else without_effect(case))}
    if "--stronglyTyped" in {*flags, *given} - {*without}:
        dropped |= {*WEAK_FLAGS}
    return [option for option in given if _name(option) not in dropped]


def typed_step(what: str, command: str) -> tuple[Step, ...]:
    """Return the step, none where there is no command to type."""
    return (Step(what, command),) if command else ()


def another_name(path: str, mark: str = "again") -> str:
    """Return a path beside a file, for one like it; a device keeps its name."""
    return path if path.startswith("/dev/") else re.sub(r"(\.[^./\\]+)?$", rf".{mark}\1", path, count=1)


def unused_name(case: Case, name: str) -> str:
    """Return a name for a file to write: not the log's, its command's or its model's, nor another command's there."""
    commands = list(dict.fromkeys(build.command for build in case.log.builds))
    place = commands.index(case.build.command) + 1 if case.build.command in commands else 1
    name = another_name(name, str(place)) if place > 1 else name
    taken = " ".join((case.log.source.path, case.build.command or "", model_path(case), replay_path(case)))
    while name in taken:
        name = another_name(name)
    return name


def _typed(case: Case, kept: Iterable[str], flags: Iterable[str] = ()) -> str:
    """Return the log's program with options kept and new ones; empty where they name neither model nor engine."""
    parts = (option.partition("=") for option in kept if _name(option) not in _LEFT_OUT)
    refused = any(UNWRITTEN.search(note.text("text")) for note in case.notes("unusable_file"))
    beside = (
        (name, equals, another_name(path.rpartition("/")[2] if refused else path) if name in WRITTEN and path else path)
        for name, equals, path in parts
    )
    words = [*map("".join, beside), *flags]
    if case.build.tool is not Tool.TRTEXEC or not any(_name(word) in {*_INPUTS, "--loadEngine"} for word in words):
        return ""
    program = (case.build.command or "").split(" -", 1)[0].strip() or "trtexec"
    return " ".join(map(_quoted, (program, *words)))


def logged(case: Case, *flags: str) -> str:
    """Return the log's trtexec command with those of these flags that it can take, and both streams in one file."""
    fitting = [flag for flag in flags if trtexec(case, flag)]
    command = trtexec(case, *fitting) if fitting else _typed(case, _kept(case, (), ()))
    return f"{command} > {unused_name(case, 'again.log')} 2>&1" if command else ""


def _added_to(given: Sequence[str], flag: str) -> str:
    """Return a flag; types of layers join those that the command gives, because later entries override earlier ones."""
    name, _, value = flag.partition("=")
    old = value_of(given, name)
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
    if known is None or not has_flag(case.version, flag) or (case.ran("11") and known.name in NO_LONGER_NEEDED):
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
        dropped = asked if reduced else asked | REDUCED
        groups = [group for group in _groups(words) if group[0].partition("=")[0] not in dropped]
        same = sorted([*chain.from_iterable(groups), *flags]) == sorted(words)
        kept = [word for group in groups for word in _group_to_other_files(group)]
        return "" if same else " ".join(map(_quoted, [*kept, *flags]))
    if case.build.tool is not Tool.TRTEXEC or not options(case):
        return ""
    settings = [word for option in options(case) for word in _as_polygraphy(option) if reduced or word not in REDUCED]
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


def _group_to_other_files(group: list[str], engine: str = "") -> list[str]:
    """Return an option of Polygraphy with its values; one that names a file to write names another, or ``engine``."""
    name, equals, path = group[0].partition("=")
    if name not in _POLYGRAPHY_WRITES:
        return group
    paths = [engine or another_name(old) for old in ([path] if equals else group[1:])]
    return [f"{name}={paths[0]}"] if equals else [name, *paths]


REDUCED = frozenset({"--fp16", "--bf16", "--int8", "--fp8"})
_SHAPES = {"--minShapes": "--trt-min-shapes", "--optShapes": "--trt-opt-shapes", "--maxShapes": "--trt-max-shapes"}


def _as_polygraphy(option: str) -> Iterator[str]:
    """Give what an option of trtexec is in Polygraphy: precisions, shapes and plugins; nothing for others."""
    name, _, value = option.partition("=")
    if name in REDUCED:
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


def _polygraphy_values(case: Case, option: str) -> list[str]:
    """Return the values of an option of the log's Polygraphy command."""
    return next((group[1:] for group in _groups(_polygraphy_words(case)) if group[:1] == [option]), [])


def autocast(case: Case, *flags: str) -> Step:
    """Return the step that has ModelOpt's AutoCast write :data:`_MIXED`, the model with its types inside."""
    model = model_path(case)
    words = ["python -m modelopt.onnx.autocast --onnx_path", _quoted(model), "--output_path", unused_name(case, _MIXED)]
    command = " ".join([*words, *map(_quoted, flags)]) if model else ""
    return Step("Put the types into the model with ModelOpt AutoCast", command)


def typed(case: Case) -> Step:
    """Return the step that builds :data:`_MIXED` strongly typed."""
    mixed = unused_name(case, _MIXED)
    return Step(f"and build {mixed} strongly typed", trtexec(case, f"--onnx={mixed}", "--stronglyTyped"))


def trtforensics(*words: str) -> str:
    """Return a command of this tool."""
    return " ".join(["trtforensics", *map(_quoted, words)])


def reduce(case: Case) -> Step:
    """Return the step that searches the smallest model that the log's command fails on in the same way."""
    model = model_path(case)
    build = trtexec(case, f"--onnx={_PROBE}", without=WRITTEN)
    if case.build.tool is Tool.POLYGRAPHY and model in _polygraphy_words(case):
        words = [_PROBE if word == model else word for word in _polygraphy_words(case)]
        dropped = _POLYGRAPHY_WRITES - ({"-o", "--output"} if words[1:2] == ["convert"] else set())
        groups = [group for group in _groups(words) if group[0].partition("=")[0] not in dropped]
        build = " ".join(_quoted(word) for group in groups for word in _group_to_other_files(group, "probe.engine"))
    build = build.replace(_PROBE, "{model}").replace("probe.engine", "{engine}")
    command = trtforensics("reduce", model, "--build", build, "--artifacts-dir", "reduced")
    return Step("Find the smallest model that fails in the same way", command if model and build else "")


_PROBE = "probe.onnx"
"""Stands for the model of a probe while words are quoted: ``reduce`` quotes what it puts in the place of {model}."""


def detailed_flags(case: Case) -> tuple[str, ...]:
    """Return trtexec's flags for engine layers with types and kernels; the one of old versions prints names too."""
    return ("--nvtxMode=verbose",) if case.ran(before="8.2") else ("--profilingVerbosity=detailed", "--dumpLayerInfo")


def default_level(case: Case) -> Step:
    """Return the step that builds at the default optimisation level."""
    return Step("Build at the default level", trtexec(case, without=("--builderOptimizationLevel",)))


def sanitize(case: Case) -> Step:
    """Return the step that folds constants and infers shapes."""
    command = polygraphy("surgeon sanitize", case, "--fold-constants", "-o", unused_name(case, "folded.onnx"))
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
    command, words = trtexec(case, TIMING_CACHE), _polygraphy_words(case)
    if words and not {*words} & _WITHOUT_CACHE:
        saved = _polygraphy_values(case, "--save-timing-cache")
        cache = ["--load-timing-cache", *(saved or ["timing.cache"])]
        command = polygraphy_run(case, *cache, *([] if saved else ["--save-timing-cache", "timing.cache"]))
    return typed_step(what, command)


_WITHOUT_CACHE = {"--load-timing-cache", "--save-tactics", "--load-tactics", "--tactic-replay"}
"""Polygraphy's options that keep timings already, or that switch the timing cache off: an algorithm selector's."""


def profile(case: Case, what: str) -> tuple[Step, ...]:
    """Return the step that measures each layer; none where the log's command asked for that, or cannot be asked."""
    if not PROFILING.isdisjoint(map(_name, options(case))):
        return ()
    separate = ["--separateProfileRun"] if _has_effect(case, "--separateProfileRun", ()) else []
    return typed_step(what, trtexec(case, "--dumpProfile", *separate))


def _quoted(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)
