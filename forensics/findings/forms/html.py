"""A report as one HTML file without scripts and without external files, readable on phones, screens and paper.

The page is built as a tree and written by the standard library, so text of a log can never become markup.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Confidence, Severity, builds_in_words
from trtforensics.findings.forms.text import MANY, SEVERAL
from trtforensics.model.version import __version__
from trtforensics.plots import page as plots
from trtforensics.render.headline import first_line, run_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.findings.finding import Evidence, Finding, Report, ReportSource
    from trtforensics.findings.forms.rendering import Look
    from trtforensics.plots.figure import Figure

Child = ET.Element | str

STYLE = "report.css"
"""The style sheet beside this module; it becomes part of the page."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_SPELLED = 12
"""Layers or nodes that are shown; the reader can open the rest."""


def render(report: Report, look: Look) -> str:
    """Return the page."""
    page = _tag("html", _head(report, look.figures), _tag("body", *_body(report, look.figures)), lang="en")
    return f"<!DOCTYPE html>\n{ET.tostring(page, encoding='unicode', method='html')}\n"


def _tag(name: str, *children: Child, cls: str = "", **attributes: str) -> ET.Element:
    """Return an element; texts among its children are made safe to show."""
    element = ET.Element(name, ({"class": cls} if cls else {}) | attributes)
    last: ET.Element | None = None
    for child in children:
        if isinstance(child, ET.Element):
            element.append(child)
            last = child
        elif last is None:
            element.text = (element.text or "") + visible(child)
        else:
            last.tail = (last.tail or "") + visible(child)
    return element


