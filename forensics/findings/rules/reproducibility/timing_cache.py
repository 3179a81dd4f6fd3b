"""Timing caches that are missing, refused or without effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import followed_by, observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import timings_kept, trtexec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.span import SourceSpan


@rule(
    "TF501",
    Severity.NOTE,
    "The timing cache could not be read",
    cause="The file was not there, so it is made now: expected in the first build, a wrong path in any other.",
    confirm="The line names the path.",
    fixes=("Check the path; the next build reads what this one writes.",),
    sources=("8.5 and 10.16 logs",),
)
def unread(case: Case) -> Iterator[Observation]:
    """Name the file."""
    lines: dict[str, list[SourceSpan]] = {}
    for note in case.notes("cache_unread"):
        lines.setdefault(note.text("text").partition(". A new")[0], []).append(note.span)
    for path, spans in lines.items():
        yield Observation(f"No timing cache was read from {path}", spans)


@rule(
    "TF502",
    Severity.NOTE,
    "Timings are not kept",
    cause="With a local timing cache, or none, every build times all tactics anew, and noise decides near ties.",
    confirm="Build twice and compare: trtforensics diff FIRST SECOND.",
    fixes=(
        Fix("Keep a timing cache: --timingCacheFile=FILE, IBuilderConfig.set_timing_cache.", "8.0"),
        Fix("To pin tactics too, set BuilderFlag.EDITABLE_TIMING_CACHE.", "10.8"),
    ),
    sources=("8.x to 10.16 logs", "NVIDIA/TensorRT#4730, #3316"),
)
def local(case: Case) -> Iterator[Observation]:
    """Report a local or disabled cache; not for TensorRT-RTX, which has no timing cache."""
    notes = [n for n in case.notes("cache_scope", "cache_disabled", "poly_selector") if n.text("scope") != "Global"]
    if case.version is None or not case.version.rtx:
        yield from observe(
            notes, "Timings of this build are not kept for the next one", steps=timings_kept(case), same_as="local"
        )


@rule(
    "TF503",
    Severity.WARNING,
    "The timing cache does not fit",
    cause="The cache was made by another TensorRT, on another GPU or with another CUDA: it is dropped, and everything "
    "is timed anew.",
    confirm="Compare UUID and commit ID of the 'Serializing timing cache' lines of both builds.",
    fixes=("Make a cache for each TensorRT version and GPU, and keep them apart by name.",),
    sources=("NVIDIA/TensorRT#1413, #3566, #2144", "TensorRT-LLM#489"),
)
def invalid(case: Case) -> Iterator[Observation]:
    """Report every form of the message."""
    name = f"timing-{'.'.join(map(str, case.version.numbers))}.cache" if case.version else "timing-new.cache"
    step = Step("Make a cache of its own for this machine", trtexec(case, f"--timingCacheFile={name}"))
    headers = followed_by(case.notes("plan_magic", "plan_version"), case.notes("cache_unused"))
    notes = [*headers, *case.notes("cache_invalid", "cache_unused")]
    made = case.notes("cache_serializing", "cache_serialized") if notes else []
    yield from observe([*notes, *made], "The timing cache was refused", steps=(step,))


@rule(
    "TF504",
    Severity.WARNING,
    "A timing cache and an algorithm selector at once",
    cause="Layers that the cache knows are not offered to the selector: a replay is then incomplete, and nothing "
    "warns of it.",
    confirm="Compare the layers of the replay with those of the log: trtforensics replay lint.",
    fixes=(Fix("Set DISABLE_TIMING_CACHE while recording and replaying; Polygraphy does.", before="11"),),
    sources=("a 10.x log of the AlgorithmSelector sample",),
)
def selector(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    yield from observe(case.notes("selector_cache"), "The algorithm selector does not see what the timing cache knows")


@rule(
    "TF505",
    Severity.WARNING,
    "The timing cache that was loaded served nothing",
    cause="A cache file was read, but not one entry fitted: another model, other shapes, types or flags.",
    confirm="The lines 'Loaded N bytes' and 'Deleting timing cache: N entries, served 0 hits'.",
    fixes=("Use the cache of a build of this model with these flags.",),
    sources=("8.6 to 10.16 logs",),
)
def no_hits(case: Case) -> Iterator[Observation]:
    """Report a cache that was loaded with entries and served no hit."""
    loaded = [note for note in case.notes("cache_loaded") if (note.number("count") or 0) > 0]
    useless = [note for note in case.notes("cache_deleted") if note.number("hits") == 0 and note.number("count")]
    if loaded and useless and not case.build.cached:
        spans = [note.span for note in (*loaded, *useless)]
        yield Observation("A timing cache was loaded and served no hit", spans, same_as="no hits")


@rule(
    "TF509",
    Severity.WARNING,
    "Optimisation level 0 ignores the timing cache",
    cause="At level 0 tactics are picked by heuristics, and a timing cache, editable or not, is ignored.",
    confirm="BuilderOptimizationLevel and timingCacheFile in the build options.",
    fixes=(Fix("Build at level 1 or higher.", "8.6"),),
    sources=("TensorRT's description of builder_optimization_level",),
)
def level_zero(case: Case) -> Iterator[Observation]:
    """Report level 0 together with a cache file."""
    facts = {fact.name: fact for fact in case.build.options.get("build", ())}
    level, cache = facts.get("BuilderOptimizationLevel"), facts.get("timingCacheFile")
    if level is not None and level.value.strip() == "0" and cache is not None and cache.value.strip():
        step = Step("Build at the default level", trtexec(case, without=("--builderOptimizationLevel",)))
        yield Observation("Level 0 ignores the timing cache that was given", (level.span, cache.span), steps=(step,))


@rule(
    "TF510",
    Severity.ERROR,
    "The build stopped at a layer that the timing cache lacks",
    cause="The build was told to fail where the timing cache has no entry for a layer (ERROR_ON_TIMING_CACHE_MISS): "
    "the cache is of another model, other shapes, types or flags, or another TensorRT or GPU.",
    confirm="The line names the layer; 'Loaded N timing cache entries' says how many there were.",
    fixes=(Fix("Make the cache anew with this model and these flags, or leave --errorOnTimingCacheMiss out.", "9.1"),),
    sources=("trtexec's help of --errorOnTimingCacheMiss, 9.1 to 11.1",),
)
def miss(case: Case) -> Iterator[Observation]:
    """Report the refusal."""
    step = Step("Build without the demand", trtexec(case, without=("--errorOnTimingCacheMiss",)))
    title = "The timing cache lacks a layer, and the build must not time one"
    yield from observe(case.notes("cache_miss"), title, steps=(step,))
