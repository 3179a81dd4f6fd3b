"""A build log as text: a page for each build, most important facts first, each with its line."""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.model.kernel import NameEvidence
from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Choice, Outcome
from trtforensics.model.timings import NEAR_TIE_RATIO, tactic_text
from trtforensics.parsers.notation.kernels import read_tactic
from trtforensics.render.headline import first_line, headlines, run_lines, told_options
from trtforensics.render.runs import result_name, result_text, run_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.model.log import BackendPass, Build, BuildLog, CachedResult, EngineLayer
    from trtforensics.model.run import Run, RunResult
    from trtforensics.model.span import SourceInfo

    Row = tuple[str, str]
    """A label and its text; further rows of the same label leave the label empty."""

_OF_BUILD = ("Precision", "LayerPrecisions", "Memory Pools", "Workspace", "BuilderOptimizationLevel", "Tactic sources")
_OPTIONS = (("model", "Model"), *(("build", name) for name in (*_OF_BUILD, "timingCacheFile", "Sparsity")))

_SHOWN = 3
"""Entries of a list that shows only the worst or the first."""
_TYPES = 6
_LABEL = 13
_WIDTH = 120
_TEXT_WIDTH = _WIDTH - _LABEL - 2
_NAME_WIDTH = 56
_MESSAGE_WIDTH = 90
_COMMAND_ROWS = 4
_MEGABYTE = 1_000_000
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def summarise(log: BuildLog, *, colour: bool = False) -> str:
    """Return the summary of a log, without control characters from the log."""
    blocks = [_head(log), *(_block(log, build, colour=colour) for build in log.builds)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _head(log: BuildLog) -> list[str]:
    source = log.source
    size = f"{source.bytes / 1e6:,.1f} MB" if source.bytes >= _MEGABYTE else f"{source.bytes / 1e3:,.1f} kB"
    every = headlines(log)
    lines = [f"{source.path}: {counted(source.lines, 'line')}, {size}, {counted(len(log.builds), 'build')}"]
    lines += [first_line(every), *run_lines(every)] if every else []
    return [visible(line) for line in (*lines, *_parts(source), *_cut(source), _understood(log))]


def _parts(source: SourceInfo) -> Iterator[str]:
    """Give the lines of each file, where several files are one build."""
    before = 0
    for part in source.parts:
        lines = f"lines {before + 1}-{before + part.lines}"
        yield f"{lines} are those of {part.path}" if part.lines else f"{part.path} is empty"
        before += part.lines


def _cut(source: SourceInfo) -> Iterator[str]:
    for part in source.parts or (source,):
        if part.cut:
            where = f" of {part.path}" if source.parts else ""
            yield f"the last line ({part.lines}){where} has no line ending, as where a log is cut"


def _understood(log: BuildLog) -> str:
    unknown = log.lines.unknown
    if not unknown:
        others = sum(build.coverage.other_lines for build in log.builds)
        understood = log.lines.total - log.lines.blank - others
        if others:
            whose = "is another program's" if others == 1 else "are other programs'"
            known = f"every line of TensorRT and its tools was understood ({understood:,})"
            return f"{known}; {counted(others, 'line')} {whose}"
        return "every logged line was understood"
    most = log.unknown_samples[0]
    return (
        f"{counted(unknown, 'line')} of {counted(log.unknown_shapes, 'shape')} {'was' if unknown == 1 else 'were'} not "
        f"understood, most often line {most.line}: {_short(most.text)}"
    )


def _block(log: BuildLog, build: Build, *, colour: bool) -> list[str]:
    version = f"TensorRT {build.tensorrt_version}" if build.tensorrt_version else "TensorRT version unknown"
    number = f"Build {build.index + 1} of {len(log.builds)}"
    place = f"lines {build.first_line}-{build.last_line}"
    title = visible("  ".join((number, place, build.tool, version, f"outcome {build.outcome}")))
    run = log.run_of(build)
    rows = [
        *(_run(run) if run is not None and build.index == run.builds[0] else ()),
        *_setting(build),
        *_network(build),
        *_tuning(build),
        *_engine(log, build),
        *_messages(build),
        *_results(build),
    ]
    return [
        f"{_BOLD}{title}{_PLAIN}" if colour else title,
        *(f"  {label:<{_LABEL}}{visible(text)}" for label, text in rows),
    ]


def _run(run: Run) -> Iterator[Row]:
    for label, text in run_rows(run):
        yield from _list(label, textwrap.wrap(visible(text), _TEXT_WIDTH, break_on_hyphens=False))


def _setting(build: Build) -> Iterator[Row]:
    if build.outcome is Outcome.TRUNCATED:
        yield "truncated", "the log stops before it tells how this build ended"
    if build.command:
        text, most = visible(build.command.strip()), _COMMAND_ROWS
        lines = textwrap.wrap(text, _TEXT_WIDTH, break_on_hyphens=False, max_lines=most, placeholder=" …")
        yield from _list("command", lines)
    device = build.option("device", "Selected Device")
    if device:
        capability = build.option("device", "Compute Capability")
        yield "GPU", f"{device}, compute capability {capability}" if capability else device
    elif build.stages or build.choices:
        yield "GPU", "not in this log"
    yield from _list("options", _options(build))


def _options(build: Build) -> Iterator[str]:
    if build.loads_engine:
        yield "those that the loaded engine was built with are unknown"
    for name, value, _ in told_options(build, _OPTIONS):
        yield f"{name}: {_short(value, _MESSAGE_WIDTH)}"


def _network(build: Build) -> Iterator[Row]:
    if len(build.passes) > 1:
        yield from _list("passes", [_pass(i, p) for i, p in enumerate(build.passes)])
    stages = [s for s in build.stages if build.may_be_in_engine(s.pass_index)]
    of_passes = (
        f" over {len(build.passes)} passes" if sum(backend.chosen is not False for backend in build.passes) > 1 else ""
    )
    if stages:
        steps = [stages[0], *(b for a, b in itertools.pairwise(stages) if a.layers != b.layers)]
        yield "stages", f"layers{of_passes}: " + ", ".join(f"{s.layers} {_stage(s.name)}" for s in steps)
    fusions = [f for f in build.fusions if build.may_be_in_engine(f.pass_index)]
    if fusions:
        tally = _tally(f.kind for f in fusions)
        yield "fusions", f"{len(fusions)}{of_passes}: {tally} (from line {fusions[0].span.line})"
    if not (build.stages or build.choices or build.cached or build.engine_layers or build.layer_names):
        yield "detail", "no line of the optimiser, of autotuning or of the engine's layers, as verbose logs have them"


def _pass(index: int, backend: BackendPass) -> str:
    verdict = {True: "the engine", False: "discarded", None: "unknown whether the engine is from it"}[backend.chosen]
    strategy = f"backend strategy {backend.backend_strategy}" if backend.backend_strategy is not None else "pass"
    estimate = f", estimated {backend.estimated_ms:g} ms" if backend.estimated_ms is not None else ""
    return f"{index}: {strategy}, lines {backend.first_line}-{backend.last_line}, {verdict}{estimate}"


def _stage(name: str) -> str:
    return "originally" if name == "Original" else name[:1].lower() + name[1:]


def _tuning(build: Build) -> Iterator[Row]:
    yield from _list("tactics", [*_timed(build), *_chosen(build)])
    near = [c for c in build.choices if c.near_tie and c.final is not False]
    if near:
        near.sort(key=lambda choice: choice.margin or 0.0)
        whose = "of the engine's choices" if all(c.final for c in near) else "choice" if len(near) == 1 else "choices"
        header = f"{len(near)} {whose} with a runner-up at most {NEAR_TIE_RATIO - 1:.0%} slower, closest first:"
        yield from _list("near ties", [header, *map(_near, near[:_SHOWN])])
    yield from _list("sums", _sums(build))
    slowest = [f"{_short(t.layer)}: {t.seconds:.3g} s (line {t.span.line})" for t in build.tuning[:_SHOWN]]
    yield from _list("slow tuning", slowest)


def _timed(build: Build) -> Iterator[str]:
    counts = build.autotuning
    parts = [
        f"{counts.tactics_timed:,} timed" if counts.tactics_timed else "",
        counted(counts.runner_blocks, "runner block") if counts.runner_blocks else "",
        f"{counts.tactics_skipped:,} skipped for want of scratch memory" if counts.tactics_skipped else "",
        f"{counted(len(build.myelin_operations), 'operation')} timed by Myelin" if build.myelin_operations else "",
        f"{counted(len(build.timing_cache_keys), 'timing-cache key')} printed" if build.timing_cache_keys else "",
    ]
    if any(parts):
        yield ", ".join(filter(None, parts))


def _chosen(build: Build) -> Iterator[str]:
    measured = build.tuned_results
    parts = [
        counted(len(build.choices), "choice") if build.choices else "",
        counted(len(build.cached), "cached result") if build.cached else "",
    ]
    known = [choice.final for choice in measured if choice.final is not None]
    used = f", {sum(known):,} used by the engine" if known else "; the log does not tell which the engine uses"
    if measured:
        yield f"{' and '.join(filter(None, parts))}{used}"


def _near(choice: Choice) -> str:
    sums = "".join(f", {word}" for word in _kernel(choice))
    tactic = f" ({choice.runner} {tactic_text(choice.tactic)}{sums})" if choice.tactic is not None else ""
    return (
        f"{_short(choice.layer, _NAME_WIDTH - len(sums))}: {choice.time_ms:g} ms{tactic}, "
        f"runner-up {choice.runner_up_ms:g} ms (line {choice.span.line})"
    )


def _kernel(tuned: Choice | CachedResult | None) -> list[str]:
    """Say how the kernel of a choice sums, by its name and its line; nothing where they do not tell."""
    if tuned is None or not tuned.kernel:
        return []
    facts = read_tactic(tuned.kernel, tuned.splits if isinstance(tuned, Choice) else None)
    return [word for word in (facts.sum_text, "splits K" if facts.split_k else "") if word]


def _sums(build: Build) -> Iterator[str]:
    """Say how the choices sum that the engine uses, or may use, by their kernels' names and lines."""
    used = [choice for choice in build.choices if choice.final is not False and choice.kernel]
    facts = [read_tactic(choice.kernel, choice.splits) for choice in used]
    counts = Counter(kernel.accumulator for kernel in facts if kernel.accumulator is not None)
    implied = sum(kernel.evidence("accumulator") is NameEvidence.CONVENTION for kernel in facts)
    if counts:
        sums = ", ".join(f"{count:,} in {name}" for name, count in counts.most_common())
        yield f"{sums}{f'; {implied:,} of them by convention of the kernel names' if implied else ''}"
    ways = {
        "on tensor cores": sum(kernel.tensor_core is True for kernel in facts),
        "with K split": sum(kernel.split_k is True for kernel in facts),
        "2:4 sparse": sum(kernel.sparse is True for kernel in facts),
    }
    listed = ", ".join(f"{count:,} {way}" for way, count in ways.items() if count)
    if listed:
        yield f"{listed}, as far as names and lines say"


def _engine(log: BuildLog, build: Build) -> Iterator[Row]:
    layers = build.engine_layers
    if layers:
        times = len(build.engine_dumps)
        again = f"; printed {times} times" if times > 1 else ""
        yield "engine", f"{counted(len(layers), 'layer')} (from line {layers[0].span.line}{again})"
        yield "", f"types: {_tally(layer.type for layer in layers)}"
        yield "", f"computes in: {_tally(_computes(layer) for layer in layers)}"
        yield "", f"output types: {_tally(p for layer in layers for p in layer.output_types)}"
        if build.choices or build.cached:
            joined = sum(1 for layer in layers if layer.choice is not None or layer.cached is not None)
            yield "", f"{joined:,} of them traced to the choice or cached result they came from"
    elif build.layer_names:
        yield "engine", f"{counted(len(build.layer_names), 'layer')}; the log prints their names only"
    yield from _list("slowest", _slowest(log, build))
    reformats = [r for r in build.reformats if build.may_be_in_engine(r.pass_index)]
    if reformats:
        yield "reformats", f"{counted(len(reformats), 'reformat layer')} added (from line {reformats[0].span.line})"


def _computes(layer: EngineLayer) -> str:
    known = layer.compute_precision
    return "unknown" if known is None else f"{known.type} (by {known.source})"


def _slowest(log: BuildLog, build: Build) -> Iterator[str]:
    """Give the slowest layers, how many layers have a time at all, and what a profile has besides engine layers."""
    ledger = ledger_of(build)
    for layer in ledger.slowest[:_SHOWN]:
        sums = "".join(f", {word}" for word in _kernel(layer.tuned))
        what = f", {layer.what}" if layer.what else ""
        steady = f" without slow calls (average {layer.average_ms:g})" if layer.average_ms is not None else ""
        share = f"{layer.time_ms:.6g} ms {layer.time_is}{steady}, {layer.share:.1%}{what}{sums}"
        yield f"{_short(layer.name, _NAME_WIDTH - len(sums))}: {share} ({log.place_of(layer.span)})"
    if ledger.slowest and build.engine_layers:
        yield ledger.note
        strangers = [row for row in build.profile if row.engine_layer is None]
        if strangers:
            named = ", ".join(_short(row.name) for row in strangers[:_SHOWN])
            yield f"the profile also times {counted(len(strangers), 'layer')} that the engine's dump has not: {named}"


def _messages(build: Build) -> Iterator[Row]:
    for label, severity, count in (
        ("errors", "E", build.message_counts.error),
        ("warnings", "W", build.message_counts.warning),
    ):
        distinct = {m.text: m for m in reversed(build.messages) if m.severity == severity and m.text.strip()}
        first = sorted(distinct.values(), key=lambda m: m.span.line)[:_SHOWN]
        entries = [f"line {m.span.line}: {_short(m.text, _MESSAGE_WIDTH)}" for m in first]
        if count:
            header = f"{counted(count, 'line')}, the first:" if count > len(entries) else counted(count, "line")
            yield from _list(label, [header, *entries])


def _results(build: Build) -> Iterator[Row]:
    shown = [result for result in build.results if not result.key.endswith("_total_s")]
    spread = [result for result in shown if isinstance(result.value, Mapping)]
    single = [result for result in shown if result not in spread]
    yield from _list("results", [*map(_result, spread), *_filled(map(_result, single))])


def _result(result: RunResult) -> str:
    return f"{result_name(result)}: {result_text(result)}"


def _filled(entries: Iterable[str]) -> Iterator[str]:
    """Put as many entries in a row as it holds."""
    row = ""
    for entry in entries:
        if row and len(f"{row}, {entry}") > _TEXT_WIDTH:
            yield row
            row = ""
        row = f"{row}, {entry}" if row else entry
    if row:
        yield row


def _list(label: str, entries: Iterable[str]) -> Iterator[Row]:
    for index, entry in enumerate(entries):
        yield label if index == 0 else "", entry


def _tally(items: Iterable[str]) -> str:
    counts = Counter(items).most_common()
    rest = sum(count for _, count in counts[_TYPES:])
    shown = counts[:_TYPES] + ([("others", rest)] if rest else [])
    return ", ".join(f"{item} {count}" for item, count in shown)


def _short(text: str, width: int = _NAME_WIDTH) -> str:
    text = masked(text.strip())
    return text if len(text) <= width else f"{text[: width - 1]}…"
