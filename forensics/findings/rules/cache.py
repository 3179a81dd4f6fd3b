"""Whether two builds can come out alike: timing cache, near ties, what a replay cannot pin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.engine_facts import in_engine, is_foreign, spans_of, timing_of, tuned_ms
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import count, told
from trtforensics.findings.rule import rule
from trtforensics.findings.steps import trtexec
from trtforensics.model.timings import NEAR_TIE_RATIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.span import SourceSpan

CACHE = "--timingCacheFile=timing.cache"


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
    cause="With a local timing cache, or none, every build times all tactics anew, and near ties fall as noise has it.",
    confirm="Build twice and compare: trtforensics diff FIRST SECOND.",
    fixes=(
        Fix("Keep a timing cache: --timingCacheFile=FILE, IBuilderConfig.set_timing_cache.", "8.0"),
        Fix("To pin tactics too, set BuilderFlag.EDITABLE_TIMING_CACHE.", "10.8"),
    ),
    sources=("8.x to 10.16 logs", "NVIDIA/TensorRT#4730, #3316"),
)
def local(case: Case) -> Iterator[Observation]:
    """A local cache, or the line that there is none; TensorRT-RTX has none at all."""
    notes = [n for n in case.notes("cache_scope", "cache_disabled") if n.text("scope") != "Global"]
    if case.version is None or not case.version.rtx:
        step = Step("Keep the timings", trtexec(case, CACHE))
        yield from told(notes, "Timings of this build are not kept for the next one", steps=(step,), same_as="local")


@rule(
    "TF503",
    Severity.WARNING,
    "The timing cache does not fit",
    cause="The cache was made by another TensorRT, on another GPU or with another CUDA: it is dropped, and "
    "everything is "
    "timed anew.",
    confirm="Compare UUID and commit ID of the 'Serializing timing cache' lines of both builds.",
    fixes=("Make a cache for each TensorRT version and GPU, and keep them apart by name.",),
    sources=("NVIDIA/TensorRT#1413, #3566, #2144", "TensorRT-LLM#489"),
)
def invalid(case: Case) -> Iterator[Observation]:
    """Every form of the message."""
    step = Step("Make a cache of its own for this machine", trtexec(case, CACHE))
    yield from told(case.notes("cache_invalid", "cache_unused"), "The timing cache was refused", steps=(step,))


@rule(
    "TF504",
    Severity.WARNING,
    "A timing cache and an algorithm selector at once",
    cause="Layers that the cache knows are not offered to the selector: a replay is then incomplete, without a word.",
    confirm="Compare the layers of the replay with those of the log: trtforensics replay lint.",
    fixes=(Fix("Set DISABLE_TIMING_CACHE while recording and replaying; Polygraphy does.", before="11"),),
    sources=("a 10.x log of the AlgorithmSelector sample",),
)
def selector(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    yield from told(case.notes("selector_cache"), "The algorithm selector does not see what the timing cache knows")


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
    """Loaded entries and no hit."""
    loaded = [note for note in case.notes("cache_loaded") if (note.number("count") or 0) > 0]
    useless = [note for note in case.notes("cache_deleted") if note.number("hits") == 0 and note.number("count")]
    if loaded and useless and not case.build.cached:
        spans = [note.span for note in (*loaded, *useless)]
        yield Observation("A timing cache was loaded and served no hit", spans, same_as="no hits")


@rule(
    "TF506",
    Severity.NOTE,
    "Choices are near ties",
    cause="The runner-up is within 2 % of the chosen tactic: noise decides, so the next build may choose the other "
    "one, "
    "which rounds differently.",
    confirm="Build again with the same command and compare: trtforensics diff FIRST SECOND.",
    fixes=(
        "Lock the GPU's clocks while building (nvidia-smi --lock-gpu-clocks).",
        Fix("Keep a timing cache, so that the same tactic wins again.", "8.0"),
        Fix("Pin tactics by an editable timing cache (BuilderFlag.EDITABLE_TIMING_CACHE).", "10.8"),
        Fix("Pin tactics by a replay: polygraphy run --save-tactics, --load-tactics.", "8.5", "11"),
    ),
    sources=("NVIDIA/TensorRT#4730, #3316, #568, #1071, #2955", "TensorRT-Model-Connect#416"),
)
def near_ties(case: Case) -> Iterator[Observation]:
    """Of the engine's own choices where they are known, with their share of the tuned time."""
    build = case.build
    near = [c for c in build.choices if c.near_tie and c.final is not False and in_engine(build, c.pass_index)]
    if not near:
        return
    used = [c.time_ms or 0 for c in build.choices if c.final] + [c.time_ms or 0 for c in build.cached if c.final]
    total = sum(used)
    mine = sum(c.time_ms or 0 for c in near if c.final)
    share = f", {mine / total:.0%} of the tuned time" if used and total and all(c.final for c in near) else ""
    near.sort(key=lambda c: (c.runner_up_ms or 0) / (c.time_ms or 1))
    whose = f"of {count(len(used), 'choice')} of the engine" if share else "among the choices that may be the engine's"
    yield Observation(
        f"Near ties (runner-up within {NEAR_TIE_RATIO - 1:.0%}): {len(near)} {whose}{share}",
        [c.span for c in near],
        layers=list(dict.fromkeys(c.layer for c in near)),
        steps=(Step("Keep the timings, so that the same tactics win again", trtexec(case, CACHE)),),
        same_as="near ties",
    )


