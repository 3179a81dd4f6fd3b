"""The JSON document of a build log (``parse --json``), schema 1; README's reference describes every field."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import accumulate, chain, islice, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from trtforensics.json_rendering import WORD, Rendered, number, pieces, text, texts, woven
from trtforensics.json_strands import each, integers, listed, lists, members
from trtforensics.model import tactic_text
from trtforensics.rows import column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trtforensics.json_rendering import Strand
    from trtforensics.model import (
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
        SourceInfo,
    )

    _Record = TypeVar("_Record")

SCHEMA = 1

Document = dict[str, Any]

_RECORD_DEPTH = 4
"""How deep the records of a build lie: the document, its builds, a build, its choices, a choice."""

_NEXT = ",\n    "
_LINES_AT_ONCE = 5000
"""Lines whose builds are handed out as one text: a build of twenty lines comes in fifty pieces."""


def to_json(log: BuildLog) -> str:
    """Render a parsed build log in ASCII, a record a line. Tactic ids are strings, durations milliseconds."""
    return "".join(in_pieces(log))


def in_pieces(log: BuildLog) -> Iterator[str]:
    """Give in pieces what :func:`to_json` returns."""
    return pieces(_document(log), _RECORD_DEPTH)


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
        "builds": Rendered(_builds(log.builds, source.lines)),
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


def _builds(builds: Sequence[Build], lines: int) -> Iterator[str]:
    """Render the builds of a log of so many lines; the lists of a large one, which may be megabytes, are not copied."""
    if not builds:
        yield "[]"
        return
    openings = chain(("[\n  ",), repeat(",\n  ", len(builds) - 1))
    rendered = woven(len(builds), (openings, *members(_fields(builds), 3)))
    at_once = _LINES_AT_ONCE * len(builds) // lines
    while at_once > 1 and (batch := "".join(chain.from_iterable(islice(rendered, at_once)))):
        yield batch
    yield from chain.from_iterable(rendered)
    yield "\n ]"


def _fields(builds: Sequence[Build]) -> dict[str, Iterable[Strand]]:
    """Render the fields of builds."""
    of = partial(column, builds)
    of_lines = partial(lists, lines=("span.line",))
    counted = "runner_blocks", "tactics_timed", "tactics_skipped", "cache_hits"
    return {
        **{name: integers(of(name)) for name in ("index", "first_line", "last_line")},
        "tool": each(text, of("tool")),
        **{name: each(_text_or_null, of(name)) for name in ("tensorrt_version", "command")},
        "outcome": each(text, of("outcome")),
        "options": each(_options, of("options")),
        "passes": lists(
            *(_pass, of("passes")), ("backend_strategy", "chosen", "estimated_ms"), ("first_line", "last_line")
        ),
        "stages": of_lines(_stage, of("stages"), ("name", "layers", "pass_index")),
        "fusions": of_lines(_fusion, of("fusions"), ("kind", "inputs", "pass_index")),
        "reformats": of_lines(_reformat, of("reformats"), ("name", "tensor", "source", "target", "pass_index")),
        "onnx_nodes": of_lines(_onnx_node, of("onnx_nodes"), ("name", "op", "layers")),
        "foreign_nodes": each(_records(_foreign_node), of("foreign_nodes")),
        "autotuning": members({name: integers(column(of("autotuning"), name)) for name in counted}, 4),
        "runner_ids": each(_runner_ids, of("runner_ids")),
        "tuning_seconds": each(_records(_layer_tuning), of("tuning")),
        "choices": each(_records(_choice), of("choices")),
        "cached": each(_records(_cached), of("cached")),
        "engine_layers": each(_records(_engine_layer), of("engine_layers")),
        "layer_names": each(_records(text), of("layer_names")),
        "timing_cache_keys": each(_cache_keys, of("myelin_operations")),
        "myelin_operations": each(_records(_myelin_operation), of("myelin_operations")),
        "results": each(_results, of("results")),
        "messages": members({name: integers(column(of("message_counts"), name)) for name in ("warning", "error")}, 4),
    }


def _options(options: Mapping[str, Sequence[Fact]]) -> str:
    if not any(options.values()):
        return _no_options(tuple(options))
    return _members([f"{text(block)}: {{{_block(facts)}}}" for block, facts in options.items()])


@lru_cache(maxsize=1)
def _no_options(blocks: tuple[str, ...]) -> str:
    return _members([f"{text(block)}: {{}}" for block in blocks])


def _block(facts: Sequence[Fact]) -> str:
    return _same(tuple(column(facts, "name")), tuple(column(facts, "value"))) if facts else ""


@lru_cache(maxsize=1 << 6)
def _same(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    """Render the options that many builds have alike."""
    return ", ".join(_facts(zip(names, values, strict=True)))


def _facts(facts: Iterable[tuple[str, str]]) -> list[str]:
    """Render facts as members of an object; of several with one name the last."""
    return [f"{text(name)}: {text(value)}" for name, value in dict(facts).items()]


def _results(results: Sequence[Fact]) -> str:
    return _members(_facts([(fact.name, fact.value) for fact in results]))


def _runner_ids(runner_ids: Mapping[str, int]) -> str:
    return _members([f"{text(runner)}: {known}" for runner, known in runner_ids.items()])


def _records(rendered: Callable[[_Record], str]) -> Callable[[Sequence[_Record]], str]:
    """Return what renders a list of such records."""
    return lambda records: listed(map(rendered, records)) if records else "[]"


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


def _pass(strategy: int | None, chosen: bool | None, ms: float | None, first: object, last: object) -> str:  # noqa: FBT001 - a field
    return (
        f'{{"backend_strategy": {number(strategy)}, "first_line": {first}, "last_line": {last}, '
        f'"chosen": {WORD[chosen]}, "estimated_ms": {number(ms)}}}'
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


def _onnx_node(name: str, op: str, layers: tuple[str, ...], line: object) -> str:
    return f'{{"name": {text(name)}, "op": {text(op)}, "layers": {texts(layers)}, "line": {line}}}'


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


def _cache_keys(operations: Sequence[MyelinOperation]) -> str:
    return _records(_cache_key)([operation for operation in operations if operation.key])


def _candidate(candidate: Candidate) -> str:
    return (
        f'{{"tactic": {_tactic(candidate.tactic)}, "time_ms": {number(candidate.time_ms)}, '
        f'"kernel": {text(candidate.kernel)}}}'
    )
