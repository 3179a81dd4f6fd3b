"""What to do with a node that the ONNX parser refuses, by its operator: the first fix of what rules report there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.findings.finding import Severity
from trtforensics.findings.observations import CLASSES, NEAR
from trtforensics.findings.tree import RECORD
from trtforensics.knowledge.operators import remedy_of

if TYPE_CHECKING:
    from trtforensics.findings.case import Case
    from trtforensics.findings.finding import Observation
    from trtforensics.findings.rule import Rule

_NAMING = ("parse_failed", "dumped_node", "importer_refused", *CLASSES)
"""What names the operator of a node that is refused, where it stands near."""
_OF_NODES = {"TF107", "TF108", "TF140", "TF141", "TF142", "TF146", "TF149", "TF151", "TF156", "TF157", "TF163"}
"""Rules about nodes of the model, beside those for classes of errors."""


def with_remedy(case: Case, rule: Rule, observation: Observation) -> Observation:
    """Return an observation with the remedy for the operator that stands by it; unchanged where none is known."""
    about = rule.code in _OF_NODES or (rule.last and not rule.reads.isdisjoint(CLASSES))
    if not about or observation.fix or (observation.severity or rule.severity) is not Severity.ERROR:
        return observation
    lines = [span.line for span in observation.spans]
    named = [n for n in case.notes(*_NAMING) if any(-NEAR <= line - n.span.line <= RECORD for line in lines)]
    named.sort(key=lambda note: min(abs(note.span.line - line) for line in lines))
    remedies = (remedy_of(note.text("op") or note.text("name").strip(), observation.title) for note in named)
    return replace(observation, fix=next(filter(None, remedies), ""))