def _head(report: Report, figures: Sequence[Figure]) -> ET.Element:
    style = ET.Element("style")
    style.text = (files("trtforensics.findings.forms") / STYLE).read_text("utf-8")
    if figures:
        style.text += plots.stylesheet()
    names = ", ".join(source.path for source in report.sources)
    return _tag(
        "head",
        ET.Element("meta", charset="utf-8"),
        ET.Element("meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        ET.Element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        ET.Element("meta", {"name": "color-scheme", "content": "light dark"}),
        _tag("title", f"{names}: build report"),
        style,
    )


def _body(report: Report, figures: Sequence[Figure]) -> Iterator[ET.Element]:
    numbers = {id(finding): number for number, finding in enumerate(report.findings, start=1)}
    several = len(report.sources) > 1
    yield _tag("header", _tag("h1", "Build report"), _tally(report))
    if report.findings:
        yield _contents(report, numbers, several=several)
    if len(report.sources) >= SEVERAL:
        yield _overview(report)
    for index, source in enumerate(report.sources):
        shown = [_tree(report, root, numbers, builds=source.builds) for root in report.roots(index)]
        rows = [*_source(source), *(shown or [_tag("p", "Nothing found in what the log tells.", cls="calm")])]
        if len(report.sources) > MANY:
            rows = [_tag("details", _tag("summary", source.path), *rows)]
        yield _tag("section", *rows, **({"id": f"s{index + 1}"} if several else {}))
    if report.unreadable:
        rows = [_tag("li", _tag("b", source.path), f": {source.why}") for source in report.unreadable]
        yield _tag("section", _tag("h2", "Not read"), _tag("ul", *rows, cls="plain"))
    if report.common:
        rows = [
            _tag(
                "li",
                _badge(shared.severity),
                " ",
                _tag("b", shared.code),
                f" {shared.title}: ",
                _shared(report, shared.sources),
            )
            for shared in report.common
        ]
        yield _tag("section", _tag("h2", "In several logs"), _tag("ul", *rows, cls="plain"))
    yield from _rest(report)
    if figures:
        yield _tag("section", _tag("h2", "Pictures"), *map(plots.element, figures))
    text = f"trtforensics {__version__}. `trtforensics explain CODE` tells more of a code."
    yield _tag("footer", text)


def _overview(report: Report) -> ET.Element:
    """Return a row for each run: its place, how it ended, and what its headline says."""
    rows = [
        _tag(
            "tr",
            _tag("th", _tag("a", f"{source.path}:{headline.first_line}", href=f"#s{number}"), scope="row"),
            _tag("td", headline.text),
        )
        for number, source in enumerate(report.sources, start=1)
        for headline in source.headlines
    ]
    return _tag("section", _tag("h2", f"Runs ({len(rows):,})"), _tag("table", *rows, cls="times"))


def _tally(report: Report) -> ET.Element:
    counts = [(severity, report.counts()[severity.word]) for severity in sorted(Severity, reverse=True)]
    words = [
        _tag("span", _tag("b", f"{count:,}"), f" {severity.word}{'' if count == 1 else 's'}", cls=severity.word)
        for severity, count in counts
    ]
    return _tag("p", *words, cls="tally")


def _contents(report: Report, numbers: Mapping[int, int], *, several: bool) -> ET.Element:
    """Return the list of roots, worst first, with what follows from each, and a link to each one's place."""

    def row(finding: Finding) -> ET.Element:
        name = PurePath(report.sources[finding.source].path).name
        where = f"{name}:{finding.line}" if several else finding.place
        title = _tag("a", finding.title, href=f"#f{numbers[id(finding)]}")
        below = [row(each) for each in report.consequences(finding)]
        rest = [_tag("ul", *below)] if below else []
        return _tag(
            "li", _badge(finding.severity), _tag("b", finding.code), title, _tag("span", where, cls="where"), *rest
        )

    roots = [finding for finding in report.findings if finding.consequence_of is None]
    return _tag("nav", _tag("ol", *map(row, roots)), **{"aria-label": "Findings"})


def _source(source: ReportSource) -> Iterator[ET.Element]:
    builds = "" if source.builds == 1 else f", {source.builds:,} builds"
    if source.headlines:
        yield _tag("p", _tag("strong", first_line(source.headlines)), cls="headline")
    yield _tag("h2", source.path)
    if len(source.headlines) > 1:
        yield _tag("ul", *(_tag("li", line) for line in run_lines(source.headlines)), cls="plain")
    if source.times:
        rows = [_tag("tr", _tag("th", row.label, scope="row"), _tag("td", row.cited)) for row in source.times]
        yield _tag("table", *rows, cls="times")
    facts = f"{source.lines:,} lines, {source.bytes:,} bytes{builds}, SHA-256 "
    yield _tag("p", facts, _tag("code", source.sha256), cls="facts")
    words = source.words
    yield _tag("p", f"{words[0].upper()}{words[1:]}.")


def _tree(report: Report, root: Finding, numbers: Mapping[int, int], *, builds: int) -> ET.Element:
    """Return a root; what follows from it stands inside, at its end."""
    article = _finding(root, numbers[id(root)], builds=builds)
    below = [_finding(finding, numbers[id(finding)], builds=builds) for finding in report.consequences(root)]
    if below:
        article.append(_tag("section", _tag("h4", "It follows"), *below, cls="follows"))
    return article


def _finding(finding: Finding, number: int, *, builds: int) -> ET.Element:
    sure = "" if finding.confidence is Confidence.CERTAIN else f", {finding.confidence}"
    build = f", {builds_in_words(finding.builds)}" if builds > 1 else ""
    facts = _tag("p", _badge(finding.severity), _tag("b", finding.code), f"{finding.place}{build}{sure}", cls="id")
    article = _tag("article", facts, _tag("h3", finding.title), _tag("p", finding.cause), cls=finding.severity.word)
    article.set("id", f"f{number}")
    article.extend(_advice(finding))
    article.extend(_names("Layers", finding.layers))
    article.extend(_names("ONNX nodes", finding.onnx_nodes))
    article.append(_evidence(finding))
    return article


def _advice(finding: Finding) -> Iterator[ET.Element]:
    if finding.settle:
        yield _tag("p", _tag("b", "To settle it: "), finding.settle)
    if finding.next_steps:
        yield _tag("h4", "Next")
        steps = [
            _tag("li", step.what, *([_command(step.command)] if step.command else [])) for step in finding.next_steps
        ]
        yield _tag("ol", *steps, cls="steps")
    if finding.fixes:
        yield _tag("h4", "Fix")
        yield _tag("ul", *(_tag("li", fix) for fix in finding.fixes))


def _command(command: str) -> ET.Element:
    """Return a command that breaks between words only: a line must not end in the dashes of an option."""
    first, *others = command.split(" ")
    rest: list[Child] = []
    for word in others:
        rest += [" ", _tag("span", word)]
    return _tag("pre", _tag("span", first), *rest)


def _names(title: str, names: Sequence[str]) -> Iterator[ET.Element]:
    if not names:
        return
    yield _tag("h4", title if len(names) == 1 else f"{title} ({len(names):,})")
    items = [_tag("li", _tag("code", name)) for name in names]
    yield _tag("ul", *items[:_SPELLED], cls="names")
    if items[_SPELLED:]:
        summary = _tag("summary", f"{len(items) - _SPELLED:,} more")
        yield _tag("details", summary, _tag("ul", *items[_SPELLED:], cls="names"))


def _evidence(finding: Finding) -> ET.Element:
    total = finding.evidence_total
    summary = _tag("summary", "Evidence: 1 line" if total == 1 else f"Evidence: {total:,} lines")
    first_file = finding.evidence[0].span.file
    rows = [_line(evidence, first_file) for evidence in finding.evidence]
    more = total - len(finding.evidence)
    rest = [_tag("p", f"and {more:,} more", cls="where")] if more else []
    details = _tag("details", summary, _tag("table", *rows, cls="lines"), *rest)
    if finding.severity > Severity.NOTE:
        details.set("open", "open")
    return details


def _line(evidence: Evidence, first_file: str) -> ET.Element:
    """Return a row: the number of the line, its text, and its file where that differs from the first line's."""
    span = evidence.span
    place = [] if span.file == first_file else [_tag("span", span.file, cls="where"), ET.Element("br")]
    return _tag("tr", _tag("th", str(span.line), scope="row"), _tag("td", *place, _tag("code", evidence.text)))


def _badge(severity: Severity) -> ET.Element:
    return _tag("span", severity.word, cls=f"badge {severity.word}")


def _shared(report: Report, sources: Sequence[int]) -> str:
    return ", ".join(report.sources[index].path for index in sources)


def _rest(report: Report) -> Iterator[ET.Element]:
    """Give the suppressed findings and the rules that did not run."""
    if report.suppressed:
        rows = [
            _tag("li", _tag("b", finding.code), f" {finding.title}, {finding.place}") for finding in report.suppressed
        ]
        summary = _tag(
            "summary", f"Suppressed: {len(rows):,}" + (f", some by {report.settings}" if report.settings else "")
        )
        yield _tag("section", _tag("details", summary, _tag("ul", *rows, cls="plain")))
    if report.not_judged:
        rows = [
            _tag("li", _tag("b", rule.code), f" {rule.title} (needs {', '.join(rule.needs)})")
            for rule in report.not_judged
        ]
        summary = _tag("summary", f"Rules that need another file: {len(rows):,}")
        yield _tag("section", _tag("details", summary, _tag("ul", *rows, cls="plain")))
