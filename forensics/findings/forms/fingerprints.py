"""Names of findings that stay the same from log to log, by which CI servers follow them."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.findings.finding import Finding

_DIGITS = 16


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """Return the fingerprint of each finding: 16 hex digits, ``:`` and its number among those that are alike.

    They depend on the finding's signature alone, not on times, lines and paths; those that are alike are numbered in
    the order of their lines.
    """
    alike: Counter[str] = Counter()
    given = [""] * len(findings)
    for index in sorted(range(len(findings)), key=lambda index: (findings[index].source, findings[index].line)):
        signature = visible(findings[index].signature)
        alike[signature] += 1
        digest = hashlib.sha256(signature.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
        given[index] = f"{digest}:{alike[signature]}"
    return given
