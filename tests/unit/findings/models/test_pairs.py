"""Each fault is found by its code, and its faultless twin has none of that code and no error or warning at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.faulty_models import Pair, pairs, written
from trtforensics.cli import main

if TYPE_CHECKING:
    from pathlib import Path

_QUIET = {"TF180"}
"""What is said of every model with dynamic inputs and no shapes."""


def _found(path: str, pair: Pair, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["check", path, *pair.options, "--json"]) == 0
    return list(json.loads(capsys.readouterr().out)["findings"])


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: pair.name)
def test_a_fault_is_found_and_its_twin_is_not_blamed(
    pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = written(pair, tmp_path)
    assert pair.code in {finding["code"] for finding in _found(paths["faulty"], pair, capsys)}
    twin = _found(paths["faultless"], pair, capsys)
    assert pair.code not in {finding["code"] for finding in twin}
    assert not [finding for finding in twin if finding["severity"] != "note" and finding["code"] not in _QUIET]
