"""A report as one HTML file without external files, readable on phones, screens and paper.

Of several logs it begins with a table of their runs, which the script beside this module sorts and filters.

The page is built as a tree (``render.markup``) and written by the standard library, so text of a log can never
become markup.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import PurePath
from xml.etree import ElementTree as ET

from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Confidence, Evidence, Finding, Report, ReportSource, Severity, builds_in_words
from trtforensics.findings.forms.rendering import Look
from trtforensics.findings.forms.text import MANY, SEVERAL, alike
from trtforensics.model.version import __version__
from trtforensics.plots import figure
from trtforensics.render.headline import first_line, run_lines
from trtforensics.render.markup import Child, html, page, tag

STYLE, SCRIPT = "report.css", "overview.js"
"""The style sheet and the script beside this module; they become parts of the page."""

_SPELLED = 12
"""Layers or nodes that are shown; the reader can open the rest."""


def render(report: Report, look: Look) -> str:
    """Return the page."""
    style = (files("trtforensics.findings.forms") / STYLE).read_text("utf-8")
    style += figure.stylesheet() if look.figures else ""
    sources = report.sources
    names = ", ".join(source.path for source in sources) if len(sources) <= MANY else f"{len(sources):,} logs"
    script = (files("trtforensics.findings.forms") / SCRIPT).read_text("utf-8") if len(sources) >= SEVERAL else ""
    return page(f"{names}: build report", style, tag("body", *_body(report, look)), script)


def fragment(report: Report) -> str:
    """Return a part of a page, for notebooks: of each source its runs, where the time goes, and its findings folded."""
    numbers = {id(finding): number for number, finding in enumerate(report.findings, start=1)}
    parts: list[ET.Element] = []
    for index, source in enumerate(report.sources):
        parts += [*_source(source), tag("p", repr(report)[1:-1])]
        for root in report.roots(index):
            title = tag("summary", f"{root.severity.word} {root.code} {root.title}, {root.place}")
            parts.append(tag("details", title, _tree(report, root, numbers, builds=source.builds)))
    for unreadable in report.unreadable:
        parts.append(tag("p", tag("b", unreadable.path), f" was not read: {unreadable.why}"))
    return html(tag("div", *parts))


def _body(report: Report, look: Look) -> Iterator[ET.Element]:
    numbers = {id(finding): number for number, finding in enumerate(report.findings, start=1)}
    each_once = len(report.sources) > MANY and not look.verbose
    yield tag("header", tag("h1", "Build report"), _tally(report))
    if each_once:
        groups = alike(report)
        yield _overview(report, {(root.source, root.code): numbers[id(group[0])] for group in groups for root in group})
        yield tag("section", tag("h2", "Findings"), *(_once(report, group, numbers) for group in groups))
    else:
        yield from _of_each(report, numbers)
    if report.unreadable:
        rows = [tag("li", tag("b", source.path), f": {source.why}") for source in report.unreadable]
        yield tag("section", tag("h2", "Not read"), tag("ul", *rows, cls="plain"))
    yield from _rest(report)
    if look.figures:
        yield tag("section", tag("h2", "Pictures"), *map(figure.element, look.figures))
    text = f"trtforensics {__version__}. `trtforensics explain CODE` tells more of a code."
    yield tag("footer", f"{text} With -v the page has all of each log." if each_once else text)


def _of_each(report: Report, numbers: Mapping[int, int]) -> Iterator[ET.Element]:
    """Give the list of findings, a section for each log, and what several logs share."""
    several = len(report.sources) > 1
    if report.findings:
        yield _contents(report, numbers, several=several)
    if len(report.sources) >= SEVERAL:
        yield _overview(report, {(each.source, each.code): numbers[id(each)] for each in reversed(report.findings)})
    for index, source in enumerate(report.sources):
        shown = [_tree(report, root, numbers, builds=source.builds) for root in report.roots(index)]
        words = f"Nothing found{'' if source.model else ' in what the log tells'}."
        rows = [*_source(source), *(shown or [tag("p", words, cls="calm")])]
        if len(report.sources) > MANY:
            rows = [tag("details", tag("summary", source.path), *rows)]
        yield tag("section", *rows, **({"id": f"s{index + 1}"} if several else {}))
    if report.common:
        rows = [
            tag(
                "li",
                _badge(shared.severity),
                " ",
                tag("b", shared.code),
                f" {shared.title}: ",
                ", ".join(report.sources[index].path for index in shared.sources),
            )
            for shared in report.common
        ]
        yield tag("section", tag("h2", "In several logs"), tag("ul", *rows, cls="plain"))


def _once(report: Report, group: Sequence[Finding], numbers: Mapping[int, int]) -> ET.Element:
    """Return a finding as its first log has it, folded, with the places of all logs that have it."""
    first = group[0]
    article = _tree(report, first, numbers, builds=report.sources[first.source].builds)
    article[0].append(tag("span", f"of {report.sources[first.source].path}"))
    places = (f"{report.sources[root.source].path}:{root.line}" for root in group)
    logs = tag("span", f"in {counted(len({root.source for root in group}), 'log')}", cls="where")
    article.append(
        tag("details", tag("summary", "All places"), tag("ul", *(tag("li", p) for p in places), cls="plain"))
    )
    return tag("details", tag("summary", _badge(first.severity), f" {first.code} {first.title} ", logs), article)


def _overview(report: Report, numbers: Mapping[tuple[int, str], int]) -> ET.Element:
    """Return a row for each run; its root, a code of its source, leads to the finding of that number."""
    rows = [
        tag(
            "tr",
            tag("th", f"{source.path}:{headline.first_line}", scope="row", title=visible(headline.text)),
            tag("td", headline.word),
            tag("td", headline.release),
            tag("td", headline.gpu),
            tag("td", "" if headline.latency_ms is None else f"{headline.latency_ms:g}"),
            tag("td", _link(headline.root, numbers.get((index, headline.root)))),
        )
        for index, source in enumerate(report.sources)
        for headline in source.headlines
    ]
    head = tag("tr", *(tag("th", name) for name in ("Run", "Outcome", "Release", "GPU", "Latency, ms", "Root")))
    table = tag("table", tag("thead", head), tag("tbody", *rows), cls="runs")
    return tag("section", tag("h2", f"Runs ({len(rows):,})"), table)


def _link(code: str, number: int | None) -> Child:
    return code if number is None else tag("a", code, href=f"#f{number}")


def _tally(report: Report) -> ET.Element:
    words = [
        tag("span", tag("b", f"{count:,}"), f" {word}{'' if count == 1 else 's'}", cls=word)
        for word, count in report.counts().items()
    ]
    return tag("p", *words, cls="tally")


def _contents(report: Report, numbers: Mapping[int, int], *, several: bool) -> ET.Element:
    """Return the list of roots, worst first, with what follows from each, and a link to each one's place."""

    def row(finding: Finding) -> ET.Element:
        name = PurePath(report.sources[finding.source].path).name
        where = f"{name}:{finding.line}" if several else finding.place
        title = tag("a", finding.title, href=f"#f{numbers[id(finding)]}")
        below = [row(each) for each in report.consequences(finding)]
        rest = [tag("ul", *below)] if below else []
        return tag(
            "li", _badge(finding.severity), tag("b", finding.code), title, tag("span", where, cls="where"), *rest
        )

    roots = [finding for finding in report.findings if finding.consequence_of is None]
    return tag("nav", tag("ol", *map(row, roots)), **{"aria-label": "Findings"})


