"""Rules without a body: `python -m tests.mutants.rules [CODE…]`.

Each rule in turn finds nothing, and the tests of the findings that name its code run. One of them must fail. Prints the
codes whose rules nobody would miss, and ends with status 1 if there are any.
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.findings.rules import test_examples
from tests.unit.findings.rules.examples import EXAMPLES
from trtforensics.findings.registry import rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.rule import Rule

_FINDINGS = Path(__file__).parents[1] / "unit" / "findings"
_TABLE = _FINDINGS / "rules" / "test_examples.py"


def survivors(codes: Sequence[str]) -> Iterator[str]:
    """Give the codes, of some or of all, whose rules can find nothing without a test that fails."""
    for rule in rules():
        if not codes or rule.code in codes:
            with _finding_nothing(rule):
                if not _any_fails(rule):
                    yield rule.code


@contextlib.contextmanager
def _finding_nothing(rule: Rule) -> Iterator[None]:
    check = rule.check
    object.__setattr__(rule, "check", lambda _: ())
    test_examples.example_of.cache_clear()
    try:
        yield
    finally:
        object.__setattr__(rule, "check", check)


def _any_fails(rule: Rule) -> bool:
    """Whether a test fails: of a rule in the table its row, of another rule the modules that name its code."""
    if rule.code in EXAMPLES:
        wanted = [f"{_TABLE}::test_it_speaks_at_the_right_lines[{rule.code}]"]
    else:
        modules = (path for path in sorted(_FINDINGS.rglob("test_*.py")) if path != _TABLE)
        wanted = [str(path) for path in modules if rule.code in path.read_text(encoding="utf-8")]
    if not wanted:
        return False
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *wanted])
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        sys.exit(f"{rule.code}: the tests cannot run\n{said.getvalue()}")
    return status is pytest.ExitCode.TESTS_FAILED


if __name__ == "__main__":
    lost = list(survivors(sys.argv[1:]))
    print(f"{len(rules())} rules; without a test that fails: {', '.join(lost) or 'none'}")
    sys.exit(bool(lost))
