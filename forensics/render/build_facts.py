"""What a log tells of a build, as labelled facts, most important first: `parse` prints them, the TUI lists them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from trtforensics.console.counting import counted, milliseconds
from trtforensics.knowledge.table import rows
from trtforensics.model.log import Build, BuildLog, Stage
from trtforensics.model.older_python import StrEnum

_TELLING = tuple((row["block"], row["name"], row["usual"]) for row in rows("telling_options", "trtforensics.render"))
"""Options to compare first when two builds differ in speed or accuracy: block, name and default, as trtexec prints."""
_AS_USUAL = {"", "Disabled", "-1", "Using default tactic sources", "Use default preview flags."}
"""Values of options that were not set."""
_TYPES = 6
"""Most types that are counted by name."""
_DEVICE = (("Compute Capability", "compute capability {}"), ("SMs", "{} SMs"), ("Device Global Memory", "{}"))
_VERDICTS = {True: "the engine", False: "discarded", None: "unknown whether the engine is from it"}


class Weight(StrEnum):
    """How much a fact matters to a reader; a screen gives it a colour."""

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    GOOD = "good"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class BuildFact:
    """A labelled text, and the line of the log that states it. Without a label it goes on with the fact before it."""

    label: str
    text: str
    line: int | None = None
    weight: Weight = Weight.PLAIN


def option_facts(build: Build) -> Iterator[BuildFact]:
    """Give the options that tell how a build was set; none of an engine that was only loaded."""
    for block, name, usual in _TELLING:
        for fact in build.options.get(block, ()) if block != "build" or not build.loads_engine else ():
            value = fact.value.strip()
            if name == "Memory Pools":
                value = ", ".join(pool for pool in value.split(", ") if not pool.endswith("default"))
            if fact.name == name and value not in {usual, *_AS_USUAL}:
                yield BuildFact(name, value, fact.span.line)


def over_passes(build: Build) -> str:
    """Say over how many passes the layers are counted, where the log does not tell which pass is the engine's."""
    passes = sum(each.chosen is not False for each in build.passes)
    return f" over {passes} passes" if passes > 1 else ""


def device_fact(build: Build) -> BuildFact:
    """Return the GPU, its compute capability, SMs and memory."""
    device = {fact.name: fact for fact in build.options.get("device", ())}
    selected = device.get("Selected Device")
    if selected is None:
        return BuildFact("GPU", "not in this log", None, Weight.DIM)
    facts = [form.format(device[name].value) for name, form in _DEVICE if name in device]
    return BuildFact("GPU", ", ".join([selected.value, *facts]), selected.span.line)


def pass_facts(build: Build) -> Iterator[BuildFact]:
    """Give the passes; a single pass without a strategy is left out."""
    for number, each in enumerate(build.passes):
        if len(build.passes) > 1 or each.backend_strategy is not None:
            estimate = f", estimated {milliseconds(each.estimated_ms)} ms" if each.estimated_ms is not None else ""
            strategy = "pass" if each.backend_strategy is None else f"backend strategy {each.backend_strategy}"
            text = f"{_VERDICTS[each.chosen]}{estimate}, lines {each.first_line:,} to {each.last_line:,}"
            weight = Weight.GOOD if each.chosen else Weight.PLAIN
            yield BuildFact(f"{number}: {strategy}", text, each.first_line, weight)


def changing_stages(build: Build) -> tuple[list[tuple[Stage, int]], int]:
    """Return the first stage and those that changed the number of layers, by how many; and the number of others."""
    stages = [stage for stage in build.stages if build.may_be_in_engine(stage.pass_index)]
    changes = [(stage, stage.layers - before.layers) for before, stage in pairwise(stages)]
    changed = [(stage, change) for stage, change in changes if change]
    return [*((stage, 0) for stage in stages[:1]), *changed], len(changes) - len(changed)


