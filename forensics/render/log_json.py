"""The JSON document of a build log (``parse --json``), schema 3; docs/reference/commands describes every field.

A record stands on a line of its own, so that documents read and compare well. A log holds records by the hundred
thousand: each is rendered by a function of its own from the pieces of ``json_text``, in less time than a dict of it
takes to make.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from trtforensics.console.secrets import remembered
from trtforensics.model.ledger import TimedUnit, ledger_of
from trtforensics.model.timings import Candidate, tactic_text
from trtforensics.parsers.notation.kernels import read_kernel, read_tactic
from trtforensics.render.json_text import (
    boolean,
    encode,
    kernel_facts,
    number,
    render,
    source_members,
    text,
    text_or_null,
    texts,
)
from trtforensics.render.runs import run_members

if TYPE_CHECKING:
    from trtforensics.model.data_types import ComputePrecision
    from trtforensics.model.log import (
        BackendPass,
        Build,
        BuildLog,
        CachedResult,
        Choice,
        Coverage,
        EngineDump,
        EngineLayer,
        Fact,
        ForeignNode,
        Fusion,
        LayerTuning,
        MyelinOperation,
        OnnxNode,
        ReformatLayer,
        Stage,
    )
    from trtforensics.model.profile import LayerTime, ProfileRun
    from trtforensics.model.run import RunResult
    from trtforensics.model.span import SourceInfo

SCHEMA = 3

_RECORD_DEPTH = 4
"""How deep the records of a build lie: the document, its builds, a build, its choices, a choice."""

_MEMBER = "\n    "
"""What stands before each member of a build's field."""
_BATCH = 4096
"""Records that are rendered at once: a large log's choices alone are a hundred megabytes."""

_repeated = remembered(texts, 1 << 10)
"""A log tries the same formats, and names the same nodes, again and again."""


def to_json(log: BuildLog) -> str:
    """Render a parsed build log in ASCII, a record a line. Tactic ids are strings, durations milliseconds."""
    return "".join(in_pieces(log))


def in_pieces(log: BuildLog) -> Iterator[str]:
    """Give in pieces what :func:`to_json` returns: the document of a large log is tens of megabytes."""
    yield render(_head(log), _RECORD_DEPTH).removesuffix("\n}\n")
    paths = {log.source.path, *(part.path for part in log.source.parts)}
    opening = ',\n "builds": [\n  '
    for build in log.builds:
        yield opening
        yield from _build(build, paths)
        opening = ",\n  "
    yield "\n ]\n}\n" if log.builds else ',\n "builds": []\n}\n'


def _head(log: BuildLog) -> dict[str, Any]:
    source, lines = log.source, log.lines
    return {
        "schema": SCHEMA,
        "kind": "build-log",
        "source": source_members(source) | _parts(source),
        "lines": {
            "typed": lines.typed,
            "unprefixed": lines.unprefixed,
            "blank": lines.blank,
            "unknown": lines.unknown,
        },
        "unknown_shapes": log.unknown_shapes,
        "unknown_samples": [{"line": s.line, "text": s.text, "count": s.count} for s in log.unknown_samples],
        "runs": list(map(run_members, log.runs)),
    }


def _parts(source: SourceInfo) -> dict[str, Any]:
    """Return the files of a build that was given as several, each with the number of its first line in the document."""
    if not source.parts:
        return {}
    first_lines = accumulate((part.lines for part in source.parts), initial=1)
    numbered = zip(source.parts, first_lines, strict=False)
    return {"parts": [{**source_members(part), "first_line": first} for part, first in numbered]}