@rule(
    "TF507",
    Severity.NOTE,
    "Part of the engine is inside ForeignNodes",
    cause="A ForeignNode is one entry to an algorithm selector, with tactic 0: a replay cannot pin the kernels "
    "inside, and "
    "two builds with one replay may differ there.",
    confirm="The replay's entry of the ForeignNode has tactic 0.",
    fixes=(
        Fix("Pin what is inside by keys of an editable timing cache.", "10.8"),
        Fix("Break it up by marking outputs, or by Casts.", before="10.8"),
        Fix("Steer Myelin by a build route (--setBuildRoute).", "11.1"),
    ),
    sources=("NVIDIA/TensorRT#2576, #4040", "Polygraphy's example of flaky tactics"),
)
def coverage(case: Case) -> Iterator[Observation]:
    """Share of layers, and of the tuned time where it is known."""
    layers = case.engine
    foreign = [layer for layer in layers if is_foreign(layer)]
    if foreign:
        timed = all(timing_of(case.build, layer) is not None for layer in foreign)
        whole = tuned_ms(case.build, layers)
        share = f", {tuned_ms(case.build, foreign) / whole:.0%} of the tuned time" if timed and whole else ""
        nodes = list(dict.fromkeys(node for layer in foreign for node in layer.onnx_nodes))
        yield Observation(
            f"{len(foreign)} of {count(len(layers), 'engine layer')} {'are' if len(foreign) > 1 else 'is'} "
            f"Myelin's{share}: "
            "a replay cannot pin them",
            spans_of(foreign),
            layers=[layer.name for layer in foreign],
            onnx_nodes=nodes,
            same_as="coverage",
        )


@rule(
    "TF508",
    Severity.WARNING,
    "GPU time was unstable",
    cause="Clocks changed while measuring: timings of this build, and of its tactics, are noise beyond a few per cent.",
    confirm="nvidia-smi --query-gpu=clocks.sm --format=csv --loop=1 while building.",
    fixes=("Lock the clocks, cool the GPU, leave it alone while building.",),
    sources=("trtexec's source: above 2.5 % of variation",),
)
def unstable(case: Case) -> Iterator[Observation]:
    """Cite the variation."""
    for note in case.notes("unstable"):
        variation = note.number("number")
        told_variation = f" (coefficient of variance {variation:.3g} %)" if variation is not None else ""
        yield Observation(
            f"GPU compute time was unstable{told_variation}",
            (note.span,),
            steps=(Step("Lock the clocks, then build and measure again", "nvidia-smi --lock-gpu-clocks=MHZ"),),
        )


@rule(
    "TF509",
    Severity.WARNING,
    "Optimisation level 0 ignores the timing cache",
    cause="At level 0 tactics are picked by heuristics, and a timing cache, editable or not, has no say.",
    confirm="BuilderOptimizationLevel and timingCacheFile in the build options.",
    fixes=(Fix("Build at level 1 or higher.", "8.6"),),
    sources=("TensorRT's description of builder_optimization_level",),
)
def level_zero(case: Case) -> Iterator[Observation]:
    """Level 0 together with a cache file."""
    facts = {fact.name: fact for fact in case.build.options.get("build", ())}
    level, cache = facts.get("BuilderOptimizationLevel"), facts.get("timingCacheFile")
    if level is not None and level.value.strip() == "0" and cache is not None and cache.value.strip():
        step = Step("Build at the default level", trtexec(case, without=("--builderOptimizationLevel",)))
        yield Observation("Level 0 ignores the timing cache that was given", (level.span, cache.span), steps=(step,))
