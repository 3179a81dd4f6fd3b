"""A report as GitHub's workflow commands: an annotation of each root at its line, notes with ``-v`` only.

Commands and their escapes: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands. The
command ``report`` adds :func:`summary` to the job's summary, a file that GitHub names in the environment.
"""

from collections.abc import Iterator

from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Finding, Report, Severity, advice_of, why_of
from trtforensics.findings.forms.html import fragment
from trtforensics.findings.forms.rendering import Look

_LARGEST = 1_000_000
"""Characters of a summary; GitHub refuses a step's summary of more than a mebibyte."""
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, look: Look) -> str:
    """Return the commands, a line each."""
    return "".join(f"{line}\n" for line in _lines(report, look))


def summary(report: Report) -> str:
    """Return the job's summary: HTML without blank lines, which GitHub's Markdown leaves as it is."""
    text = f"{fragment(report)}\n"
    return (
        text if len(text) <= _LARGEST else f"trtforensics: {len(report.findings):,} findings, too many for a summary\n"
    )


def _lines(report: Report, look: Look) -> Iterator[str]:
    for finding in report.findings:
        if finding.consequence_of is None and (finding.severity > Severity.NOTE or look.verbose):
            evidence = finding.evidence[0].span
            words = (f"{finding.title}.", why_of(finding), *_advice(finding))
            where = f"file={_property(evidence.file)},line={max(evidence.line_in_file, 1)}"
            yield f"::{_COMMANDS[finding.severity]} {where},title={finding.code}::{_data(chr(10).join(words))}"
    for source in report.unreadable:
        yield f"::error file={_property(source.path)}::{_data(f'not read: {source.why}')}"


def _advice(finding: Finding) -> Iterator[str]:
    what, step = advice_of(finding)
    yield from (f"Do: {what}",) if what else ()
    yield from (f"Next: {step.what}", step.command) if step is not None else ()


def _data(text: str) -> str:
    shown = "\n".join(visible(line) for line in text.split("\n") if line)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