def _build(build: Build, paths: AbstractSet[str]) -> Iterator[str]:
    """Give a build in pieces."""
    tuned, messages = build.autotuning, build.message_counts
    yield f"""{{
   "index": {build.index},
   "first_line": {build.first_line},
   "last_line": {build.last_line},
   "tool": {text(build.tool)},
   "tensorrt_version": {text_or_null(build.tensorrt_version)},
   "command": {text_or_null(build.command)},
   "outcome": {text(build.outcome)},
   "options": {_options(build.options)},
   "passes": {_records(_pass, build.passes)},
   "stages": {_records(_stage, build.stages)}"""
    yield from _batches("fusions", _fusion, build.fusions)
    yield from _batches("reformats", _reformat, build.reformats)
    yield from _batches("onnx_nodes", _onnx_node, build.onnx_nodes)
    yield f""",
   "foreign_nodes": {_records(_foreign_node, build.foreign_nodes)},
   "autotuning": {{
    "runner_blocks": {tuned.runner_blocks},
    "tactics_timed": {tuned.tactics_timed},
    "tactics_skipped": {tuned.tactics_skipped},
    "cache_hits": {tuned.cache_hits}
   }},
   "runner_ids": {_members({runner: repr(known) for runner, known in build.runner_ids.items()})}"""
    yield from _batches("tuning_seconds", _layer_tuning, build.tuning)
    yield from _batches("choices", _choice, build.choices)
    yield from _batches("cached", _cached, build.cached)
    yield from _batches("engine_layers", partial(_engine_layer, paths=paths), build.engine_layers)
    yield f',\n   "ledger": {_ledger(build)}'
    yield f""",
   "engine_dumps": {_records(_dump, build.engine_dumps)},
   "layer_names": {_records(text, build.layer_names)},
   "timing_cache_keys": {_records(_cache_key, build.timing_cache_keys)},
   "myelin_operations": {_records(_myelin_operation, build.myelin_operations)},
   "profile": {_records(_profiled, build.profile)},
   "profile_info": {_profile_members(build.profile_info)},
   "profiles": {_records(_whole_profile, build.profiles if len(build.profiles) > 1 else ())},
   "results": {_members({result.key: _result(result) for result in build.results})},
   "coverage": {_coverage(build.coverage)},
   "messages": {{
    "warning": {messages.warning},
    "error": {messages.error}
   }}
  }}"""


def _options(options: Mapping[str, Sequence[Fact]]) -> str:
    if not any(options.values()):
        return _no_options(tuple(options))
    return _members({name: _flat(facts) for name, facts in options.items()})


@lru_cache(maxsize=1)
def _no_options(blocks: tuple[str, ...]) -> str:
    """Render the options of a build that prints none: a log may hold such builds by the ten thousand."""
    return _members(dict.fromkeys(blocks, "{}"))


def _members(rendered: Mapping[str, str]) -> str:
    """Render an object of values that are rendered already, a member a line."""
    if not rendered:
        return "{}"
    return f"{{{_MEMBER}{f',{_MEMBER}'.join([f'{text(name)}: {value}' for name, value in rendered.items()])}\n   }}"


def _records(rendered: Callable[[Any], str], records: Iterable[object]) -> str:
    """Render a list, a record a line."""
    return f"[{_MEMBER}{f',{_MEMBER}'.join(map(rendered, records))}\n   ]" if records else "[]"


def _batches(name: str, rendered: Callable[[Any], str], records: Sequence[object]) -> Iterator[str]:
    """Give a member that is a list as :func:`_records` renders it, some thousand records at once."""
    yield f',\n   "{name}": ['
    for first in range(0, len(records), _BATCH):
        yield ("," if first else "") + _MEMBER + f",{_MEMBER}".join(map(rendered, records[first : first + _BATCH]))
    yield "\n   ]" if records else "]"


def _flat(facts: Iterable[Fact]) -> str:
    """Render facts as an object on one line; of several with one name the last."""
    if not facts:
        return "{}"
    values = {fact.name: fact.value for fact in facts}
    return f"{{{', '.join([f'{text(name)}: {text(value)}' for name, value in values.items()])}}}"


def _pass(attempt: BackendPass) -> str:
    return (
        f'{{"backend_strategy": {number(attempt.backend_strategy)}, "first_line": {attempt.first_line}, '
        f'"last_line": {attempt.last_line}, "chosen": {boolean(attempt.chosen)}, '
        f'"estimated_ms": {number(attempt.estimated_ms)}}}'
    )


def _stage(stage: Stage) -> str:
    return f"{_stage_counts(stage.name, stage.layers)}{stage.span.line}{_pass_member(stage.pass_index)}"


@remembered
def _stage_counts(name: str, layers: int) -> str:
    """Small builds of one network, of which a log may hold ten thousands, have the same stages."""
    return f'{{"stage": {text(name)}, "layers": {number(layers)}, "line": '


@remembered
def _pass_member(index: int | None) -> str:
    return f', "pass": {number(index)}}}'


