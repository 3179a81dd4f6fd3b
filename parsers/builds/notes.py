"""The lines that findings read: kinds of line that have no field of their own, and the causes in messages."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from trtforensics.model.notes import Note
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.grammar import CAUSE
from trtforensics.parsers.lines.events import KEEP
from trtforensics.parsers.lines.singly import named_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.model.span import SourceSpan
    from trtforensics.parsers.builds.views import Log

NOTED = (
    "adding_input",
    "banner",
    "broadcasting",
    "cache_deleted",
    "cache_disabled",
    "cache_invalid",
    "cache_loaded",
    "cache_scope",
    "cache_serialized",
    "cache_serializing",
    "cache_unread",
    "calibrator_explicit",
    "calibrator_unused",
    "default_stream",
    "deprecated_flag",
    "deprecated_value",
    "device_request",
    "dla_empty",
    "dla_fallback",
    "dla_precision",
    "dla_subgraphs",
    "dla_unsupported",
    "dla_validation",
    "fp16_slow",
    "input_types",
    "int64_binding",
    "int64_clamped",
    "int64_weights",
    "layernorm_fp16",
    "layernorm_overflow",
    "loop_heuristic",
    "marking_output",
    "missing_scale",
    "mixed_devices",
    "myelin_assertion",
    "myelin_budget",
    "myelin_exception",
    "names_only",
    "no_conforming",
    "no_device",
    "no_implementation",
    "non_conforming",
    "node_name",
    "onnx_header",
    "parser_assertion",
    "plugin_tried",
    "poly_flags",
    "poly_mark",
    "poly_run",
    "poly_selector",
    "second_logger",
    "selector_cache",
    "shape_guessed",
    "skipping_tactic",
    "strongly_typed",
    "throughput_bound",
    "type_emulated",
    "unstable",
    "weak_typing",
    "weights_affected",
    "weights_issue",
    "weights_layer",
    "workspace_hint",
    "workspace_note",
)
"""Kinds of line, all of which a log has few of."""


def notes(log: Log, span: Callable[[int], SourceSpan]) -> Sequence[tuple[Note, ...]]:
    """Return each build's noted lines and the causes that its warnings and errors name, in the log's order."""
    found = [
        Note(kind, span(line), dict(zip(KEEP[kind], values, strict=True)))
        for kind in log.present(NOTED)
        for line, *values in log.each(kind, *KEEP[kind])
    ]
    for line, text in log.each("message", "text"):
        found += [Note(kind, span(line), fields) for kind, fields in causes(text)]
    return log.parted(found)


@lru_cache(maxsize=4096)
def causes(message: str) -> tuple[tuple[str, dict[str, str | None]], ...]:
    """Return the causes that a message names (rules of ``causes.lark``), with what each captures."""
    raw = message.encode()
    found = []
    for kind in tables.kinds(CAUSE):
        match = kind.match.search(raw) if kind.needle.encode("latin-1") in raw else None
        if match is not None:
            values = tuple(value and value.decode("utf-8", "replace") for value in match.groups())
            found.append((kind.name, named_fields(kind, values)))
    return tuple(found)
