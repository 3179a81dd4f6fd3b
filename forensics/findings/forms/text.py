"""A report as text: findings with their next steps, worst first; with ``-v`` causes, evidence and fixes too."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.findings.coverage import in_words
from trtforensics.findings.finding import Confidence, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.finding import Finding, Report, SharedFinding
    from trtforensics.findings.forms.rendering import Look

_WIDTH = 110
_INDENT = " " * 4
_PLAIN = "\x1b[0m"
_COLOURS = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m", Severity.NOTE: "\x1b[1;36m"}
_NAMES = 8
"""Layers or nodes that are named; further names are only counted."""


def render(report: Report, look: Look) -> str:
    """Return the text, without control characters from the logs."""
    blocks = ["\n".join(block) for block in _blocks(report, look)]
    return "\n\n".join(blocks) + "\n"


def _blocks(report: Report, look: Look) -> Iterator[list[str]]:
    for index, source in enumerate(report.sources):
        roots = report.roots(index)
        counts = tally([one for one in report.findings if one.source == index])
        yield [
            visible(f"{source.path}: {counts}"),
            *(_wrapped("", f"read as an excerpt: {', '.join(source.wrapped_in)}") if source.wrapped_in else ()),
            *_wrapped("", in_words(source.coverage, source.builds)),
        ]
        for root in roots:
            yield [*_tree(report, root, look, several=source.builds > 1)]
    if report.unreadable:
        yield ["Not read:", *(line for one in report.unreadable for line in _wrapped("", f"{one.path}: {one.why}"))]
    if report.common:
        yield ["In several logs:", *(_shared(one, len(report.sources)) for one in report.common)]
    rest = [*_rest(report)]
    if rest:
        yield rest


def _tree(report: Report, root: Finding, look: Look, *, several: bool) -> Iterator[str]:
    """Give a root with its details, and its consequences; their steps only where the root has none, or if asked for."""
    yield from _finding(root, look, several=several)
    helped = bool(root.next_steps)
    for one in report.consequences(root):
        yield f"{_INDENT}so: {_headline(one, look, several=several)}"
        if look.verbose:
            yield from (f"{_INDENT}{line}" for line in _detail(one))
        if look.verbose or not helped:
            yield from (f"{_INDENT}{line}" for line in _next(one, look))
            helped = helped or bool(one.next_steps)


def tally(findings: Sequence[Finding]) -> str:
    """Return how many findings have each severity, in words: ``1 error, 2 notes``."""
    numbers = [(s, sum(one.severity is s for one in findings)) for s in sorted(Severity, reverse=True)]
    words = [counted(number, s.word) for s, number in numbers if number]
    return ", ".join(words) or "nothing found in what the log tells"


def _finding(finding: Finding, look: Look, *, several: bool) -> Iterator[str]:
    yield _headline(finding, look, several=several)
    if look.verbose:
        yield from _detail(finding)
    yield from _next(finding, look)


def _next(finding: Finding, look: Look) -> Iterator[str]:
    for step in finding.next_steps[: _steps(finding, look)]:
        yield from _wrapped("next: ", step.what)
        if step.command:
            yield f"{_INDENT}  {visible(step.command)}"


def _headline(finding: Finding, look: Look, *, several: bool) -> str:
    word = finding.severity.word
    mark = f"{_COLOURS[finding.severity]}{word}{_PLAIN}" if look.colour else word
    sure = "" if finding.confidence is Confidence.CERTAIN else f" ({finding.confidence})"
    place = f"{builds_of(finding)}, line {finding.line}" if several else f"line {finding.line}"
    return f"{mark} {finding.code} {visible(finding.title)}{sure}, {place}"


def builds_of(finding: Finding) -> str:
    """Return the builds in words, counted from 1: ``build 2``, ``builds 1, 2 and 5``."""
    *others, last = (str(build + 1) for build in finding.builds)
    return f"builds {', '.join(others)} and {last}" if others else f"build {last}"


def _steps(finding: Finding, look: Look) -> int:
    if look.verbose:
        return len(finding.next_steps)
    return 2 if finding.severity is Severity.ERROR else 1


def _detail(finding: Finding) -> Iterator[str]:
    yield from _wrapped("why: ", finding.cause)
    if finding.settle:
        yield from _wrapped("to settle: ", finding.settle)
    for label, names in (("layers: ", finding.layers), ("ONNX nodes: ", finding.onnx_nodes)):
        if names:
            more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
            yield from _wrapped(label, ", ".join(names[:_NAMES]) + more)
    for evidence in finding.evidence:
        yield f"{_INDENT}{evidence.span.line:>7}: {visible(evidence.text)}"
    if finding.evidence_total > len(finding.evidence):
        yield f"{_INDENT}         and {finding.evidence_total - len(finding.evidence):,} more lines"
    for fix in finding.fixes:
        yield from _wrapped("fix: ", fix)


def _wrapped(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        visible(text),
        _WIDTH,
        initial_indent=f"{_INDENT}{label}",
        subsequent_indent=_INDENT + " " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _shared(one: SharedFinding, sources: int) -> str:
    return f"{_INDENT}{one.code} in {len(one.sources)} of {sources}: {visible(one.title)}"


def _rest(report: Report) -> Iterator[str]:
    if report.suppressed:
        number = len(report.suppressed)
        by = f", some by {visible(report.settings)}" if report.settings else ""
        yield f"{counted(number, 'finding')} suppressed{by}"
    lacking = [one for one in report.not_judged if one.needs]
    if lacking:
        needs = sorted({need for one in lacking for need in one.needs})
        flags = ", ".join("a second log" if need == "other-log" else f"--{need}" for need in needs)
        yield f"{len(lacking)} rules were not asked: they need {flags}"