def _source(source: ReportSource) -> Iterator[ET.Element]:
    builds = "" if source.builds == 1 else f", {source.builds:,} builds"
    if source.headlines:
        yield tag("p", tag("strong", first_line(source.headlines)), cls="headline")
    yield tag("h2", source.path)
    if len(source.headlines) > 1:
        yield tag("ul", *(tag("li", line) for line in run_lines(source.headlines)), cls="plain")
    if source.times:
        rows = [tag("tr", tag("th", row.label, scope="row"), tag("td", row.cited)) for row in source.times]
        yield tag("table", *rows, cls="times")
    facts = f"{source.lines:,} lines, {source.bytes:,} bytes{builds}, SHA-256 "
    yield tag("p", facts, tag("code", source.sha256), cls="facts")
    words = source.words
    yield tag("p", f"{words[0].upper()}{words[1:]}.")


def _tree(report: Report, root: Finding, numbers: Mapping[int, int], *, builds: int) -> ET.Element:
    """Return a root; what follows from it stands inside, at its end."""
    article = _finding(root, numbers[id(root)], builds=builds)
    below = [_finding(finding, numbers[id(finding)], builds=builds) for finding in report.consequences(root)]
    if below:
        article.append(tag("section", tag("h4", "It follows"), *below, cls="follows"))
    return article


