"""The JSON document of a report (``report --json``), schema 2; docs/reference/commands describes every field."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trtforensics.findings.finding import Finding, Report, answer_of
from trtforensics.render.headline import first_line
from trtforensics.render.json_text import dumps

if TYPE_CHECKING:
    from trtforensics.findings.forms.rendering import Look

SCHEMA = 2

JsonObject = dict[str, Any]


def render(report: Report, look: Look) -> str:  # noqa: ARG001 - every renderer is called alike
    """Return the document as indented ASCII text."""
    return f"{dumps(document(report), indent=1)}\n"


def document(report: Report) -> JsonObject:
    """Return a report as an object for ``json.dump``."""
    return {
        "schema": SCHEMA,
        "kind": "report",
        "headline": first_line(report.sources[0].headlines) if report.sources else None,
        "sources": [
            {
                "path": s.path,
                "bytes": s.bytes,
                "lines": s.lines,
                "sha256": s.sha256,
                "builds": s.builds,
                "coverage": {**asdict(s.coverage), "times": s.coverage.times or "none"},
                "wrapped_in": list(s.wrapped_in),
                "headlines": [headline.text for headline in s.headlines],
                "times": [
                    {"label": row.label, "text": row.text, "lines": [span.line for span in row.spans]}
                    for row in s.times
                ],
                "model": s.model or None,
            }
            for s in report.sources
        ],
        "summary": report.counts(),
        "findings": [finding_document(finding) for finding in report.findings],
        "common": [
            {"code": c.code, "severity": c.severity.word, "title": c.title, "sources": list(c.sources)}
            for c in report.common
        ],
        "suppressed": [finding_document(finding) for finding in report.suppressed],
        "settings": report.settings or None,
        "not_judged": list(map(asdict, report.not_judged)),
        "unreadable": list(map(asdict, report.unreadable)),
        **_targets(report),
    }


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


def finding_document(finding: Finding) -> JsonObject:
    """Return one finding as an object for ``json.dump``."""
    return {
        "code": finding.code,
        "severity": finding.severity.word,
        "title": finding.title,
        "cause": finding.cause,
        "answer": answer_of(finding),
        "general": finding.general,
        "confidence": finding.confidence.value,
        "settle": finding.settle,
        "source": finding.source,
        "build": finding.build,
        "builds": list(finding.builds),
        "consequence_of": finding.consequence_of,
        "pass_discarded": finding.pass_discarded,
        **({"cell": finding.cell} if finding.cell else {}),
        "layers": list(finding.layers),
        "onnx_nodes": list(finding.onnx_nodes),
        "evidence": [
            {"file": e.span.file, "line": e.span.line, "byte": e.span.byte, "text": e.text} for e in finding.evidence
        ],
        "evidence_total": finding.evidence_total,
        "fixes": list(finding.fixes),
        "next": list(map(asdict, finding.next_steps)),
    }
