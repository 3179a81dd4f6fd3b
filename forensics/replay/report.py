"""Replays and their problems as text, and as the JSON documents that docs/reference/commands/replay.md describes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from trtforensics.console.counting import grouped, head_lines
from trtforensics.console.terminal import visible
from trtforensics.model.replay import Problem, ProblemSeverity, Replay, ReplayEntry, ReplayForm
from trtforensics.render.json_text import Forms, JsonObject, document_of, render
from trtforensics.render.names import wrapped
from trtforensics.replay.edges import Meeting
from trtforensics.replay.from_log import LeftOut
from trtforensics.replay.lint import Lint
from trtforensics.replay.writing import signed

SCHEMA = 1
_RECORD_DEPTH = 2
_WIDTH = 120
_SHOWN = 6
_COLOURS = {ProblemSeverity.ERROR: "\x1b[1;31m", ProblemSeverity.WARNING: "\x1b[1;33m", ProblemSeverity.NOTE: "\x1b[1m"}
_PLAIN = "\x1b[0m"


def show(replay: Replay, *, colour: bool = False) -> str:
    """Return a replay readably: its form, each layer with runner, tactic and tensors, and its problems."""
    blocks = [_head(replay), *map(_entry, replay.entries)]
    if replay.problems:
        blocks += [*_problems(replay.problems, colour=colour), [_counts(replay.problems)]]
    return _joined(blocks)


def lint_text(lint: Lint, against: Sequence[str], *, colour: bool = False) -> str:
    """Return the problems of a replay, worst first, and how many entries the log offers."""
    replay, problems = lint.replay, lint.problems
    head = _head(replay)
    if against:
        head.append(f"judged by {', '.join(against)}")
    summary = _counts(problems) if problems else "nothing to say against it"
    if lint.accepted is not None:
        summary += f"; the log offers {lint.accepted} of {_count(len(replay.entries), 'entry', 'entries')} as pinned"
    return _joined([head, *_problems(problems, colour=colour), [summary]])


def left_out_text(left_out: Iterable[LeftOut]) -> str:
    """Return the layers that a replay made from a log leaves out, grouped by reason."""
    lines = []
    for why, layers in grouped(left_out, lambda layer: layer.why).items():
        lines.append(f"not expressed: {why}")
        lines += [f"  {layer.span}: {layer.layer}" for layer in layers]
    return "".join(f"{visible(line)}\n" for line in lines)


def cut_text(cut: Iterable[Meeting]) -> str:
    """Return the edges between taken and other layers, one line each, and whether their formats differ."""
    lines = []
    for meeting in cut:
        if not (meeting.leaves and meeting.enters):
            how = "the formats on either side cannot be compared"
        elif meeting.differs:
            how = f"leaves as {meeting.leaves}, enters as {meeting.enters}: TensorRT puts a reformat between"
        else:
            how = f"{meeting.leaves} on both sides"
        lines.append(f"across the cut: {meeting.edge.producer!r} -> {meeting.edge.consumer!r}: {how}")
    return "".join(f"{visible(line)}\n" for line in lines)


def _head(replay: Replay) -> list[str]:
    layers = _count(len(replay.entries), "layer", "layers")
    if replay.form is not None:
        form = f"form {replay.form}"
        readers = f"; read by {replay.form.read_by}"
    else:
        form, readers = "no form that the entries tell" if not replay.entries else "no one form", ""
    written = f", written by Polygraphy {replay.written_by}{readers}" if replay.written_by else ""
    lines = [f"{replay.source.path}: tactic replay of {layers}, {form}{written}"]
    if replay.shadowed:
        lines.append(f"{_count(len(replay.shadowed), 'entry', 'entries')} that a later one of the same layer replaces")
    return lines


def _entry(entry: ReplayEntry) -> list[str]:
    runner = "?" if entry.runner_id is None else f"0x{entry.runner_id:08x}"
    tactic = "?" if entry.tactic is None else f"0x{entry.tactic:016x} ({signed(entry.tactic)})"
    return [
        entry.layer,
        f"  line {entry.span.line}  runner {runner}  tactic {tactic}",
        *(f"  in   {tensor.text}" for tensor in entry.inputs),
        *(f"  out  {tensor.text}" for tensor in entry.outputs),
    ]


def _problems(problems: Iterable[Problem], *, colour: bool) -> Iterator[list[str]]:
    """Give one block for each problem; problems that differ only in their layer share a block."""
    groups = grouped(problems, lambda each: (each.severity, each.code, each.what, each.next_step))
    order = list(ProblemSeverity)
    for group in sorted(groups.values(), key=lambda group: order.index(group[0].severity)):
        first = group[0]
        severity = f"{_COLOURS[first.severity]}{first.severity}{_PLAIN}" if colour else first.severity
        number = f" ({len(group)} times)" if len(group) > 1 else ""
        places = [f"  {problem.span} {problem.layer or problem.field}" for problem in group]
        field = f" at {first.field}" if len(first.path) > len(("replay", "layer")) and len(group) == 1 else ""
        yield [
            f"{severity} [{first.code}]{number}{visible(field)}",
            *head_lines(places, _SHOWN, "more; `--json` lists all"),
            *_wrapped(first.what),
            *_wrapped(f"What to do: {first.next_step}."),
        ]


def _wrapped(text: str) -> list[str]:
    whole = visible(text)
    first_word = whole.partition(" ")[0]
    return wrapped(whole[0].upper() + whole[1:] if first_word.isalpha() else whole, _WIDTH, "  ", "  ")


def _counts(problems: Iterable[Problem]) -> str:
    numbers = _by_severity(problems)
    return ", ".join(_count(number, severity, f"{severity}s") for severity, number in numbers.items())


def _by_severity(problems: Iterable[Problem]) -> Mapping[str, int]:
    counts = Counter(problem.severity for problem in problems)
    return {severity.value: counts[severity] for severity in ProblemSeverity}


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def _joined(blocks: Iterable[list[str]]) -> str:
    return "\n\n".join("\n".join(map(_safe, block)) for block in blocks) + "\n"


def _safe(line: str) -> str:
    """Make control characters of a line visible, except the colour that this module put in front of it."""
    for code in _COLOURS.values():
        if line.startswith(code):
            head, _, rest = line.removeprefix(code).partition(_PLAIN)
            return f"{code}{visible(head)}{_PLAIN}{visible(rest)}"
    return visible(line)


def to_json(document: JsonObject) -> str:
    """Render a document in ASCII, one entry or problem a line."""
    return render(document, _RECORD_DEPTH)


def show_document(replay: Replay) -> JsonObject:
    """Return a replay; tactics are strings as in every document of this tool."""
    return _document("replay", replay) | document_of("replay", replay, _FORMS)


def lint_document(lint: Lint, against: Sequence[str]) -> JsonObject:
    """Return the result of lint; ``accepted`` is null without a log."""
    summary = {"entries": len(lint.replay.entries), "accepted": lint.accepted, **_by_severity(lint.problems)}
    head = _document("replay-lint", lint.replay) | {"against": list(against), "summary": summary}
    return head | document_of("replay_problems", lint, _FORMS)


def convert_document(output: str, replay: Replay, form: ReplayForm, left_out: Iterable[LeftOut]) -> JsonObject:
    """Return what a conversion wrote, and the layers that it left out."""
    return {
        **_document("replay-convert", replay),
        "output": output,
        "to": form.value,
        "entries": len(replay.entries),
        "left_out": [document_of("left_out", layer, _FORMS) for layer in left_out],
    }


def mix_document(output: str, form: ReplayForm, taken: Sequence[str], cut: Iterable[Meeting]) -> JsonObject:
    """Return what a mix wrote, and the edges between taken and other layers."""
    return {
        "schema": SCHEMA,
        "kind": "replay-mix",
        "output": output,
        "form": form.value,
        "taken": list(taken),
        "cut": [document_of("edge", meeting, _FORMS) for meeting in cut],
    }


def _document(kind: str, replay: Replay) -> JsonObject:
    return {"schema": SCHEMA, "kind": kind, **document_of("replay_file", replay, _FORMS)}


_FORMS: Forms = {
    "any_tactic": lambda tactic: None if tactic is None else f"0x{tactic:016x}",
    "read_by": lambda replay: replay.form.read_by if replay.form is not None and replay.written_by else None,
    "column": lambda span: getattr(span, "column", None),
    "differs": lambda meeting: meeting.differs if meeting.leaves and meeting.enters else None,
}
