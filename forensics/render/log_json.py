"""The JSON document of a build log (``parse --json``), schema 3; docs/reference/commands describes every field.

A record stands on a line of its own, so that documents read and compare well. Its members are rows of
``tables/log_members.tsv``: what a member reads of the record (all of it, where that is empty), and a form, which is an
entry of ``_FORMS`` (none for integers), of ``_Records``, or another record. A log holds records by the hundred
thousand: the rows of each kind are compiled, so that it is rendered in less time than a dict of it takes to make.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from functools import cache, lru_cache
from itertools import accumulate
from operator import itemgetter
from types import CodeType
from typing import Any

from trtforensics.console.counting import grouped
from trtforensics.console.secrets import remembered
from trtforensics.knowledge.table import rows
from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Build, BuildLog, Fact
from trtforensics.model.span import SourceInfo
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.kernels import only_type, read_kernel, read_tactic
from trtforensics.render.json_text import (
    boolean,
    document_of,
    encode,
    kernel_facts,
    number,
    reader,
    render,
    text,
    text_or_null,
    texts,
)
from trtforensics.render.runs import run_members

SCHEMA = 3

_RECORD_DEPTH = 4
"""How deep the records of a build lie: the document, its builds, a build, its choices, a choice."""

_MEMBER = "\n    "
"""What stands before each member of a build's field."""
_BATCH = 4096
"""Records that are rendered at once: a large log's choices alone are a hundred megabytes."""
_MEMBERS = grouped(rows("log_members", "trtforensics.render"), itemgetter("record"))

_Form = Callable[[Any], str]


def to_json(log: BuildLog) -> str:
    """Render a parsed build log in ASCII, a record a line. Tactic ids are strings, durations milliseconds."""
    return "".join(in_pieces(log))


def in_pieces(log: BuildLog) -> Iterator[str]:
    """Give in pieces what :func:`to_json` returns: the document of a large log is tens of megabytes."""
    yield render(_head(log), _RECORD_DEPTH).removesuffix("\n}\n")
    records = _Records({log.source.path, *(part.path for part in log.source.parts)})
    opening = ',\n "builds": [\n  '
    for build in log.builds:
        yield opening
        yield from records.build(build)
        opening = ",\n  "
    yield "\n ]\n}\n" if log.builds else ',\n "builds": []\n}\n'


def _head(log: BuildLog) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": "build-log",
        "source": document_of("source", log.source) | _parts(log.source),
        **document_of("log", log),
        "runs": list(map(run_members, log.runs)),
    }


def _parts(source: SourceInfo) -> dict[str, Any]:
    """Return the files of a build that was given as several, each with the number of its first line in the document."""
    if not source.parts:
        return {}
    first_lines = accumulate((part.lines for part in source.parts), initial=1)
    numbered = zip(source.parts, first_lines, strict=False)
    return {"parts": [{**document_of("source", part), "first_line": first} for part, first in numbered]}


class _Records:
    """Renders the records of a log that was read from the files ``paths``."""

    def __init__(self, paths: AbstractSet[str]) -> None:
        forms: dict[str, _Form] = {
            **_FORMS,
            "file": lambda path: text_or_null(None if path in paths else path),
            "ledger": lambda build: forms["booked"](ledger_of(build)),
            "units": lambda units: "".join(_batches(forms["unit"], units)),
            "candidates": lambda candidates: f"[{', '.join(map(forms['candidate'], candidates))}]",
            "rows": lambda rows: f"[{', '.join(map(forms['profiled'], rows))}]",
            "profiles": lambda runs: "".join(_batches(forms["run"], runs if len(runs) > 1 else ())),
        }
        forms |= {record: eval(code, forms) for record, code in _codes().items()}  # noqa: S307 - what _codes compiled
        self._forms = forms
        self._build: list[tuple[str, Callable[[Build], Any], str]] = [
            (row["member"], reader(row["reads"]), row["form"]) for row in _MEMBERS["build"]
        ]

    def build(self, build: Build) -> Iterator[str]:
        """Give a build in pieces."""
        before = "{"
        for member, read, form in self._build:
            if form.endswith("*"):
                yield f'{before}\n   "{member}": '
                yield from _batches(self._forms[form[:-1]], read(build))
            else:
                yield f'{before}\n   "{member}": {self._forms[form](read(build))}'
            before = ","
        yield "\n  }"


