"""The JSON document of a build log (``parse --json``), schema 1; README's reference describes every field."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from trtforensics.json_rendering import WORD, Records, number, render, text, texts
from trtforensics.model import tactic_text
from trtforensics.rows import columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trtforensics.model import (
        BackendPass,
        Build,
        BuildLog,
        CachedResult,
        Candidate,
        Choice,
        EngineLayer,
        Fact,
        ForeignNode,
        LayerTuning,
        MyelinOperation,
        OnnxNode,
        SourceInfo,
    )

    _Record = TypeVar("_Record")

SCHEMA = 1

Document = dict[str, Any]

_RECORD_DEPTH = 4
"""How deep the records of a build lie: the document, its builds, a build, its choices, a choice."""

_NEXT = ",\n    "
_FEW = 256
"""Records that the many builds of a log may have alike; a large build has its own."""


def to_json(log: BuildLog) -> str:
    """Render a parsed build log in ASCII, a record a line. Tactic ids are strings, durations milliseconds."""
    return render(_document(log), _RECORD_DEPTH)


def _document(log: BuildLog) -> Document:
    source, lines = log.source, log.lines
    return {
        "schema": SCHEMA,
        "kind": "build-log",
        "source": _source(source) | _parts(source),
        "lines": {
            "typed": lines.typed,
            "unprefixed": lines.unprefixed,
            "blank": lines.blank,
            "unknown": lines.unknown,
        },
        "unknown_shapes": log.unknown_shapes,
        "unknown_samples": [{"line": s.line, "text": s.text, "count": s.count} for s in log.unknown_samples],
        "builds": Records(_build, log.builds),
    }


def _source(source: SourceInfo) -> Document:
    return {"path": source.path, "bytes": source.bytes, "lines": source.lines, "sha256": source.sha256}


def _parts(source: SourceInfo) -> Document:
    """Return the files of a build that was given as several, each with the number of its first line in the document."""
    if not source.parts:
        return {}
    first_lines = accumulate((part.lines for part in source.parts), initial=1)
    parts = [{**_source(part), "first_line": first} for part, first in zip(source.parts, first_lines, strict=False)]
    return {"parts": parts}


def _build(build: Build) -> tuple[str, ...]:
    """Render a build in pieces: the lists that may be megabytes are copied once only."""
    counts, messages = build.autotuning, build.message_counts
    before = f"""{{
   "index": {build.index},
   "first_line": {build.first_line},
   "last_line": {build.last_line},
   "tool": "{build.tool}",
   "tensorrt_version": {_text_or_null(build.tensorrt_version)},
   "command": {_text_or_null(build.command)},
   "outcome": "{build.outcome}",
   "options": {_options(build.options)},
   "passes": {_records(_pass, build.passes)},
   "stages": {_alike(_stage, build.stages, "name", "layers", "pass_index")},
   "fusions": {_alike(_fusion, build.fusions, "kind", "inputs", "pass_index")},
   "reformats": {_alike(_reformat, build.reformats, "name", "tensor", "source", "target", "pass_index")},
   "onnx_nodes": """
    tuning = f""",
   "foreign_nodes": {_records(_foreign_node, build.foreign_nodes)},
   "autotuning": {{
    "runner_blocks": {counts.runner_blocks},
    "tactics_timed": {counts.tactics_timed},
    "tactics_skipped": {counts.tactics_skipped},
    "cache_hits": {counts.cache_hits}
   }},
   "runner_ids": {_members([f"{text(runner)}: {known}" for runner, known in build.runner_ids.items()])},
   "tuning_seconds": {_records(_layer_tuning, build.tuning)},
   "choices": """
    behind = f""",
   "layer_names": {_records(text, build.layer_names)},
   "timing_cache_keys": {_records(_cache_key, build.timing_cache_keys)},
   "myelin_operations": {_records(_myelin_operation, build.myelin_operations)},
   "results": {_members(_facts([(fact.name, fact.value) for fact in build.results]))},
   "messages": {{
    "warning": {messages.warning},
    "error": {messages.error}
   }}
  }}"""
    return (
        *(before, _records(_onnx_node, build.onnx_nodes), tuning, _records(_choice, build.choices)),
        *(',\n   "cached": ', _records(_cached, build.cached)),
        *(',\n   "engine_layers": ', _records(_engine_layer, build.engine_layers), behind),
    )


def _options(options: Mapping[str, Sequence[Fact]]) -> str:
    if not any(options.values()):
        return _no_options(tuple(options))
    return _members([f"{text(block)}: {{{_block(facts)}}}" for block, facts in options.items()])


@lru_cache(maxsize=1)
def _no_options(blocks: tuple[str, ...]) -> str:
    return _members([f"{text(block)}: {{}}" for block in blocks])


def _block(facts: Sequence[Fact]) -> str:
    return _same(*columns(facts, "name", "value")) if facts else ""


@lru_cache(maxsize=1 << 6)
def _same(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    """Render the options that many builds have alike."""
    return ", ".join(_facts(zip(names, values, strict=True)))


def _facts(facts: Iterable[tuple[str, str]]) -> list[str]:
    """Render facts as members of an object; of several with one name the last."""
    return [f"{text(name)}: {text(value)}" for name, value in dict(facts).items()]


def _records(rendered: Callable[[_Record], str], records: Sequence[_Record]) -> str:
    return _list(map(rendered, records)) if records else "[]"


def _alike(rendered: Callable[..., str], records: Sequence[Any], *paths: str) -> str:
    """Render records that many builds have alike but for their lines, as builds of one network do."""
    if not records:
        return "[]"
    *said, lines = columns(records, *paths, "span.line")
    if len(lines) > _FEW:
        return _list([rendered(*row) for row in zip(*said, lines, strict=True)])
    return _form(rendered, *said) % lines


@lru_cache(maxsize=1 << 6)
def _form(rendered: Callable[..., str], *said: tuple[Any, ...]) -> str:
    """Render records with a place for each line, marked by what JSON cannot hold."""
    records = [rendered(*row, "\0") for row in zip(*said, strict=True)]
    return _list(records).replace("%", "%%").replace("\0", "%d")


def _list(rendered: Iterable[str]) -> str:
    return f"[\n    {_NEXT.join(rendered)}\n   ]"


def _members(rendered: Sequence[str]) -> str:
    return f"{{\n    {_NEXT.join(rendered)}\n   }}" if rendered else "{}"


def _text_or_null(value: str | None) -> str:
    return "null" if value is None else text(value)


_repeated = lru_cache(maxsize=1 << 10)(texts)
"""A log tries the same formats, and names the same nodes, again and again."""


def _tactic(tactic: int | None) -> str:
    printed = tactic_text(tactic)
    return "null" if printed is None else f'"{printed}"'


@lru_cache(maxsize=1 << 12)
def _or_null(value: str) -> str:
    return text(value) if value else "null"


def _pass(backend: BackendPass) -> str:
    return (
        f'{{"backend_strategy": {number(backend.backend_strategy)}, "first_line": {backend.first_line}, '
        f'"last_line": {backend.last_line}, "chosen": {WORD[backend.chosen]}, '
        f'"estimated_ms": {number(backend.estimated_ms)}}}'
    )


def _stage(name: str, layers: int, pass_index: int | None, line: object) -> str:
    return f'{{"stage": {text(name)}, "layers": {number(layers)}, "line": {line}, "pass": {number(pass_index)}}}'


def _fusion(kind: str, inputs: tuple[str, ...], pass_index: int | None, line: object) -> str:
    return f'{{"kind": {text(kind)}, "inputs": {texts(inputs)}, "line": {line}, "pass": {number(pass_index)}}}'


def _reformat(name: str, tensor: str, source: str, target: str, pass_index: int | None, line: object) -> str:  # noqa: PLR0913, PLR0917 - a record
    return (
        f'{{"name": {text(name)}, "tensor": {text(tensor)}, "from": {text(source)}, '
        f'"to": {text(target)}, "line": {line}, "pass": {number(pass_index)}}}'
    )


def _onnx_node(node: OnnxNode) -> str:
    return (
        f'{{"name": {text(node.name)}, "op": {text(node.op)}, "layers": {texts(node.layers)}, '
        f'"line": {node.span.line}}}'
    )


def _foreign_node(node: ForeignNode) -> str:
    return (
        f'{{"name": {text(node.name)}, "onnx_nodes": {texts(node.onnx_nodes)}, "line": {node.span.line}, '
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
        f'"pass": {number(choice.pass_index)}, "final": {WORD[choice.final]}}}'
    )


def _cached(cached: CachedResult) -> str:
    return (
        f'{{"layer": {text(cached.layer)}, "runner": {text(cached.runner)}, "tactic": {_tactic(cached.tactic)}, '
        f'"time_ms": {number(cached.time_ms)}, "inputs": {_repeated(cached.inputs)}, '
        f'"outputs": {_repeated(cached.outputs)}, "line": {cached.span.line}, "pass": {number(cached.pass_index)}, '
        f'"final": {WORD[cached.final]}}}'
    )


def _engine_layer(layer: EngineLayer) -> str:
    return (
        f'{{"name": {text(layer.name)}, "type": {text(layer.type)}, "tactic": {_tactic(layer.tactic)}, '
        f'"tactic_name": {_or_null(layer.tactic_name)}, "precision": {_repeated(layer.precision)}, '
        f'"onnx_nodes": {_repeated(layer.onnx_nodes)}, "choice": {number(layer.choice)}, '
        f'"cached": {number(layer.cached)}, "origin": {_or_null(layer.origin)}, "line": {layer.span.line}}}'
    )


def _myelin_operation(operation: MyelinOperation) -> str:
    return (
        f'{{"op": {text(operation.op)}, "foreign_node": {_or_null(operation.foreign_node)}, '
        f'"onnx_nodes": {texts(operation.onnx_nodes)}, "key": {_or_null(operation.key)}, '
        f'"selected": {_tactic(operation.selected)}, "time_ms": {number(operation.time_ms)}, '
        f'"candidates": {len(operation.candidates)}, "line": {operation.span.line}, '
        f'"pass": {number(operation.pass_index)}}}'
    )


def _cache_key(key: MyelinOperation) -> str:
    return (
        f'{{"op": {text(key.op)}, "key": {text(key.key)}, "selected": {_tactic(key.selected)}, '
        f'"time_ms": {number(key.time_ms)}, "candidates": [{", ".join(map(_candidate, key.candidates))}], '
        f'"line": {key.span.line}}}'
    )


def _candidate(candidate: Candidate) -> str:
    return (
        f'{{"tactic": {_tactic(candidate.tactic)}, "time_ms": {number(candidate.time_ms)}, '
        f'"kernel": {text(candidate.kernel)}}}'
    )
