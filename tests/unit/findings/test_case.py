"""A case gives a rule only what the rule declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.findings.case import Case


def test_a_rule_that_uses_what_it_does_not_declare_is_told_so(case_of: Callable[[str], Case]) -> None:
    case = case_of("V Original: 1 layers")
    for read in (lambda: case.checked, lambda: case.the_replay, lambda: case.the_baseline):
        with pytest.raises(LookupError, match="without declaring"):
            read()
