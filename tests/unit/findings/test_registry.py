"""Rules of other packages come by entry point."""

from __future__ import annotations

import re
import types
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from trtforensics.errors import UsageError
from trtforensics.findings import registry
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.rule import rule
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from trtforensics.findings.case import Case, Need
    from trtforensics.findings.rule import Rule


def declared(code: str = "XX001", needs: tuple[Need, ...] = ()) -> Rule:
    """Return a rule of somebody else's."""

    @rule(code, Severity.NOTE, "A title", cause="c", confirm="d", fixes=("e",), sources=("f",), needs=needs)
    def check(case: Case) -> Iterator[Observation]:
        yield Observation("seen", [case.build.stages[0].span], steps=(Step("s"),))

    return check


def entry_points(monkeypatch: pytest.MonkeyPatch, loaded: object) -> None:
    """Let one entry point be found, which loads to this; a class of errors is raised instead."""

    def load(_: EntryPoint) -> object:
        if isinstance(loaded, type) and issubclass(loaded, Exception):
            raise loaded("broken")
        return loaded

    found = EntryPoint("other", "other.rules", registry.ENTRY_POINTS)
    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(registry, "entry_points", lambda group: [found] if group == registry.ENTRY_POINTS else [])
    registry.rules.cache_clear()


@pytest.fixture(autouse=True)
def _fresh_registry() -> Iterator[None]:
    yield
    registry.rules.cache_clear()


@pytest.mark.parametrize("as_module", [True, False])
def test_other_packages_bring_rules_by_entry_point(
    as_module: bool,  # noqa: FBT001 - a column
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    module = types.ModuleType("other")
    vars(module)["its"] = declared()
    entry_points(monkeypatch, module if as_module else declared())
    (tmp_path / "b.log").write_text(marked("V Original: 1 layers").text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    assert "XX001" in {one.code for one in judge(Inputs([log]), Suppression()).findings}


@pytest.mark.parametrize("loaded", [ImportError, AttributeError, types.ModuleType("empty"), declared("TF201")])
def test_a_bad_entry_point_is_one_clear_sentence(loaded: object, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_points(monkeypatch, loaded)
    with pytest.raises(UsageError):
        registry.rules()


def test_a_remedy_that_takes_roots_rights_says_so() -> None:
    texts = [
        text
        for each in registry.rules()
        for text in (each.explanation.confirm, *(f.text for f in each.explanation.fixes))
    ]
    asking = [text for text in texts if re.search(r"\bsudo\b|--lock-gpu-clocks|nvidia-smi -(?:lgc|pm)\b", text)]
    assert asking
    assert [text for text in asking if "root" not in text] == []
