"""Plans that cannot be loaded or refitted."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.findings.finding import Observation, Step
from trtforensics.findings.observations import followed_by, near, observe
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.steps.commands import engine_path, trtexec
from trtforensics.knowledge.operators import is_operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@explained("TF601")
def version(case: Case) -> Iterator[Observation]:
    """Report every form of the message."""
    versions = case.notes("plan_version")
    of_caches = followed_by(versions, case.notes("cache_unused"))
    damaged = {note.span for note in case.notes("plan_size")}
    notes = [note for note in versions if note not in of_caches and note.span not in damaged]
    step = Step("Which version built it?", trtexec(case, "--getPlanVersionOnly") if engine_path(case) else "")
    yield from observe(notes, "The plan was built by another TensorRT version", steps=(step,))


@explained("TF603")
def magic(case: Case) -> Iterator[Observation]:
    """Report the message, unless another line names the version as the reason."""
    headers = case.notes("plan_magic")
    of_caches = followed_by(headers, case.notes("cache_unused"))
    named = {note.span.line for note in (*case.notes("plan_version"), *of_caches)}
    notes = [note for note in headers if note.span.line not in named]
    yield from observe(
        notes, "The file does not begin as a plan does", steps=(Step("See its first bytes", _head(case)),)
    )


def _head(case: Case) -> str:
    path = engine_path(case)
    return f"head -c 4 {shlex.quote(path)}" if path else ""


@explained("TF604")
def refit(case: Case) -> Iterator[Observation]:
    """Report the refusal."""
    step = Step("Build a refittable engine", trtexec(case, "--refit"))
    yield from observe(case.notes("refit_refused"), "Weights cannot be refitted", steps=(step,))


@explained("TF609")
def unregistered(case: Case) -> Iterator[Observation]:
    """Name the plugins, where no node was being parsed."""
    parsing = case.notes("parse_failed", "importer_plugin")  # the parser's lines (TF101, TF150)
    kinds = ("plugin_unknown", "creator_missing", "plugin_unloaded")
    notes = [note for note in case.notes(*kinds) if not near(note.span.line, parsing)]
    notes = [note for note in notes if not is_operator(note.text("name"))]  # a model is parsed (TF101)
    created = {note.text("name") for note in case.notes("plugin_created")}
    unknown = dict.fromkeys(note.text("name") for note in notes if note.kind == "plugin_unknown")
    names = [name for name in unknown if name not in created]
    what = listed(names) if names else "a plugin"
    yield from observe(notes, f"No plugin library that holds {what} is loaded", same_as=f"plugin {what}")
