"""A report as SARIF 2.1.0 (OASIS, Errata 01), for editors and code-scanning services.

A finding is a result at its first line of evidence; its other lines are related locations, and so is the first line of
the root that it follows from. What the user suppressed is there as a suppressed result, a rule that did not run and a
source that could not be read as notifications. Control characters in texts are made visible,
because editors show the texts as they are.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Evidence, Finding, Report, root_of
from trtforensics.findings.forms.rendering import Look, fingerprints
from trtforensics.findings.registry import rule_of
from trtforensics.model.version import __version__
from trtforensics.parsers.text.stored import STANDARD_INPUT
from trtforensics.render.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.findings.rule import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"
BASE = "%SRCROOT%"
"""The base of relative paths; editors use their open folder."""

JsonObject = dict[str, Any]


def render(report: Report, look: Look) -> str:  # noqa: ARG001 - every renderer is called alike
    """Return the SARIF log as indented ASCII text."""
    return f"{dumps(document(report), indent=1)}\n"


def document(report: Report) -> JsonObject:
    """Return a report as a SARIF log, as an object for ``json.dump``."""
    shown, hidden = report.findings, report.suppressed
    codes = sorted({finding.code for finding in (*shown, *hidden)})
    positions = {code: index for index, code in enumerate(codes)}
    sources = {source.path: source for source in report.sources}
    artifacts = {path: index for index, path in enumerate(sources)}
    by = {"justification": f"Some are suppressed by {visible(report.settings)}."} if report.settings else {}
    hiding = {"suppressions": [{"kind": "external", "status": "accepted", **by}]}
    every = (*shown, *hidden)
    marks = dict(zip(map(id, every), fingerprints(every), strict=True))
    results = [
        _result(finding, positions[finding.code], artifacts, root_of(finding, among))
        # what servers tell findings of two runs by; GitHub takes ``primaryLocationLineHash``, and it alone
        | {
            "partialFingerprints": {
                "primaryLocationLineHash": marks[id(finding)],
                "trtforensics/v1": visible(finding.signature),
            }
        }
        | more
        for among, more in ((shown, {}), (hidden, hiding))
        for finding in among
    ]
    driver = {"name": "trtforensics", "version": __version__, "rules": [_rule(rule_of(code)) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {
                "executionSuccessful": not report.unreadable,
                "toolConfigurationNotifications": [
                    _notice("note", f"{rule.code} was not asked, it needs {', '.join(rule.needs)}: {rule.title}")
                    for rule in report.not_judged
                ],
                "toolExecutionNotifications": [
                    _notice("error", f"{source.path} was not read: {source.why}") for source in report.unreadable
                ],
            }
        ],
        "originalUriBaseIds": {BASE: {"description": _text("The working directory of the command.")}},
        "artifacts": [
            {
                "location": _place(source.path),
                "length": source.bytes,
                "hashes": {"sha-256": source.sha256},
                "roles": ["analysisTarget"],
                "description": _text(source.words),
            }
            for source in sources.values()
        ],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _rule(rule: Rule) -> JsonObject:
    explanation = rule.explanation
    return {
        "id": rule.code,
        "shortDescription": _text(rule.title),
        "fullDescription": _text(explanation.cause),
        "help": _text(
            "\n\n".join(
                (
                    explanation.cause,
                    f"How to confirm: {explanation.confirm}",
                    *(f"Fix: {fix.of_versions}" for fix in explanation.fixes),
                )
            )
        ),
        "defaultConfiguration": {"level": rule.severity.word},
    }


def _result(finding: Finding, rule_index: int, artifacts: Mapping[str, int], root: Finding | None) -> JsonObject:
    first, *others = finding.evidence
    logical = [*_logical(finding.layers, "layer"), *_logical(finding.onnx_nodes, "onnxNode")]
    location = _location(first, artifacts) | ({"logicalLocations": logical} if logical else {})
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": finding.severity.word,
        "message": _text("\n\n".join(_message(finding, root))),
        "locations": [location],
        "properties": {
            "confidence": finding.confidence.value,
            "builds": list(finding.builds),
            "passDiscarded": finding.pass_discarded,
        },
    }
    related = [_location(evidence, artifacts) for evidence in others]
    if root is not None:
        related.insert(0, _location(root.evidence[0], artifacts) | {"message": _text(f"{root.code} {root.title}")})
    if related:
        result["relatedLocations"] = [location | {"id": index} for index, location in enumerate(related, start=1)]
    return result


def _message(finding: Finding, root: Finding | None) -> Iterator[str]:
    """Give the paragraphs that an editor shows at the line: many editors list only the first."""
    yield f"{finding.title}."
    if root is not None:
        yield f"It follows from {root.code}: {root.title}."
    yield finding.cause
    if finding.settle:
        yield f"To settle: {finding.settle}"
    for step in finding.next_steps:
        yield f"Next: {step.what}"
        if step.command:
            yield step.command
    for fix in finding.fixes:
        yield f"Fix: {fix}"


def _text(text: str) -> JsonObject:
    """Return a message object; its paragraphs stay apart."""
    return {"text": "\n".join(map(visible, text.split("\n")))}


def _logical(names: Sequence[str], kind: str) -> Iterator[JsonObject]:
    """Return layers or nodes as logical locations, each once: the schema forbids duplicates."""
    return ({"fullyQualifiedName": name, "kind": kind} for name in dict.fromkeys(map(visible, names)))


def _location(evidence: Evidence, artifacts: Mapping[str, int]) -> JsonObject:
    span = evidence.span
    place = _place(span.file) | ({"index": artifacts[span.file]} if span.file in artifacts else {})
    region = {"startLine": max(span.line_in_file, 1), "snippet": {"text": visible(evidence.text)}}
    return {"physicalLocation": {"artifactLocation": place, "region": region}}


def _place(path: str) -> JsonObject:
    """Return where a file is: relative to the working directory where the path is below it, else whole."""
    if path == STANDARD_INPUT:
        return {"description": _text("Standard input.")}
    pure = PurePath(path)
    if pure.is_absolute() or ".." in pure.parts:
        return {"uri": Path(os.path.abspath(path)).as_uri()}  # noqa: PTH100 - resolve() would follow links
    return {"uri": quote(os.fsencode(pure.as_posix())), "uriBaseId": BASE}


def _notice(level: str, text: str) -> JsonObject:
    return {"level": level, "message": _text(text)}
