"""A report as JUnit XML, for CI: a suite for each log, a test for each rule.

The format has no standard; this module writes what Jenkins and GitLab both read. All findings of a rule are one test,
because CI follows a test by its name, which must stay the same from build to build.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from trtforensics.console.terminal import visible
from trtforensics.findings.coverage import in_words
from trtforensics.findings.finding import Severity
from trtforensics.findings.registry import rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.finding import Finding, Report, Unreadable
    from trtforensics.findings.forms.rendering import Look
    from trtforensics.findings.rule import Rule

_NO_CHARACTERS = re.compile("[\ufffe\uffff]")
"""Characters that ``visible`` leaves alone and XML 1.0 forbids (production [2])."""


def render(report: Report, look: Look) -> str:
    """Return the document; findings from ``look.fails_from`` on are failures, lesser ones are output of the test."""
    fails_from = look.fails_from or Severity.WARNING
    root = ET.Element("testsuites", name="trtforensics")
    for index in range(len(report.sources)):
        root.append(_suite(report, index, fails_from))
    for one in report.unreadable:
        root.append(_not_read(one))
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(report: Report, index: int, fails_from: Severity) -> ET.Element:
    name = _safe(report.sources[index].path)
    suite = ET.Element("testsuite", name=name)
    properties = ET.SubElement(suite, "properties")
    words = in_words(report.sources[index].coverage, report.sources[index].builds)
    ET.SubElement(properties, "property", name="coverage", value=_safe(words))
    needs = {one.code: one.needs for one in report.not_judged}
    mine = [one for one in report.findings if one.source == index]
    for rule in rules():
        found = [_Cited(one, report) for one in mine if one.code == rule.code]
        suite.append(_case(name, rule, found, needs.get(rule.code, ()), fails_from))
    return _counted(suite)


def _not_read(one: Unreadable) -> ET.Element:
    name = _safe(one.path)
    suite = ET.Element("testsuite", name=name)
    case = ET.SubElement(suite, "testcase", classname=name, name="the source can be read", time="0")
    ET.SubElement(case, "error", type="unreadable", message=_safe(one.why))
    return _counted(suite)


def _counted(suite: ET.Element) -> ET.Element:
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    for key, count in counts.items():
        suite.set(key, str(count))
    suite.set("time", "0")
    return suite


class _Cited(NamedTuple):
    """A finding, and the report that holds the root it follows from."""

    finding: Finding
    report: Report

    @property
    def root(self) -> Finding | None:
        place = self.finding.consequence_of
        return None if place is None else self.report.findings[place]


def _case(path: str, rule: Rule, found: Sequence[_Cited], needs: Sequence[str], fails_from: Severity) -> ET.Element:
    case = ET.Element("testcase", classname=path, name=f"{rule.code} {_safe(rule.title)}", time="0")
    if needs:
        ET.SubElement(case, "skipped", message=f"not asked: it needs {', '.join(needs)}")
    failing = [one for one in found if one.finding.severity >= fails_from]
    lesser = [one for one in found if one.finding.severity < fails_from]
    if failing:
        first, more = failing[0].finding, len(failing) - 1
        case.set("file", _safe(first.evidence[0].span.file))
        case.set("line", str(first.line))
        message = _safe(first.title) + (f" (and {more} more)" if more else "")
        failure = ET.SubElement(case, "failure", type=first.severity.word, message=message)
        failure.text = "\n\n".join("\n".join(_lines(one)) for one in failing)
    if lesser:
        ET.SubElement(case, "system-out").text = "\n\n".join("\n".join(_lines(one)) for one in lesser)
    return case


def _lines(cited: _Cited) -> Iterator[str]:
    finding, root = cited.finding, cited.root
    yield _safe(f"{finding.severity.word} {finding.code} {finding.title} ({finding.confidence})")
    if root is not None:
        yield _safe(f"it follows from {root.code}: {root.title}")
    yield _safe(finding.cause)
    if finding.settle:
        yield _safe(f"to settle: {finding.settle}")
    for one in finding.evidence:
        yield _safe(f"{one.span.file}:{one.span.line}: {one.text}")
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
