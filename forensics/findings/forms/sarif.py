"""A report as SARIF 2.1.0 (OASIS, Errata 01), for editors and code-scanning services.

A finding is a result at its first line of evidence; its other lines are related locations, and so is the first line of
the root that it follows from. What the user suppressed is there as a suppressed result, a rule that did not run and a
source that could not be read as notifications. Control characters in texts are made visible,
because editors show the texts as they are.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from urllib.parse import quote

from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Evidence, Finding, Report, root_of
from trtforensics.findings.forms.rendering import Look, fingerprints
from trtforensics.findings.registry import rule_of
from trtforensics.findings.rule import Explanation
from trtforensics.model.version import __version__
from trtforensics.parsers.text.stored import STANDARD_INPUT
from trtforensics.render.json_text import Forms, JsonObject, document_of, dumps

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"
BASE = "%SRCROOT%"
"""The base of relative paths; editors use their open folder."""


def render(report: Report, look: Look) -> str:  # noqa: ARG001 - every renderer is called alike
    """Return the SARIF log as indented ASCII text."""
    return f"{dumps(document(report), indent=1)}\n"


def document(report: Report) -> JsonObject:
    """Return a report as a SARIF log, as an object for ``json.dump``."""
    every = (*report.findings, *report.suppressed)
    codes = sorted({finding.code for finding in every})
    sources = {source.path: source for source in report.sources}
    artifacts = {path: index for index, path in enumerate(sources)}
    by = {"justification": f"Some are suppressed by {visible(report.settings)}."} if report.settings else {}
    hiding = {"suppressions": [{"kind": "external", "status": "accepted", **by}]}
    results = []
    for number, (finding, mark) in enumerate(zip(every, fingerprints(every), strict=True)):
        among, more = (report.findings, {}) if number < len(report.findings) else (report.suppressed, hiding)
        # what servers tell findings of two runs by; GitHub takes ``primaryLocationLineHash``, and it alone
        marks = {"primaryLocationLineHash": mark, "trtforensics/v1": visible(finding.signature)}
        result = _result(finding, codes.index(finding.code), artifacts, root_of(finding, among))
        results.append(result | {"partialFingerprints": marks} | more)
    driver: JsonObject = {"name": "trtforensics", "version": __version__}
    driver["rules"] = [document_of("sarif_rule", rule_of(code), _FORMS) for code in codes]
    idle = (f"{rule.code} was not asked, it needs {', '.join(rule.needs)}: {rule.title}" for rule in report.not_judged)
    unread = (f"{source.path} was not read: {source.why}" for source in report.unreadable)
    invocation = {
        "executionSuccessful": not report.unreadable,
        "toolConfigurationNotifications": [{"level": "note", "message": _text(text)} for text in idle],
        "toolExecutionNotifications": [{"level": "error", "message": _text(text)} for text in unread],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "originalUriBaseIds": {BASE: {"description": _text("The working directory of the command.")}},
        "artifacts": [document_of("sarif_artifact", source, _FORMS) for source in sources.values()],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


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
        "properties": document_of("sarif_properties", finding),
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


def _help(explanation: Explanation) -> JsonObject:
    fixes = (f"Fix: {fix.of_versions}" for fix in explanation.fixes)
    return _text("\n\n".join((explanation.cause, f"How to confirm: {explanation.confirm}", *fixes)))


_FORMS: Forms = {
    "message": _text,
    "location": _place,
    "help": _help,
    "level": lambda word: {"level": word},
    "hashes": lambda digest: {"sha-256": digest},
    "target": lambda _: ["analysisTarget"],
}
