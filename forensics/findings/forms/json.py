"""The JSON document of a report (``report --json``), schema 2; docs/reference/commands describes every field."""

from dataclasses import asdict

from trtforensics.findings.finding import Report, answer_of
from trtforensics.findings.forms.rendering import Look
from trtforensics.render.headline import first_line
from trtforensics.render.json_text import Forms, JsonObject, document_of, dumps

SCHEMA = 2
_FORMS: Forms = {
    "answer": answer_of,
    "coverage": lambda coverage: {**asdict(coverage), "times": coverage.times or "none"},
    "headline": lambda sources: first_line(sources[0].headlines) if sources else None,
    "summary": Report.counts,
    "text": lambda headline: headline.text,
}


def render(report: Report, look: Look) -> str:  # noqa: ARG001 - every renderer is called alike
    """Return the document as indented ASCII text."""
    return f"{dumps(document(report), indent=1)}\n"


def document(report: Report) -> JsonObject:
    """Return a report as an object for ``json.dump``."""
    return {"schema": SCHEMA, "kind": "report", **document_of("report", report, _FORMS), **_targets(report)}


def _targets(report: Report) -> JsonObject:
    """Return what stands in a report about models alone: its kind, and each target with the indexes of findings."""
    targets = [(place, source.target) for place, source in enumerate(report.sources) if source.target is not None]
    if not targets or len(targets) < len(report.sources):
        return {}
    documents = [
        {
            "release": target.release,
            "source": place,
            "accepted": target.accepted,
            "findings": [number for number, finding in enumerate(report.findings) if finding.source == place],
            "operators": {op: {"nodes": nodes, "is": word} for op, (nodes, word) in target.operators.items()},
        }
        for place, target in targets
    ]
    return {"kind": "check", "targets": documents}
