"""What a build log says, for a person: a page of text, most important first, every fact with its line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trtforensics.model import tactic_text
from trtforensics.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.model import BackendPass, Build, BuildLog, CachedResult, Choice

_OPTIONS = (
    ("model", "Model"),
    ("build", "Precision"),
    ("build", "LayerPrecisions"),
    ("build", "Memory Pools"),
    ("build", "Workspace"),
    ("build", "BuilderOptimizationLevel"),
    ("build", "Tactic sources"),
    ("build", "timingCacheFile"),
    ("build", "Sparsity"),
)
_SILENT = {"", "Disabled", "-1", "Using default tactic sources"}
"""Values that say "as usual"."""

_SHOWN = 3
_LABEL = 11
_NAME_WIDTH = 72
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def summarise(log: BuildLog, *, colour: bool = False) -> str:
    """Return the summary of a log; the log's own text never carries control characters into it."""
    blocks = [_head(log), *(_build(log, build, colour=colour) for build in log.builds)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _head(log: BuildLog) -> list[str]:
    source = log.source
    size = f"{source.bytes / 1e6:,.1f} MB" if source.bytes >= 1_000_000 else f"{source.bytes / 1e3:,.1f} kB"
    lines = [f"{visible(source.path)}: {_count(source.lines, 'line')}, {size}, {_count(len(log.builds), 'build')}"]
    unknown = log.lines.unknown
    if not unknown:
        return [*lines, "every logged line was understood"]
    most = log.unknown_samples[0]
    return [
        *lines,
        f"{_count(unknown, 'line')} of {_count(log.unknown_shapes, 'shape')} {'was' if unknown == 1 else 'were'} not understood,"
        f" most often line {most.line}: {_short(most.text)}",
    ]


def _build(log: BuildLog, build: Build, *, colour: bool) -> list[str]:
    version = f"TensorRT {build.tensorrt_version}" if build.tensorrt_version else "TensorRT version not told"
    title = f"Build {build.index + 1} of {len(log.builds)}  lines {build.first_line}-{build.last_line}  {build.tool}  {version}  {build.outcome}"
    rows = [
        *_setting(build),
        *_graph(build),
        *_tuning(build),
        *_engine(build),
        *_messages(build),
        *_results(build),
    ]
    return [f"{_BOLD}{title}{_PLAIN}" if colour else title, *(f"  {label:<{_LABEL}}{text}" for label, text in rows)]


def _setting(build: Build) -> Iterator[tuple[str, str]]:
    if build.command:
        yield "command", _short(build.command, 200)
    device = build.option("device", "Selected Device")
    if device:
        capability = build.option("device", "Compute Capability")
        yield "GPU", visible(f"{device}, compute capability {capability}" if capability else device)
    elif build.stages or build.choices:
        yield "GPU", "not told by this log"
    shown = ((name, build.option(block, name)) for block, name in _OPTIONS)
    told = [f"{name}: {_short(value)}" for name, value in shown if value is not None and value.strip() not in _SILENT]
    yield from _list("options", told)


def _graph(build: Build) -> Iterator[tuple[str, str]]:
    if len(build.passes) > 1:
        yield from _list("passes", [_pass(i, p) for i, p in enumerate(build.passes)])
    own = [s for s in build.stages if s.pass_index is None or _is_engines(build, s.pass_index)]
    if own:
        steps = [own[0], *(b for a, b in zip(own, own[1:], strict=False) if a.layers != b.layers)]
        yield "stages", "layers: " + ", ".join(f"{s.layers} {_stage(s.name)}" for s in steps)
    fusions = [f for f in build.fusions if f.pass_index is None or _is_engines(build, f.pass_index)]
    if fusions:
        yield "fusions", f"{len(fusions)}: {_tally(f.kind for f in fusions)} (from line {fusions[0].span.line})"


def _pass(index: int, backend: BackendPass) -> str:
    verdict = {True: "the engine", False: "discarded", None: "not told whether the engine is from it"}[backend.chosen]
    strategy = f"backend strategy {backend.backend_strategy}" if backend.backend_strategy is not None else "pass"
    estimate = f", estimated {backend.estimated_ms:g} ms" if backend.estimated_ms is not None else ""
    return f"{index}: {strategy}, lines {backend.first_line}-{backend.last_line}, {verdict}{estimate}"


def _stage(name: str) -> str:
    return "originally" if name == "Original" else name[0].lower() + name[1:]


def _is_engines(build: Build, index: int) -> bool:
    """Whether a pass is the engine's, or could be."""
    return build.passes[index].chosen is not False


def _tuning(build: Build) -> Iterator[tuple[str, str]]:
    counts = build.autotuning
    if not (counts.tactics_timed or counts.cache_hits or build.choices):
        return
    final = sum(1 for c in (*build.choices, *build.cached) if c.final)
    skipped = f", {counts.tactics_skipped} skipped for want of workspace" if counts.tactics_skipped else ""
    cached = f", {_count(counts.cache_hits, 'cached result')}" if counts.cache_hits else ""
    yield (
        "tactics",
        f"{counts.tactics_timed:,} timed in {_count(counts.runner_blocks, 'runner block')}{skipped}{cached}; "
        f"{_count(len(build.choices), 'choice')}; {final} of them and of the cached results are the engine's",
    )
    near = [c for c in build.choices if c.near_tie and c.final is not False]
    if near:
        near.sort(key=_margin)
        yield from _list(
            "near ties", [f"{len(near)} within 2 % of their runner-up, closest first:", *map(_near, near[:_SHOWN])]
        )
    if build.tuning:
        slowest = [f"{_short(t.layer)}: {t.seconds:.3g} s (line {t.span.line})" for t in build.tuning[:_SHOWN]]
        yield from _list("slow tuning", slowest)


def _margin(choice: Choice) -> float:
    return (choice.runner_up_ms or 0.0) / (choice.time_ms or 1.0)


def _near(choice: Choice) -> str:
    return f"{_short(choice.layer)}: {choice.time_ms:g} and {choice.runner_up_ms:g} ms, {tactic_text(choice.tactic)} (line {choice.span.line})"


def _engine(build: Build) -> Iterator[tuple[str, str]]:
    layers = build.engine_layers
    if layers:
        joined = sum(1 for layer in layers if layer.choice is not None or layer.cached is not None)
        yield (
            "engine",
            f"{_count(len(layers), 'layer')} (from line {layers[0].span.line}): {_tally(layer.type for layer in layers)}",
        )
        yield "", f"output types: {_tally(p for layer in layers for p in layer.precision)}"
        if build.choices or build.cached:
            yield "", f"{joined} traced to the choice or cached result they came from"
        slow = _slowest(build)
        if slow:
            yield from _list(
                "slowest", [f"{_short(c.layer)}: {c.time_ms:g} ms, {c.runner} (line {c.span.line})" for c in slow]
            )
    elif build.layer_names:
        yield (
            "engine",
            f"{_count(len(build.layer_names), 'layer')}, names only: built without --profilingVerbosity=detailed",
        )
    if build.reformats:
        kept = [r for r in build.reformats if r.pass_index is None or _is_engines(build, r.pass_index)]
        if kept:
            yield "reformats", f"{len(kept)} put in (from line {kept[0].span.line})"


def _slowest(build: Build) -> list[Choice | CachedResult]:
    final = [c for c in (*build.choices, *build.cached) if c.final and c.time_ms is not None]
    return sorted(final, key=lambda c: -(c.time_ms or 0.0))[:_SHOWN]


def _messages(build: Build) -> Iterator[tuple[str, str]]:
    for label, severity, count in (
        ("errors", "E", build.message_counts.error),
        ("warnings", "W", build.message_counts.warning),
    ):
        if count:
            distinct = {m.text: m for m in reversed(build.messages) if m.severity == severity and m.text.strip()}
            first = sorted(distinct.values(), key=lambda m: m.span.line)[:_SHOWN]
            yield from _list(
                label, [f"{count}, the first:", *(f"line {m.span.line}: {_short(m.text, 140)}" for m in first)]
            )


def _results(build: Build) -> Iterator[tuple[str, str]]:
    yield from _list("results", [f"{f.name}: {f.value}" for f in build.results if not f.name.startswith("Total")])


def _list(label: str, entries: list[str]) -> Iterator[tuple[str, str]]:
    for index, entry in enumerate(entries):
        yield label if index == 0 else "", entry


def _tally(items: Iterable[str]) -> str:
    return ", ".join(f"{visible(item)} {count}" for item, count in Counter(items).most_common(6))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _short(text: str, width: int = _NAME_WIDTH) -> str:
    text = visible(text.strip())
    return text if len(text) <= width else text[: width - 1] + "…"
