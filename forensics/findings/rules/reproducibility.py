"""What the next build may choose differently: timing caches, near ties, ForeignNodes, unstable clocks, replays."""

from collections.abc import Iterator, Sequence

from trtforensics.console.counting import counted, listed
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.layers import cost_of, is_foreign, spans_of
from trtforensics.findings.observations import followed_by, observe
from trtforensics.findings.rule import Rule, explained
from trtforensics.findings.steps import commands
from trtforensics.findings.steps.machine import clocks, is_jetson
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import NEAR_TIE_RATIO, TimeSource
from trtforensics.render.time_rows import SpreadForm, enqueue_bound, mean_of, spread_of


@explained("TF502")
def local(case: Case) -> Iterator[Observation]:
    """Report a local or disabled cache; not for TensorRT-RTX, which has no timing cache."""
    notes = [n for n in case.notes("cache_scope", "cache_disabled", "poly_selector") if n.text("scope") != "Global"]
    notes += case.notes("cache_invalid") if _gives_no_cache(case) else []
    if case.version is None or not case.version.rtx:
        selected = case.notes("poly_selector")
        title = "Timings of this build are not kept for the next one"
        if selected:
            cause, fix = local.variants["selector"]
            title += ": an algorithm selector switches the timing cache off"
            yield from observe(notes, title, cause=cause, fix=fix, same_as="local")
        else:
            yield from observe(notes, title, steps=commands.timings_kept(case), same_as="local")


def _gives_no_cache(case: Case) -> bool:
    """Whether no cache is known to be given, by trtexec's options if any: TensorRT 8.0 then calls it invalid."""
    mode, file = (case.build.option("build", f"timingCache{name}") for name in ("Mode", "File"))
    by_program = mode is None and case.ran("8.0", "8.2") and not case.notes("cache_loaded")
    return by_program or ((mode or "").strip() == "local" and not (file or "").strip())


@explained("TF503")
def invalid(case: Case) -> Iterator[Observation]:
    """Report every form of the message; a note where nothing shows that a cache was given at all."""
    name = f"timing-{'.'.join(map(str, case.version.numbers))}.cache" if case.version else "timing-new.cache"
    step = Step("Make a cache of its own for this machine", commands.trtexec(case, f"--timingCacheFile={name}"))
    headers = followed_by(case.notes("plan_magic", "plan_version"), case.notes("cache_unused"))
    refused = [*headers, *case.notes("cache_unused")]
    unfit = [] if _gives_no_cache(case) else case.notes("cache_invalid")
    if refused or case.notes("cache_loaded") or "imingCache" in (case.build.command or ""):
        made = case.notes("cache_serializing", "cache_serialized") if refused or unfit else []
        yield from observe([*refused, *unfit, *made], "The timing cache was refused", steps=(step,))
    else:
        cause, fix = invalid.variants["none"]
        title = "The build has no timing cache that fits, and makes one of its own"
        yield from observe(unfit, title, severity=Severity.NOTE, cause=cause, fix=fix)


@explained("TF505")
def no_hits(case: Case) -> Iterator[Observation]:
    """Report a cache that was loaded with entries and served no hit."""
    loaded = [note for note in case.notes("cache_loaded") if (note.number("count") or 0) > 0]
    useless = [note for note in case.notes("cache_deleted") if note.number("hits") == 0 and note.number("count")]
    if loaded and useless and not case.build.cached:
        yield from observe([*loaded, *useless], "A timing cache was loaded and served no hit", same_as="no hits")


@explained("TF509")
def level_zero(case: Case) -> Iterator[Observation]:
    """Report level 0 together with a cache file."""
    printed = [case.printed("build", name)[-1:] for name in ("BuilderOptimizationLevel", "timingCacheFile")]
    for level, cache in zip(*printed, strict=False):
        if level.value.strip() == "0" and cache.value.strip():
            title, spans = "Level 0 ignores the timing cache that was given", (level.span, cache.span)
            yield Observation(title, spans, steps=(commands.default_level(case),))


@explained("TF510")
def miss(case: Case) -> Iterator[Observation]:
    """Report the refusal."""
    step = Step("Build without the demand", commands.trtexec(case, without=("--errorOnTimingCacheMiss",)))
    title = "The timing cache lacks a layer, and the build must not time one"
    yield from observe(case.notes("cache_miss"), title, steps=(step,))