@cache
def _codes() -> Mapping[str, CodeType]:
    """Compile what renders each record, which is as fast as a function written for it."""
    codes = {}
    for record in _MEMBERS.keys() - {"build"}:
        members = []
        for row in _MEMBERS[record]:
            values = ", ".join(f"record.{name}" for name in row["reads"].split(",")) if row["reads"] else "record"
            members.append(f'"{row["member"]}": {{{row["form"]}({values})}}')
        # lambda record: … f'{{"line": {(record.span.line)}, "kernel": {or_null(record.kernel)}}}'
        source = f"lambda record: 'null' if record is None else f'{{{{{', '.join(members)}}}}}'"
        codes[record] = compile(source, f"<{record}>", "eval")
    return codes


def _batches(form: _Form, records: Sequence[object]) -> Iterator[str]:
    """Give a list in pieces, a record a line, some thousand records at once."""
    for first in range(0, len(records), _BATCH):
        opening = "," if first else "["
        yield f"{opening}{_MEMBER}{f',{_MEMBER}'.join(map(form, records[first : first + _BATCH]))}"
    yield "\n   ]" if records else "[]"


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


def _flat(facts: Iterable[Fact]) -> str:
    """Render facts as an object on one line; of several with one name the last."""
    if not facts:
        return "{}"
    values = {fact.name: fact.value for fact in facts}
    return f"{{{', '.join([f'{text(name)}: {text(value)}' for name, value in values.items()])}}}"


def _kernel_facts(kernel: str, outputs: tuple[str, ...] = (), splits: int | None = None) -> str:
    """Render all that a kernel's name and its line tell."""
    return _facts(kernel, splits, only_type(outputs)) if kernel or splits is not None else "null"


@remembered
def _facts(kernel: str, splits: int | None, output: str | None) -> str:
    return encode(kernel_facts(read_tactic(kernel, splits, (output,) if output else ())))


@remembered
def _accumulator(kernel: str) -> str:
    """Render what a kernel sums in."""
    facts = read_kernel(kernel)
    if facts.accumulator is None:
        return "null"
    return f'{{"type": {text(facts.accumulator)}, "evidence": {text(facts.evidence("accumulator"))}}}'


def _result(value: float | Mapping[str, float]) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join([f'{text(name)}: {number(item)}' for name, item in value.items()])}}}"
    return number(value)


def _tactic(value: int | None) -> str:
    """Render a tactic id, a text: no number in JSON is sure to keep 64 bits."""
    printed = tactic_text(value)
    return "null" if printed is None else f'"{printed}"'


_FORMS: Mapping[str, _Form] = {
    "text": text,
    "text_or_null": text_or_null,
    "or_null": lambda value: text(value) if value else "null",
    "texts": remembered(texts, 1 << 10),  # a log tries the same formats, and names the same nodes, again and again
    "": str,
    "integers": lambda values: str(list(values)),
    "number": number,
    "boolean": boolean,
    "seconds": lambda value: number(round(value, 6)),
    "length": lambda values: str(len(values)),
    "counts": lambda counts: _members({field.name: str(getattr(counts, field.name)) for field in fields(counts)}),
    "tactic": _tactic,
    "accumulator": _accumulator,
    "kernel_facts": _kernel_facts,
    "options": _options,
    "runner_ids": lambda ids: _members({runner: repr(known) for runner, known in ids.items()}),
    "results": lambda results: _members({result.key: _result(result.value) for result in results}),
    "times": lambda times: text(times or "none"),
}