def _fusion(fusion: Fusion) -> str:
    return (
        f'{{"kind": {text(fusion.kind)}, "inputs": {texts(fusion.inputs)}, "line": {fusion.span.line}, '
        f'"pass": {number(fusion.pass_index)}}}'
    )


def _reformat(layer: ReformatLayer) -> str:
    return (
        f'{{"name": {text(layer.name)}, "tensor": {text(layer.tensor)}, "from": {text(layer.source)}, '
        f'"to": {text(layer.target)}, "line": {layer.span.line}, "pass": {number(layer.pass_index)}}}'
    )


def _onnx_node(node: OnnxNode) -> str:
    layers = texts(node.layers)
    return f'{{"name": {text(node.name)}, "op": {text(node.op)}, "layers": {layers}, "line": {node.span.line}}}'


def _foreign_node(node: ForeignNode) -> str:
    return (
        f'{{"name": {text(node.name)}, "onnx_nodes": {_repeated(node.onnx_nodes)}, "line": {node.span.line}, '
        f'"pass": {number(node.pass_index)}}}'
    )


def _layer_tuning(tuning: LayerTuning) -> str:
    seconds = number(round(tuning.seconds, 6))
    return f'{{"layer": {text(tuning.layer)}, "seconds": {seconds}, "line": {tuning.span.line}}}'


def _choice(choice: Choice) -> str:
    return (
        f'{{"layer": {text(choice.layer)}, "runner": {text(choice.runner)}, "runner_id": {number(choice.runner_id)}, '
        f'"tactic": {_tactic(choice.tactic)}, "time_ms": {number(choice.time_ms)}, '
        f'"runner_up_ms": {number(choice.runner_up_ms)}, "candidates": {choice.candidates}, '
        f'"inputs": {_repeated(choice.inputs)}, "outputs": {_repeated(choice.outputs)}, "line": {choice.span.line}, '
        f'"pass": {number(choice.pass_index)}, "final": {boolean(choice.final)}, '
        f'"kernel": {_or_null(choice.kernel)}, {_kernel_facts(choice.kernel, choice.splits, _types(choice.outputs))}}}'
    )


