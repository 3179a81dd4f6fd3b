"""What each rule says of its example; ``--update-golden`` renews it. The tests of the examples compare it."""

from __future__ import annotations

from tests.support.golden_findings import GOLDEN, said_of
from tests.unit.findings.rules.examples import EXAMPLES
from tests.unit.findings.rules.test_examples import example_of


def test_the_golden_findings_are_of_all_examples(
    update_golden: bool,  # noqa: FBT001 - a fixture
) -> None:
    if update_golden:
        said = "\n".join(said_of(code, example_of(code)[2]) for code in sorted(EXAMPLES))
        GOLDEN.write_text(said, encoding="utf-8")
    blocks = GOLDEN.read_text(encoding="utf-8").split("\n\n")
    known = [block.split()[0] for block in blocks]
    assert known == sorted(EXAMPLES), "a rule is new or gone: `pytest tests/golden --update-golden`"