@explained("TF506")
def near_ties(case: Case) -> Iterator[Observation]:
    """Report near ties among the engine's own choices, where these are known with their share of the engine's time."""
    build = case.build
    tied = {
        place: choice
        for place, choice in enumerate(build.choices)
        if choice.near_tie and choice.final is not False and build.may_be_in_engine(choice.pass_index)
    }
    near = list(tied.values())
    if not near:
        return
    used = [result for result in build.tuned_results if result.final]
    layers = [layer for layer in build.engine_layers if layer.choice in tied]
    cost = cost_of(case, layers) if all(choice.final for choice in near) else None
    near.sort(key=lambda choice: choice.margin or 0.0)
    whose = f"of {counted(len(used), 'choice')} of the engine" if cost else "among the choices that may be the engine's"
    yield Observation(
        f"Near ties (runner-up within {NEAR_TIE_RATIO - 1:.0%}): {len(near)} {whose}",
        [c.span for c in near],
        layers=list(dict.fromkeys(c.layer for c in near)),
        steps=commands.timings_kept(case),
        same_as="near ties",
        cost=cost,
    )


@explained("TF507")
def coverage(case: Case) -> Iterator[Observation]:
    """Report the share of ForeignNodes in the layers, and in the engine's time where that is known."""
    layers = case.engine
    foreign = [layer for layer in layers if is_foreign(layer)]
    if foreign:
        nodes = list(dict.fromkeys(node for layer in foreign for node in layer.onnx_nodes))
        yield Observation(
            f"{len(foreign)} of {counted(len(layers), 'engine layer')} {'are' if len(foreign) > 1 else 'is'} "
            "Myelin's, and a replay cannot pin them",
            spans_of(foreign),
            layers=[layer.name for layer in foreign],
            onnx_nodes=nodes,
            same_as="coverage",
            cost=cost_of(case, foreign),
        )


_IDLE = 0.8
"""The part of a call's time from which the layers' own times leave room for another program's work."""
_SHAKY = 5.0
"""Coefficient of variance in per cent from which times are doubtful, where the log has no percentiles."""
_HELD_MIB = 1024
"""Memory in use before the start from which another program is likely to run: a desktop takes some hundred MiB."""
_CAUSES = {
    **dict.fromkeys((SpreadForm.STEP, SpreadForm.DRIFT, SpreadForm.LEVELS), "clock"),
    **dict.fromkeys((SpreadForm.FEW, SpreadForm.TAIL), "waits"),
    SpreadForm.BROAD: "broad",
    SpreadForm.NARROW: "narrow",
}
_UNSTABLE = "GPU compute time was unstable"
_TITLES: dict[SpreadForm | None, str] = {
    SpreadForm.FEW: "GPU compute time was steady but for a few calls",
    SpreadForm.NARROW: "GPU compute time varied little",
}


@explained("TF508")
def unstable(case: Case) -> Iterator[Observation]:
    """Say in what form the times spread; also where trtexec does not warn of a wide spread."""
    spread, notes = spread_of(case.build), case.notes("unstable")
    variation = next((note.number("number") or 0.0 for note in reversed(notes)), None)
    coefficient = f" (coefficient of variance {variation:.3g} %)" if variation is not None else ""
    if not notes and (spread is None or not spread.is_wide):
        return
    form, text, spans = (spread.form, f": {spread.text}", spread.spans) if spread else (None, "", ())
    doubtful = spread.is_doubtful if spread else (variation or 0.0) >= _SHAKY
    user, seen = _other_user(case) if form is SpreadForm.BROAD else ("", ())
    yield Observation(
        f"{_TITLES.get(form, _UNSTABLE)}{coefficient}{text}{user}",
        [*(note.span for note in notes), *spans, *seen],
        cause=unstable.variants[_CAUSES[form]][0] if form else "",
        severity=Severity.WARNING if doubtful else Severity.NOTE,
        steps=_steadied(case, form, seen, doubtful=doubtful),
        settle="nvidia-smi before and during the run" if user else "",
        same_as=f"{_TITLES.get(form, _UNSTABLE)} (coefficient of variance # %)",
    )