@lru_cache(maxsize=1 << 12)
def _types(formats: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types of formats: a log writes them with many strides, and a kernel's facts need the types only."""
    return tuple(sorted({text.partition("(")[0] for text in formats}))


@remembered
def _kernel_facts(kernel: str, splits: int | None, types: tuple[str, ...]) -> str:
    """Render two members: what a kernel sums in, and all that its name and its line tell."""
    facts = encode(kernel_facts(read_tactic(kernel, splits, types))) if kernel or splits is not None else "null"
    return f'"accumulator": {_accumulator(kernel)}, "kernel_facts": {facts}'


def _accumulator(kernel: str) -> str:
    facts = read_kernel(kernel)
    if facts.accumulator is None:
        return "null"
    return f'{{"type": {text(facts.accumulator)}, "evidence": {text(facts.evidence("accumulator"))}}}'


def _cached(result: CachedResult) -> str:
    return (
        f'{{"layer": {text(result.layer)}, "runner": {text(result.runner)}, "tactic": {_tactic(result.tactic)}, '
        f'"time_ms": {number(result.time_ms)}, "inputs": {_repeated(result.inputs)}, '
        f'"outputs": {_repeated(result.outputs)}, "line": {result.span.line}, "pass": {number(result.pass_index)}, '
        f'"final": {boolean(result.final)}, "kernel": {_or_null(result.kernel)}, '
        f"{_kernel_facts(result.kernel, None, _types(result.outputs))}}}"
    )


def _engine_layer(layer: EngineLayer, paths: AbstractSet[str]) -> str:
    file = None if layer.span.file in paths else layer.span.file
    return (
        f'{{"name": {text(layer.name)}, "type": {text(layer.type)}, "tactic": {_tactic(layer.tactic)}, '
        f'"tactic_name": {_or_null(layer.tactic_name)}, "output_types": {_repeated(layer.output_types)}, '
        f'"compute_precision": {_precision(layer.compute_precision)}, "onnx_nodes": {_repeated(layer.onnx_nodes)}, '
        f'"time_ms": {number(layer.time_ms)}, "time_is": {text_or_null(layer.time_is)}, '
        f'"profile": {number(layer.profile)}, "choice": {number(layer.choice)}, "cached": {number(layer.cached)}, '
        f'"origin": {_or_null(layer.origin)}, "file": {text_or_null(file)}, "line": {layer.span.line}}}'
    )


def _ledger(build: Build) -> str:
    ledger = ledger_of(build)
    return (
        f'{{"basis": {text(ledger.basis)}, "total_ms": {number(ledger.total_ms)}, '
        f'"booked_ms": {number(ledger.booked_ms)}, "unknown_layers": {ledger.unknown_layers}, '
        f'"units": {_records(_unit, ledger.units)}}}'
    )


def _unit(unit: TimedUnit) -> str:
    return (
        f'{{"unit": {text(unit.kind)}, "name": {text(unit.name)}, "layers": {list(unit.layers)}, '
        f'"ms": {number(unit.time_ms)}, "is": {text(unit.state)}, "share": {number(unit.share)}, '
        f'"average_ms": {number(unit.average_ms)}, "line": {unit.span.line}}}'
    )


def _precision(known: ComputePrecision | None) -> str:
    return "null" if known is None else f'{{"type": {text(known.type)}, "from": {text(known.source)}}}'


def _dump(dump: EngineDump) -> str:
    return f'{{"line": {dump.span.line}, "layers": {len(dump.layers)}}}'


def _profiled(row: LayerTime) -> str:
    return (
        f'{{"layer": {text(row.name)}, "total_ms": {number(row.total_ms)}, "average_ms": {number(row.average_ms)}, '
        f'"median_ms": {number(row.median_ms)}, "percentage": {number(row.percentage)}, '
        f'"engine_layer": {number(row.engine_layer)}, "line": {row.span.line}}}'
    )


def _profile_members(run: ProfileRun | None) -> str:
    if run is None:
        return "null"
    return (
        f'{{"iterations": {number(run.iterations)}, "total_ms": {number(run.total_ms)}, '
        f'"path": {text(run.span.file)}, "line": {run.span.line}}}'
    )


def _whole_profile(run: ProfileRun) -> str:
    rows = ", ".join(map(_profiled, run.layers))
    return f'{{"profile_info": {_profile_members(run)}, "profile": [{rows}]}}'


def _result(result: RunResult) -> str:
    value = result.value
    if isinstance(value, Mapping):
        return f"{{{', '.join([f'{text(name)}: {number(item)}' for name, item in value.items()])}}}"
    return number(value)


@lru_cache(maxsize=1 << 10)
def _coverage(known: Coverage) -> str:
    return (
        f'{{"verdict": {boolean(known.verdict)}, "engine_layers": {boolean(known.engine_layers)}, '
        f'"tactics": {boolean(known.tactics)}, "times": {text(known.times or "none")}, '
        f'"options": {boolean(known.options)}, "model": {boolean(known.model)}, '
        f'"own_lines": {known.own_lines}, "other_lines": {known.other_lines}}}'
    )


def _myelin_operation(operation: MyelinOperation) -> str:
    return (
        f'{{"op": {text(operation.op)}, "foreign_node": {_or_null(operation.foreign_node)}, '
        f'"onnx_nodes": {_repeated(operation.onnx_nodes)}, "key": {_or_null(operation.key)}, '
        f'"selected": {_tactic(operation.selected)}, "time_ms": {number(operation.time_ms)}, '
        f'"candidates": {len(operation.candidates)}, "line": {operation.span.line}, '
        f'"pass": {number(operation.pass_index)}}}'
    )


def _cache_key(operation: MyelinOperation) -> str:
    return (
        f'{{"op": {text(operation.op)}, "key": {text(operation.key)}, "selected": {_tactic(operation.selected)}, '
        f'"time_ms": {number(operation.time_ms)}, "candidates": [{", ".join(map(_candidate, operation.candidates))}], '
        f'"line": {operation.span.line}}}'
    )


def _candidate(candidate: Candidate) -> str:
    return (
        f'{{"tactic": {_tactic(candidate.tactic)}, "time_ms": {number(candidate.time_ms)}, '
        f'"kernel": {text(candidate.kernel)}, {_kernel_facts(candidate.kernel, None, ())}}}'
    )


def _tactic(value: int | None) -> str:
    """Render a tactic id, a text: no number in JSON is sure to keep 64 bits."""
    printed = tactic_text(value)
    return "null" if printed is None else f'"{printed}"'


def _or_null(value: str) -> str:
    return text(value) if value else "null"
