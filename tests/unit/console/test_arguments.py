"""What the arguments of several commands mean."""

from __future__ import annotations

from argparse import Namespace

import pytest

from tests.support.for_each import for_each
from trtforensics.console.arguments import wants_json
from trtforensics.errors import UsageError


@for_each(
    ("output", "asked", "json"),
    [(None, False, False), (None, True, True), ("a.json", False, True), ("a.txt", False, False), ("a", True, True)],
)
def test_a_file_named_json_gets_json(output: str | None, asked: bool, json: bool) -> None:  # noqa: FBT001 - a table
    assert wants_json(Namespace(output=output, json=asked, command="diff")) == json


def test_a_name_that_ends_as_another_form_is_refused() -> None:
    with pytest.raises(UsageError, match=r"d\.html: diff writes text or JSON, not \.html"):
        wants_json(Namespace(output="d.html", json=True, command="diff"))
