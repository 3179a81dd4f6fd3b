"""The JSON documents of ``replay``, schema 1; docs/reference/commands describes every field."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trtforensics.model.replay import ProblemSeverity
from trtforensics.render.json_text import render, source_members

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trtforensics.model.replay import Problem, Replay, ReplayEntry, ReplayForm
    from trtforensics.model.span import SourceSpan
    from trtforensics.replay.edges import Meeting
    from trtforensics.replay.from_log import LeftOut
    from trtforensics.replay.lint import LintReport

SCHEMA = 1
_RECORD_DEPTH = 2

JsonObject = dict[str, Any]


def to_json(document: JsonObject) -> str:
    """Render a document in ASCII, one entry or problem a line."""
    return render(document, _RECORD_DEPTH)


def show_document(replay: Replay) -> JsonObject:
    """Return a replay; tactics are strings as in every document of this tool."""
    return {
        **_head("replay", replay),
        "entries": [_entry(entry) for entry in replay.entries],
        "shadowed": [_entry(entry) for entry in replay.shadowed],
        "problems": [_problem(problem) for problem in replay.problems],
    }


def lint_document(replay: Replay, report: LintReport, against: Sequence[str]) -> JsonObject:
    """Return the result of lint; ``accepted`` is null without a log."""
    return {
        **_head("replay-lint", replay),
        "against": list(against),
        "summary": {
            "entries": len(replay.entries),
            "accepted": report.accepted,
            **{severity.value: report.count(severity) for severity in ProblemSeverity},
        },
        "problems": [_problem(problem) for problem in report.problems],
    }


def convert_document(output: str, replay: Replay, form: ReplayForm, left_out: Iterable[LeftOut]) -> JsonObject:
    """Return what a conversion wrote, and the layers that it left out."""
    return {
        **_head("replay-convert", replay),
        "output": output,
        "to": form.value,
        "entries": len(replay.entries),
        "left_out": [{"layer": layer.layer, **_place(layer.span), "why": layer.why} for layer in left_out],
    }


def mix_document(output: str, form: ReplayForm, taken: Sequence[str], cut: Iterable[Meeting]) -> JsonObject:
    """Return what a mix wrote, and the edges between taken and other layers."""
    return {
        "schema": SCHEMA,
        "kind": "replay-mix",
        "output": output,
        "form": form.value,
        "taken": list(taken),
        "cut": [
            {
                "tensor": meeting.edge.tensor,
                "producer": meeting.edge.producer,
                "consumer": meeting.edge.consumer,
                "leaves": meeting.leaves or None,
                "enters": meeting.enters or None,
                "differs": meeting.differs if meeting.leaves and meeting.enters else None,
            }
            for meeting in cut
        ],
    }


def _head(kind: str, replay: Replay) -> JsonObject:
    form = replay.form
    return {
        "schema": SCHEMA,
        "kind": kind,
        "source": source_members(replay.source),
        "form": form.value if form is not None else None,
        "polygraphy": {
            "written_by": replay.written_by or None,
            "read_by": form.read_by if form is not None and replay.written_by else None,
        },
    }


def _place(span: SourceSpan) -> JsonObject:
    column = getattr(span, "column", None)
    return {"file": span.file, "line": span.line, **({"column": column} if column is not None else {})}


def _entry(entry: ReplayEntry) -> JsonObject:
    return {
        "layer": entry.layer,
        "runner_id": entry.runner_id,
        "tactic": None if entry.tactic is None else f"0x{entry.tactic:016x}",
        "inputs": [asdict(tensor) for tensor in entry.inputs],
        "outputs": [asdict(tensor) for tensor in entry.outputs],
        "line": entry.span.line,
    }


def _problem(problem: Problem) -> JsonObject:
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "layer": problem.layer or None,
        "field": problem.field,
        **_place(problem.span),
        "what": problem.what,
        "next_step": problem.next_step,
    }