def engine_facts(build: Build) -> Iterator[BuildFact]:
    """Give the fusions, the reformat layers and the engine's layers."""
    fusions = [fusion for fusion in build.fusions if build.may_be_in_engine(fusion.pass_index)]
    if fusions:
        kinds = _tally(fusion.kind for fusion in fusions)
        yield BuildFact("fusions", f"{len(fusions):,}{over_passes(build)}: {kinds}", fusions[0].span.line)
    reformats = [reformat for reformat in build.reformats if build.may_be_in_engine(reformat.pass_index)]
    if reformats:
        yield BuildFact("reformats", f"{counted(len(reformats), 'reformat layer')} added", reformats[0].span.line)
    if build.engine_layers:
        yield from _dump_facts(build)
    elif build.layer_names:
        yield BuildFact("engine", f"{counted(len(build.layer_names), 'layer')}; the log prints their names only")
    elif build.stages or build.choices:
        yield BuildFact("engine", "layers unknown: the log does not list them", None, Weight.DIM)


def _dump_facts(build: Build) -> Iterator[BuildFact]:
    layers, dumps = build.engine_layers, build.engine_dumps
    line = layers[0].span.line
    again = f"; printed {len(dumps)} times, these from line {line:,}" if len(dumps) > 1 else ""
    yield BuildFact("engine", f"{counted(len(layers), 'layer')}{again}", line, Weight.STRONG)
    yield BuildFact("", f"types: {_tally(layer.type for layer in layers)}", line)
    known = (layer.compute_precision for layer in layers)
    computes = _tally("unknown" if each is None else f"{each.type} (by {each.source})" for each in known)
    yield BuildFact("", f"computes in: {computes}", line)
    yield BuildFact("", f"output types: {_tally(kind for layer in layers for kind in layer.output_types)}", line)
    if build.choices or build.cached:
        joined = sum(layer.choice is not None or layer.cached is not None for layer in layers)
        yield BuildFact("", f"{joined:,} of them traced to the choice or cached result they came from", line)


def tuning_facts(build: Build) -> Iterator[BuildFact]:
    """Give what was timed, what was chosen, and how much of it the engine uses."""
    counts = build.autotuning
    skipped = f"{counts.tactics_skipped:,} skipped for want of scratch memory" if counts.tactics_skipped else ""
    timed = (
        f"{counts.tactics_timed:,} timed" if counts.tactics_timed else "",
        counted(counts.runner_blocks, "runner block") if counts.runner_blocks else "",
        skipped,
        f"{counted(len(build.myelin_operations), 'operation')} timed by Myelin" if build.myelin_operations else "",
        f"{counted(len(build.timing_cache_keys), 'timing-cache key')} printed" if build.timing_cache_keys else "",
    )
    first = build.choices[0].first_line if build.choices else None
    weight = Weight.WARNING if skipped else Weight.PLAIN
    if any(timed):
        yield BuildFact("tactics", ", ".join(filter(None, timed)), first, weight)
    chosen = [counted(len(build.choices), "choice")] if build.choices else []
    chosen += [counted(len(build.cached), "cached result")] if build.cached else []
    tuned = build.tuned_results
    known = [result.final for result in tuned if result.final is not None]
    used = f", {sum(known):,} used by the engine" if known else "; the log does not tell which the engine uses"
    if tuned:
        yield BuildFact("chosen", f"{' and '.join(chosen)}{used}", tuned[0].span.line)


def understanding(log: BuildLog) -> BuildFact:
    """Return how much of a log was understood, and the most frequent line that was not."""
    unknown = log.lines.unknown
    if unknown:
        shapes = f"{counted(unknown, 'line')} of {counted(log.unknown_shapes, 'shape')}"
        text = f"{shapes} {'was' if unknown == 1 else 'were'} not understood"
        return BuildFact("understood", text, log.unknown_samples[0].line, Weight.WARNING)
    others = sum(build.coverage.other_lines for build in log.builds)
    if not others:
        return BuildFact("understood", "every logged line was understood")
    understood = log.lines.total - log.lines.blank - others
    whose = "is another program's" if others == 1 else "are other programs'"
    known = f"every line of TensorRT and its tools was understood ({understood:,})"
    return BuildFact("understood", f"{known}; {counted(others, 'line')} {whose}")


def _tally(items: Iterable[str]) -> str:
    counts = Counter(items).most_common()
    rest = sum(count for _, count in counts[_TYPES:])
    shown = counts[:_TYPES] + ([("others", rest)] if rest else [])
    return ", ".join(f"{item} {count:,}" for item, count in shown)
