"""A report as JUnit XML, for CI: a suite for each log, a test for each rule.

The format has no standard; this module writes what Jenkins and GitLab both read. All findings of a rule are one test,
because CI follows a test by its name, which must stay the same from build to build.
"""

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from trtforensics.console.counting import grouped
from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Finding, Report, Severity, Unreadable, root_of
from trtforensics.findings.forms.rendering import Look
from trtforensics.findings.registry import rules
from trtforensics.findings.rule import Rule

_COUNTS = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")
"""Characters that ``visible`` leaves alone and XML 1.0 forbids (production [2])."""


def render(report: Report, look: Look) -> str:
    """Return the document; findings from ``look.fails_from`` on are failures, lesser ones are output of the test."""
    fails_from = look.fails_from or Severity.WARNING
    root = ET.Element("testsuites", name="trtforensics")
    for index in range(len(report.sources)):
        root.append(_suite(report, index, fails_from))
    for source in report.unreadable:
        root.append(_not_read(source))
    ET.indent(_counted(root), " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(report: Report, index: int, fails_from: Severity) -> ET.Element:
    name = _safe(report.sources[index].path)
    suite = ET.Element("testsuite", name=name)
    properties = ET.SubElement(suite, "properties")
    words = report.sources[index].words
    ET.SubElement(properties, "property", name="coverage", value=_safe(words))
    needs = {rule.code: rule.needs for rule in report.not_judged}
    worded = (
        (finding, "\n".join(_lines(finding, root_of(finding, report.findings))))
        for finding in report.findings
        if finding.source == index
    )
    texts = grouped(worded, lambda pair: pair[0].code)
    for rule in rules():
        suite.append(_case(name, rule, texts.get(rule.code, ()), needs.get(rule.code, ()), fails_from))
    _counted(suite).set("time", "0")
    return suite


def _not_read(source: Unreadable) -> ET.Element:
    name = _safe(source.path)
    suite = ET.Element("testsuite", name=name)
    case = ET.SubElement(suite, "testcase", classname=name, name="the source can be read", time="0")
    ET.SubElement(case, "error", type="unreadable", message=_safe(source.why))
    _counted(suite).set("time", "0")
    return suite


def _counted(element: ET.Element) -> ET.Element:
    for key, path in _COUNTS.items():
        element.set(key, str(len(element.findall(f".//{path}"))))
    return element


def _case(
    path: str, rule: Rule, texts: Sequence[tuple[Finding, str]], needs: Sequence[str], fails_from: Severity
) -> ET.Element:
    case = ET.Element("testcase", classname=path, name=f"{rule.code} {_safe(rule.title)}", time="0")
    if needs:
        ET.SubElement(case, "skipped", message=f"not asked: it needs {', '.join(needs)}")
    failing = [finding for finding, _ in texts if finding.severity >= fails_from]
    if failing:
        first, more = failing[0], len(failing) - 1
        case.set("file", _safe(first.evidence[0].span.file))
        case.set("line", str(first.line))
        message = _safe(first.title) + (f" (and {more} more)" if more else "")
        failure = ET.SubElement(case, "failure", type=first.severity.word, message=message)
        failure.text = "\n\n".join(text for finding, text in texts if finding.severity >= fails_from)
    if len(failing) < len(texts):
        lesser = (text for finding, text in texts if finding.severity < fails_from)
        ET.SubElement(case, "system-out").text = "\n\n".join(lesser)
    return case


def _lines(finding: Finding, root: Finding | None) -> Iterator[str]:
    yield _safe(f"{finding.severity.word} {finding.code} {finding.title} ({finding.confidence})")
    if root is not None:
        yield _safe(f"it follows from {root.code}: {root.title}")
    yield _safe(finding.cause)
    if finding.settle:
        yield _safe(f"to settle: {finding.settle}")
    for evidence in finding.evidence:
        yield _safe(f"{evidence.span.file}:{evidence.span.line}: {evidence.text}")
    if finding.evidence_total > len(finding.evidence):
        yield f"and {finding.evidence_total - len(finding.evidence):,} more lines"
    for step in finding.next_steps:
        yield _safe(f"next: {step.what}")
        if step.command:
            yield _safe(f"  {step.command}")
    for fix in finding.fixes:
        yield _safe(f"fix: {fix}")


def _safe(text: str) -> str:
    """Return a text on one line of characters that XML can hold."""
    return _NO_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", visible(text))