def _finding(finding: Finding, number: int, *, builds: int) -> ET.Element:
    sure = "" if finding.confidence is Confidence.CERTAIN else f", {finding.confidence}"
    build = f", {builds_in_words(finding.builds)}" if builds > 1 else ""
    facts = tag("p", _badge(finding.severity), tag("b", finding.code), f"{finding.place}{build}{sure}", cls="id")
    article = tag("article", facts, tag("h3", finding.title), tag("p", finding.cause), cls=finding.severity.word)
    article.set("id", f"f{number}")
    article.extend(_advice(finding))
    article.extend(_names("Layers", finding.layers))
    article.extend(_names("ONNX nodes", finding.onnx_nodes))
    article.append(_evidence(finding))
    return article


def _advice(finding: Finding) -> Iterator[ET.Element]:
    if finding.settle:
        yield tag("p", tag("b", "To settle it: "), finding.settle)
    if finding.next_steps:
        yield tag("h4", "Next")
        steps = [
            tag("li", step.what, *([_command(step.command)] if step.command else [])) for step in finding.next_steps
        ]
        yield tag("ol", *steps, cls="steps")
    if finding.fixes:
        yield tag("h4", "Fix")
        yield tag("ul", *(tag("li", fix) for fix in finding.fixes))


def _command(command: str) -> ET.Element:
    """Return a command that breaks between words only: a line must not end in the dashes of an option."""
    first, *others = command.split(" ")
    rest: list[Child] = []
    for word in others:
        rest += [" ", tag("span", word)]
    return tag("pre", tag("span", first), *rest)


def _names(title: str, names: Sequence[str]) -> Iterator[ET.Element]:
    if not names:
        return
    yield tag("h4", title if len(names) == 1 else f"{title} ({len(names):,})")
    items = [tag("li", tag("code", name)) for name in names]
    yield tag("ul", *items[:_SPELLED], cls="names")
    if items[_SPELLED:]:
        summary = tag("summary", f"{len(items) - _SPELLED:,} more")
        yield tag("details", summary, tag("ul", *items[_SPELLED:], cls="names"))


def _evidence(finding: Finding) -> ET.Element:
    total = finding.evidence_total
    summary = tag("summary", "Evidence: 1 line" if total == 1 else f"Evidence: {total:,} lines")
    first_file = finding.evidence[0].span.file
    rows = [_line(evidence, first_file) for evidence in finding.evidence]
    more = total - len(finding.evidence)
    rest = [tag("p", f"and {more:,} more", cls="where")] if more else []
    details = tag("details", summary, tag("table", *rows, cls="lines"), *rest)
    if finding.severity > Severity.NOTE:
        details.set("open", "open")
    return details


def _line(evidence: Evidence, first_file: str) -> ET.Element:
    """Return a row: the number of the line, its text, and its file where that differs from the first line's."""
    span = evidence.span
    place = [] if span.file == first_file else [tag("span", span.file, cls="where"), ET.Element("br")]
    return tag("tr", tag("th", str(span.line), scope="row"), tag("td", *place, tag("code", evidence.text)))


def _badge(severity: Severity) -> ET.Element:
    return tag("span", severity.word, cls=f"badge {severity.word}")


def _rest(report: Report) -> Iterator[ET.Element]:
    """Give the suppressed findings and the rules that did not run."""
    by = f", some by {report.settings}" if report.settings else ""
    suppressed = [(finding.code, f" {finding.title}, {finding.place}") for finding in report.suppressed]
    waiting = [(rule.code, f" {rule.title} (needs {', '.join(rule.needs)})") for rule in report.not_judged]
    for words, rows, more in (("Suppressed", suppressed, by), ("Rules that need another file", waiting, "")):
        if rows:
            listed = tag("ul", *(tag("li", tag("b", code), text) for code, text in rows), cls="plain")
            yield tag("section", tag("details", tag("summary", f"{words}: {len(rows):,}{more}"), listed))
