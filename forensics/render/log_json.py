"""The JSON document of a build log (``parse --json``), schema 1; README's reference describes every field."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import accumulate, chain, islice, repeat
from typing import TYPE_CHECKING, Any

from trtforensics.model.table import Named, Parts, column
from trtforensics.render.json_rendering import WORD, Rendered, number, pieces, text, texts, woven
from trtforensics.render.json_strands import Record, each, integers, listed, members, size, tactic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trtforensics.model.log import Build, BuildLog, Fact, MyelinOperation, SourceInfo
    from trtforensics.model.timings import Candidate
    from trtforensics.render.json_rendering import Strand

SCHEMA = 1

Document = dict[str, Any]

_RECORD_DEPTH = 4
"""How deep the records of a build lie: the document, its builds, a build, its choices, a choice."""

_NEXT = ",\n    "
_LINES_AT_ONCE = 5000
"""Lines whose builds are handed out as one text: a build of twenty lines comes in fifty pieces."""


def _text_or_null(value: str | None) -> str:
    return "null" if value is None else text(value)


_repeated = lru_cache(maxsize=1 << 10)(texts)
"""A log tries the same formats, and names the same nodes, again and again."""


def _or_null(value: str) -> str:
    return text(value) if value else "null"


def _seconds(value: float) -> str:
    return number(round(value, 6))


def _candidates(candidates: Sequence[Candidate]) -> str:
    return f"[{', '.join(map(_candidate, candidates))}]"


def _candidate(candidate: Candidate) -> str:
    return (
        f'{{"tactic": {tactic(candidate.tactic)}, "time_ms": {number(candidate.time_ms)}, '
        f'"kernel": {text(candidate.kernel)}}}'
    )


_LINE = "span.line", number
_PASS_INDEX = "pass_index", number
_PASS = Record(
    {
        "backend_strategy": ("backend_strategy", number),
        "first_line": ("first_line", number),
        "last_line": ("last_line", number),
        "chosen": ("chosen", WORD.__getitem__),
        "estimated_ms": ("estimated_ms", number),
    }
)
_STAGE = Record(
    {
        "stage": ("name", text),
        "layers": ("layers", number),
        "line": _LINE,
        "pass": _PASS_INDEX,
    }
)
_FUSION = Record({"kind": ("kind", text), "inputs": ("inputs", texts), "line": _LINE, "pass": _PASS_INDEX})
_REFORMAT = Record(
    {
        "name": ("name", text),
        "tensor": ("tensor", text),
        "from": ("source", text),
        "to": ("target", text),
        "line": _LINE,
        "pass": _PASS_INDEX,
    }
)
_ONNX_NODE = Record({"name": ("name", text), "op": ("op", text), "layers": ("layers", texts), "line": _LINE})
_FOREIGN_NODE = Record(
    {
        "name": ("name", text),
        "onnx_nodes": ("onnx_nodes", _repeated),
        "line": _LINE,
        "pass": _PASS_INDEX,
    }
)
_LAYER_TUNING = Record({"layer": ("layer", text), "seconds": ("seconds", _seconds), "line": _LINE})
_CHOICE = Record(
    {
        "layer": ("layer", text),
        "runner": ("runner", text),
        "runner_id": ("runner_id", number),
        "tactic": ("tactic", tactic),
        "time_ms": ("time_ms", number),
        "runner_up_ms": ("runner_up_ms", number),
        "candidates": ("candidates", number),
        "inputs": ("inputs", _repeated),
        "outputs": ("outputs", _repeated),
        "line": _LINE,
        "pass": _PASS_INDEX,
        "final": ("final", WORD.__getitem__),
    }
)
_CACHED = Record(
    {
        "layer": ("layer", text),
        "runner": ("runner", text),
        "tactic": ("tactic", tactic),
        "time_ms": ("time_ms", number),
        "inputs": ("inputs", _repeated),
        "outputs": ("outputs", _repeated),
        "line": _LINE,
        "pass": _PASS_INDEX,
        "final": ("final", WORD.__getitem__),
    }
)
_ENGINE_LAYER = Record(
    {
        "name": ("name", text),
        "type": ("type", text),
        "tactic": ("tactic", tactic),
        "tactic_name": ("tactic_name", _or_null),
        "precision": ("precision", _repeated),
        "onnx_nodes": ("onnx_nodes", _repeated),
        "choice": ("choice", number),
        "cached": ("cached", number),
        "origin": ("origin", _or_null),
        "line": _LINE,
    }
)
_MYELIN_OPERATION = Record(
    {
        "op": ("op", text),
        "foreign_node": ("foreign_node", _or_null),
        "onnx_nodes": ("onnx_nodes", _repeated),
        "key": ("key", _or_null),
        "selected": ("selected", tactic),
        "time_ms": ("time_ms", number),
        "candidates": ("candidates", size),
        "line": _LINE,
        "pass": _PASS_INDEX,
    }
)
_CACHE_KEY = Record(
    {
        "op": ("op", text),
        "key": ("key", text),
        "selected": ("selected", tactic),
        "time_ms": ("time_ms", number),
        "candidates": ("candidates", _candidates),
        "line": _LINE,
    }
)


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
    counted = "runner_blocks", "tactics_timed", "tactics_skipped", "cache_hits"
    return {
        **{name: integers(of(name)) for name in ("index", "first_line", "last_line")},
        "tool": each(text, of("tool")),
        **{name: each(_text_or_null, of(name)) for name in ("tensorrt_version", "command")},
        "outcome": each(text, of("outcome")),
        "options": _options(of("options")),
        "passes": _PASS.lists(of("passes")),
        "stages": _STAGE.lists(of("stages")),
        "fusions": _FUSION.lists(of("fusions")),
        "reformats": _REFORMAT.lists(of("reformats")),
        "onnx_nodes": _ONNX_NODE.lists(of("onnx_nodes")),
        "foreign_nodes": _FOREIGN_NODE.lists(of("foreign_nodes")),
        "autotuning": members({name: integers(column(of("autotuning"), name)) for name in counted}, 4),
        "runner_ids": each(_runner_ids, of("runner_ids")),
        "tuning_seconds": _LAYER_TUNING.lists(of("tuning")),
        "choices": _CHOICE.lists(of("choices")),
        "cached": _CACHED.lists(of("cached")),
        "engine_layers": _ENGINE_LAYER.lists(of("engine_layers")),
        "layer_names": each(_layer_names, of("layer_names")),
        "timing_cache_keys": _CACHE_KEY.lists(_with_key(of("myelin_operations"))),
        "myelin_operations": _MYELIN_OPERATION.lists(of("myelin_operations")),
        "results": _results(of("results")),
        "messages": members({name: integers(column(of("message_counts"), name)) for name in ("warning", "error")}, 4),
    }


def _options(options: Sequence[Mapping[str, Sequence[Fact]]]) -> Iterable[Strand]:
    """Render the option blocks of each build."""
    if isinstance(options, Named):
        return members({name: _blocks(parts) for name, parts in options.tables.items()}, 4)
    return each(lambda own: _members([f"{text(name)}: {_block(facts)}" for name, facts in own.items()]), options)


def _blocks(blocks: Parts[Fact]) -> list[Strand]:
    """Render a block of each build; one that several have alike once."""
    groups = blocks.alike(("name", "value"))
    rendered: dict[int, str] = {}
    for places in groups:
        rendered.update(dict.fromkeys(places, _block(blocks[places[0]])))
    return [rendered[0]] if len(groups) == 1 else [map(rendered.__getitem__, range(len(blocks)))]


def _block(facts: Sequence[Fact]) -> str:
    return f"{{{', '.join(_facts(zip(column(facts, 'name'), column(facts, 'value'), strict=True)))}}}"


def _facts(facts: Iterable[tuple[str, str]]) -> list[str]:
    """Render facts as members of an object; of several with one name the last."""
    return [f"{text(name)}: {text(value)}" for name, value in dict(facts).items()]


def _results(results: Sequence[Sequence[Fact]]) -> Iterable[Strand]:
    """Render the results of each build."""
    if isinstance(results, Parts):
        return each(lambda own: _members(_facts(own)), results.tuples("name", "value"))
    return each(lambda own: _members(_facts([(fact.name, fact.value) for fact in own])), results)


def _runner_ids(runner_ids: Mapping[str, int]) -> str:
    return _members([f"{text(runner)}: {known}" for runner, known in runner_ids.items()])


def _layer_names(names: Sequence[str]) -> str:
    return listed(map(text, names)) if names else "[]"


def _with_key(operations: Sequence[Sequence[MyelinOperation]]) -> Sequence[Sequence[MyelinOperation]]:
    """Return the operations of each build whose key in the editable timing cache the log tells."""
    if isinstance(operations, Parts):
        return operations.where(map(bool, operations.table.columns["key"]))
    return [tuple(operation for operation in own if operation.key) for own in operations]


def _members(rendered: Sequence[str]) -> str:
    return f"{{\n    {_NEXT.join(rendered)}\n   }}" if rendered else "{}"
