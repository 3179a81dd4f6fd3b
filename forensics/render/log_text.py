"""A build log as text: a page for each build, most important facts first, each with its line."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from trtforensics.console.counting import counted, grouped
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.model.kernel import NameEvidence
from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Build, BuildLog, CachedResult, Choice, Outcome
from trtforensics.model.run import Run
from trtforensics.model.span import SourceInfo
from trtforensics.model.timings import NEAR_TIE_RATIO, tactic_text
from trtforensics.parsers.notation.kernels import read_tactic
from trtforensics.render import build_facts
from trtforensics.render.headline import first_line, headlines, run_lines
from trtforensics.render.runs import result_name, result_text, run_rows

Row = tuple[str, str]
"""A label and its text; further rows of the same label leave the label empty."""

_SHOWN = 3
"""Entries of a list that shows only the worst or the first."""
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
    known = build_facts.understanding(log)
    if known.line is None:
        return known.text
    most = log.unknown_samples[0]
    return f"{known.text}, most often line {most.line}: {_short(most.text)}"


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
        *_cited(build_facts.engine_facts(build)),
        *_list("slowest", _slowest(log, build)),
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
    device = build_facts.device_fact(build)
    if device.line is not None or build.stages or build.choices:
        yield device.label, device.text
    unknown = ["those that the loaded engine was built with are unknown"] if build.loads_engine else []
    options = (f"{fact.label}: {_short(fact.text, _MESSAGE_WIDTH)}" for fact in build_facts.option_facts(build))
    yield from _list("options", [*unknown, *options])


def _network(build: Build) -> Iterator[Row]:
    if len(build.passes) > 1:
        yield from _list("passes", (f"{fact.label}, {fact.text}" for fact in build_facts.pass_facts(build)))
    changing, _ = build_facts.changing_stages(build)
    if changing:
        steps = ", ".join(f"{each.layers} {_stage(each.name)}" for each, _ in changing)
        yield "stages", f"layers{build_facts.over_passes(build)}: {steps}"
    if not (build.stages or build.choices or build.cached or build.engine_layers or build.layer_names):
        yield "detail", "no line of the optimiser, of autotuning or of the engine's layers, as verbose logs have them"


def _stage(name: str) -> str:
    return "originally" if name == "Original" else name[:1].lower() + name[1:]


def _tuning(build: Build) -> Iterator[Row]:
    yield from _cited(build_facts.tuning_facts(build))
    near = [c for c in build.choices if c.near_tie and c.final is not False]
    if near:
        near.sort(key=lambda choice: choice.margin or 0.0)
        whose = "of the engine's choices" if all(c.final for c in near) else "choice" if len(near) == 1 else "choices"
        header = f"{len(near)} {whose} with a runner-up at most {NEAR_TIE_RATIO - 1:.0%} slower, closest first:"
        yield from _list("near ties", [header, *map(_near, near[:_SHOWN])])
    yield from _list("sums", _sums(build))
    slowest = [f"{_short(t.layer)}: {t.seconds:.3g} s (line {t.span.line})" for t in build.tuning[:_SHOWN]]
    yield from _list("slow tuning", slowest)


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
    ways_taken = ", ".join(f"{count:,} {way}" for way, count in ways.items() if count)
    if ways_taken:
        yield f"{ways_taken}, as far as names and lines say"


def _cited(facts: Iterable[build_facts.BuildFact]) -> Iterator[Row]:
    """Give facts with their lines; those that go on with another stand on its line."""
    for fact in facts:
        yield fact.label, f"{fact.text} (line {fact.line})" if fact.label and fact.line is not None else fact.text


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
    counts = build.message_counts
    for label, severity, count in (("errors", "E", counts.error), ("warnings", "W", counts.warning)):
        distinct = {m.text: m for m in reversed(build.messages) if m.severity == severity and m.text.strip()}
        first = sorted(distinct.values(), key=lambda m: m.span.line)[:_SHOWN]
        entries = [f"line {m.span.line}: {_short(m.text, _MESSAGE_WIDTH)}" for m in first]
        if count:
            header = f"{counted(count, 'line')}, the first:" if count > len(entries) else counted(count, "line")
            yield from _list(label, [header, *entries])


def _results(build: Build) -> Iterator[Row]:
    shown = [result for result in build.results if not result.key.endswith("_total_s")]
    spread = [result for result in shown if isinstance(result.value, Mapping)]
    single = grouped((result for result in shown if result not in spread), result_name)
    words = ", ".join(f"{name}: {' / '.join(map(result_text, results))}" for name, results in single.items())
    rest = textwrap.wrap(words, _TEXT_WIDTH, break_on_hyphens=False)
    yield from _list("results", [*(f"{result_name(each)}: {result_text(each)}" for each in spread), *rest])


def _list(label: str, entries: Iterable[str]) -> Iterator[Row]:
    yield from ((label if index == 0 else "", entry) for index, entry in enumerate(entries))


def _short(text: str, width: int = _NAME_WIDTH) -> str:
    text = masked(text.strip())
    return text if len(text) <= width else f"{text[: width - 1]}…"
