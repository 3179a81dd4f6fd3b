"""A report as text: of each root what is wrong, why and what to do first; with ``-v`` evidence, fixes and notes too."""

from collections import Counter
from collections.abc import Iterator, Sequence

from trtforensics.console.counting import counted, grouped, listed
from trtforensics.console.terminal import visible
from trtforensics.findings.case import Need
from trtforensics.findings.finding import (
    Confidence,
    Finding,
    Report,
    ReportSource,
    Severity,
    Step,
    advice_of,
    builds_in_words,
    candidates_of,
    counts,
    why_of,
    worse_roots,
)
from trtforensics.findings.forms.rendering import Look
from trtforensics.findings.tree import NOT_SHOWN
from trtforensics.render.headline import SEPARATOR, Headline, first_line, run_lines
from trtforensics.render.names import shortened, wrapped

_WIDTH = 110
_INDENT = " " * 4
_PLAIN, _GOOD, _BAD = "\x1b[0m", "\x1b[1;32m", "\x1b[1;33m"
_UNBROKEN = "\xa0"
_COLOURS = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m", Severity.NOTE: "\x1b[1;36m"}
_NAMES = 8
"""Layers or nodes that are named; further names are only counted."""
SEVERAL = 3
"""Logs from which on an overview of their runs comes first."""
MANY = 10
"""Logs of which each is told by itself; of more, each finding is told once."""
_NOTES = 5
"""Notes that are shown where nothing is worse; further notes are only counted."""
_TITLE = 80
"""Characters of the title of a note that is only named."""
_NAME = 20
"""Characters of a title that are shown on the narrowest terminal."""


def render(report: Report, look: Look) -> str:
    """Return the text, without control characters from the logs."""
    blocks = ["\n".join(block) for block in _blocks(report, look)]
    return "\n\n".join(blocks) + "\n"


def _blocks(report: Report, look: Look) -> Iterator[list[str]]:
    if len(report.sources) >= SEVERAL:
        yield list(_overview(report))
    many = len(report.sources) > MANY and not look.verbose
    if many:
        yield [*_each_once(report, look)]
    for index, source in enumerate(() if many else report.sources):
        roots = report.roots(index)
        summary = tally([finding for finding in report.findings if finding.source == index], of_log=not source.model)
        yield [
            *_headlines(source.headlines, look),
            *(
                line
                for row in (*source.times, *(source.details if look.verbose else ()))
                for line in _wrapped(f"{row.label:<9}", row.cited, look)
            ),
            visible(f"{source.path}: {summary}"),
            *(_about_the_source(source, look) if look.verbose or source.model or not roots else ()),
        ]
        shown = _shown(report, roots, look)
        told: set[tuple[str, ...]] = set()
        for root in shown:
            yield [*_tree(report, root, look, told, several=source.builds > 1)]
        if len(shown) < len(roots):
            yield _named_notes([root for root in roots if root not in shown], look)
        if source.own_lines:
            yield ["In its own words:", *(line for text in source.own_lines for line in _wrapped("", text, look))]
    if report.unreadable:
        yield [
            "Not read:",
            *(line for source in report.unreadable for line in _wrapped("", f"{source.path}: {source.why}", look)),
        ]
    if report.common and not many:
        logs = len(report.sources)
        common = (f"{f.code} in {len(f.sources)} of {logs}: {visible(f.title)}" for f in report.common)
        yield ["In several logs:", *(f"{_INDENT}{line}" for line in common)]
    rest = [*_rest(report)]
    if rest:
        yield rest


def _overview(report: Report) -> Iterator[str]:
    """Give the outcomes of all runs, and a line for each."""
    every = [(source, headline) for source in report.sources for headline in source.headlines]
    ends = Counter(headline.word for _, headline in every)
    yield f"{counted(len(every), 'run')}: " + ", ".join(f"{number:,} {word}" for word, number in ends.most_common())
    for source, headline in every:
        yield visible(f"{_INDENT}{source.path}:{headline.first_line}: {headline.text}")


def alike(report: Report) -> list[list[Finding]]:
    """Return the roots that are worse than a note, those of a kind together, the worst and most frequent first."""
    worse = (root for index in range(len(report.sources)) for root in worse_roots(report, index))
    groups = grouped(worse, lambda root: root.signature).values()
    return sorted(groups, key=lambda roots: (-roots[0].severity, -len(roots)))


def _each_once(report: Report, look: Look) -> Iterator[str]:
    """Give each root once, with the places of the logs that have it."""
    for roots in alike(report):
        first = roots[0]
        yield from _wrapped("", f"{first.severity.word} {first.code} {first.title}", look)
        paths = [f"{report.sources[root.source].path}:{root.line}" for root in roots]
        yield from _wrapped(f"in {len(paths):,}: ", listed(paths), look)
    yield "All of each log: -v"


def _headlines(every: Sequence[Headline], look: Look) -> Iterator[str]:
    """Give a log's first line, and a line for each of several runs; only a terminal breaks them."""
    for number, text in enumerate((first_line(every), *run_lines(every)) if every else ()):
        indent = _INDENT if number else ""
        unbroken = text.replace(" ", _UNBROKEN).replace(SEPARATOR.replace(" ", _UNBROKEN), f"{_UNBROKEN}· ")
        lines = wrapped(unbroken, look.width or len(text) + len(indent), indent, f"{indent}  ")
        good = all(headline.passed for headline in every)
        for line in (line.replace(_UNBROKEN, " ") for line in lines):
            yield f"{_GOOD if good else _BAD}{line}{_PLAIN}" if look.colour and not number else line


def _about_the_source(source: ReportSource, look: Look) -> Iterator[str]:
    if source.wrapped_in:
        yield from _wrapped("", f"read as an excerpt: {', '.join(source.wrapped_in)}", look)
    yield from _wrapped("", source.words, look)


def _shown(report: Report, roots: Sequence[Finding], look: Look) -> Sequence[Finding]:
    """Return the roots that are shown: notes, as what a log lacks, only if asked for, or where nothing is worse."""
    trees = [(root, *report.consequences(root)) for root in roots]
    worse = [tree[0] for tree in trees if any(f.severity > Severity.NOTE and f.code != NOT_SHOWN for f in tree)]
    return roots if look.verbose else worse or roots[:_NOTES]


def _named_notes(notes: Sequence[Finding], look: Look) -> list[str]:
    """Return how many notes are not shown, and what the first of them say; not what the log lacks."""
    named = [note for note in notes if note.code != NOT_SHOWN][:_NOTES]
    titles = "; ".join(f"{note.code} {shortened(note.title, _TITLE)}, line {note.line:,}" for note in named)
    words = f"{counted(len(notes), 'note')}: {titles + '; ' * bool(titles)}-v"
    return wrapped(visible(words), min(look.width or _WIDTH, _WIDTH), "", _INDENT)


def _tree(report: Report, root: Finding, look: Look, told: set[tuple[str, ...]], *, several: bool) -> Iterator[str]:
    """Give a root with its answer, unless that is ``told`` above, and what follows; with ``-v`` all details of each."""
    consequences = report.consequences(root)
    yield from _headline(root, look, several=several)
    if look.verbose:
        yield from _detail(root, look)
        for finding in consequences:
            yield from (f"{_INDENT}{line}" for line in _headline(finding, look, several=several, label="so: "))
            yield from (f"{_INDENT}{line}" for line in _detail(finding, look))
        return
    answer = tuple(_answer(root, consequences, look))
    yield from answer if answer not in told else ()
    told.add(answer)
    if consequences:
        worst = min(consequences, key=lambda finding: (-finding.severity, finding.general, -finding.line))
        more = f"; and {len(consequences) - 1} more" if len(consequences) > 1 else ""
        place = f" ({worst.code}, {worst.place}){more}"
        room = max((look.width or _WIDTH) - len(_INDENT) - len("so: ") - len(place), _NAME)
        yield f"{_INDENT}so: {visible(shortened(worst.title, room))}{place}"


def _answer(root: Finding, consequences: Sequence[Finding], look: Look) -> Iterator[str]:
    """Give why, the causes that come into question with what tells them apart, the first thing to do, a command."""
    yield from _wrapped("it says: ", root.message, look)
    yield from _wrapped("", why_of(root), look)
    causes = candidates_of(root)
    for number, cause in enumerate(causes, 1):
        yield from _wrapped(f"  {number}. ", cause, look)
    if causes and root.settle:
        yield from _wrapped("to tell: ", root.settle, look)
    what, step = advice_of(root)
    if step is None:
        step = next((step for finding in consequences if (step := advice_of(finding)[1]) is not None), None)
    yield from _wrapped("do: ", what, look)
    if step is not None:
        yield from _typed(step, look)


def _typed(step: Step, look: Look) -> Iterator[str]:
    yield from _wrapped("next: ", step.what, look)
    if step.command:
        yield f"{_INDENT}  {visible(step.command)}"


def tally(findings: Sequence[Finding], *, of_log: bool) -> str:
    """Return how many findings have each severity, in words: ``1 error, 2 notes``."""
    words = [counted(number, word) for word, number in counts(findings).items() if number]
    return ", ".join(words) or f"nothing found{' in what the log tells' if of_log else ''}"


def _headline(finding: Finding, look: Look, *, several: bool, label: str = "") -> list[str]:
    """Return a finding's title with its code and place, on a terminal in lines of its width."""
    word = finding.severity.word
    sure = "" if finding.confidence is Confidence.CERTAIN else f" ({finding.confidence})"
    place = f"{builds_in_words(finding.builds)}, {finding.place}" if several else finding.place
    text = f"{word} {finding.code} {visible(finding.title)}{sure}, {place}"
    width = look.width - len(_INDENT) if look.width else len(label) + len(text)
    first, *rest = wrapped(text, max(width, _NAME), label, _INDENT)
    mark = f"{_COLOURS[finding.severity]}{word}{_PLAIN}" if look.colour else word
    return [first.replace(word, mark, 1), *rest]


def _detail(finding: Finding, look: Look) -> Iterator[str]:
    yield from _wrapped("why: ", finding.cause, look)
    yield from _wrapped("to settle: ", finding.settle, look)
    for label, names in (("layers: ", finding.layers), ("ONNX nodes: ", finding.onnx_nodes)):
        if names:
            yield from _wrapped(label, listed(names, _NAMES), look)
    for evidence in finding.evidence:
        yield f"{_INDENT}{evidence.span.line:>7}: {visible(evidence.text)}"
    if finding.evidence_total > len(finding.evidence):
        yield f"{_INDENT}         and {finding.evidence_total - len(finding.evidence):,} more lines"
    for fix in finding.fixes:
        yield from _wrapped("fix: ", fix, look)
    for step in finding.next_steps:
        yield from _typed(step, look)


def _wrapped(label: str, text: str, look: Look) -> list[str]:
    """Return a labelled text in lines of the terminal's width, no line where there is no text."""
    width = min(look.width or _WIDTH, _WIDTH)
    return wrapped(visible(text), width, f"{_INDENT}{label}", _INDENT + " " * len(label)) if text else []


def _rest(report: Report) -> Iterator[str]:
    if report.suppressed:
        number = len(report.suppressed)
        by = f", some by {visible(report.settings)}" if report.settings else ""
        yield f"{counted(number, 'finding')} suppressed{by}"
    wants_model = any(Need.ONNX in rule.needs for rule in report.not_judged)
    if wants_model and any(source.coverage.model for source in report.sources):
        yield "More with: --onnx MODEL"
