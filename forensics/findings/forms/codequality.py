"""A report as GitLab reads code quality.

The form: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Report, Severity
from trtforensics.findings.forms.rendering import Look, fingerprints
from trtforensics.render.json_text import dumps

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def render(report: Report, look: Look) -> str:  # noqa: ARG001 - every renderer is called alike
    """Return a JSON list with an object for each finding; GitLab follows it by its fingerprint."""
    rows = []
    for finding, fingerprint in zip(report.findings, fingerprints(report.findings), strict=True):
        span = finding.evidence[0].span
        place = {"path": visible(span.file), "lines": {"begin": max(span.line_in_file, 1)}}
        rows.append(
            {
                "description": visible(f"{finding.title}. {finding.cause}"),
                "check_name": finding.code,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[finding.severity],
                "location": place,
            }
        )
    return f"{dumps(rows, indent=1)}\n"