def _other_user(case: Case) -> tuple[str, Sequence[SourceSpan]]:
    """Say what speaks for another program on the GPU: memory that it holds, layers that take less than the calls."""
    ledger, profile, mean = case.facts.ledger, case.build.profile_info, mean_of(case.build.result("gpu_compute_ms"))
    layers = ledger.booked_ms if ledger.time_is is TimeSource.MEASURED else None
    held = next((note for note in case.notes("init_cuda") if (note.number("count") or 0.0) >= _HELD_MIB), None)
    if layers is None or profile is None or layers > _IDLE * (mean or 0.0) or held is None or is_jetson(case):
        return "", ()
    words = f"; another program seems to use the GPU: the layers take {layers:.3g} ms by the profile (line "
    memory = f"{held.number('count'):,.0f} MiB were in use before the run (line {held.span.line})"
    return f"{words}{profile.span.line}), and {memory}", (profile.span, held.span)


def _steadied(case: Case, form: SpreadForm | None, seen: Sequence[SourceSpan], *, doubtful: bool) -> tuple[Step, ...]:
    """Return the steps against a spread: none where the calls are alike but for a few, or too short to time."""
    if seen:
        return (Step("See what else uses the GPU, stop it, and measure again", "nvidia-smi"),)
    if form is SpreadForm.BROAD and enqueue_bound(case.build):
        what = "The host takes as long as the GPU: measure again with --useCudaGraph"
        return commands.typed_step(what, commands.trtexec(case, "--useCudaGraph"))
    alike = form in {SpreadForm.FEW, SpreadForm.TAIL, SpreadForm.NARROW}
    return () if alike or (form is SpreadForm.BROAD and not doubtful) else (clocks(case),)


def _lint(case: Case) -> Step:
    """Return the step that judges the replay that was given, or that the log's command loads."""
    path = commands.replay_path(case)
    command = commands.trtforensics("replay", "lint", path, "--log", case.log.source.path) if path else ""
    return Step("Compare the replay with the log", command)


@explained("TF319")
def refused(case: Case) -> Iterator[Observation]:
    """Name the layers, and the reason where it is a ForeignNode."""
    notes = case.notes("replay_refused")
    layers = list(dict.fromkeys(note.text("layer") for note in notes))
    for layer in layers:
        spans = [n.span for n in notes if n.text("layer") == layer]
        spans += [n.span for n in case.notes("selector_threw") if n.span not in spans]
        foreign = is_foreign_node(layer)
        yield Observation(
            f"The replay's tactic for {layer} is refused"
            + (": a ForeignNode offers what it recorded only" if foreign else ""),
            spans,
            layers=(layer,),
            steps=(_lint(case),),
            same_as="refused" + (" foreign" if foreign else ""),
        )


@explained("TF321")
def partly(case: Case) -> Iterator[Observation]:
    """Report layers that the replay lacks, and tactics of the replay that were not taken."""
    title = "The replay does not hold {names}"
    yield from observe(case.notes("replay_unknown"), title, names="layer", steps=(_lint(case),), same_as="missing")
    title = "TensorRT did not take the replay's tactic for {names}"
    notes = case.notes("replay_ignored")
    yield from observe(notes, title, names="layer", steps=(_lint(case),), severity=Severity.ERROR, same_as="ignored")


def _observed(case: Case, title: str, *codes: str) -> Iterator[Observation]:
    """Give one observation of the replay's problems in this build that have one of these codes."""
    problems = [problem for problem in case.replay_problems if problem.code in codes]
    if problems:
        layers = list(dict.fromkeys(problem.layer for problem in problems if problem.layer))
        entries = "1 entry" if len(problems) == 1 else f"{len(problems)} entries"
        yield Observation(
            title.replace("{count}", entries).replace("{names}", listed(layers)),
            [problem.span for problem in problems],
            cause=". ".join(dict.fromkeys(problem.what for problem in problems[:3])),
            layers=layers,
            steps=(_lint(case),),
            same_as=problems[0].code,
        )


def _replayed(code: str, title: str, *codes: str) -> Rule:
    """Make a rule of the replay's problems that have one of these codes."""
    return explained(code)(lambda case: _observed(case, title, *codes))


not_offered = _replayed(
    *("TF801", "{count} of the replay will be refused: {names}"),
    *("format-not-offered", "tactic-not-offered", "wrong-runner"),
)
foreign_types = _replayed(
    "TF802", "The replay changes the types of {names}, which will be refused", "foreign-node-dtype"
)
without_effect = _replayed(
    *("TF803", "{count} of the replay without effect: {names}"),
    *("missing-layer", "renamed-layer", "wrong-profile", "no-selector"),
)
unpinned = _replayed("TF804", "The replay does not pin {names}", "unpinned-layer")
inside = _replayed("TF805", "The replay has ForeignNodes, inside which it pins nothing: {names}", "foreign-nodes")
