"""The issue that ``I`` copies in the screen of a build log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.screens import SIZE, log_app
from trtforensics.findings.registry import rule_of
from trtforensics.model.log import Fact
from trtforensics.tui.issue import finding_issue


@pytest.mark.slow
async def test_of_a_layer_it_has_the_candidates_and_the_line(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("2", "I")
        assert "### A layer of a TensorRT build" in app.clipboard
        assert "**Candidates" in app.clipboard
        assert "**Log lines**" in app.clipboard


@pytest.mark.slow
async def test_of_a_finding_it_has_its_title_and_only_the_options_that_say_something(session: Any, parsed: Any) -> None:
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        log, report = app.first._parsed, app.first.judgement
    assert log is not None
    assert report is not None
    values = {
        "Precision": "FP32+FP16",
        "Refit": "Disabled",
        "Memory Pools": "workspace: default, dlaSRAM: default",
        "Tactic sources": "Using default tactic sources",
        "timingCacheMode": "disable",
    }
    span = log.builds[0].choices[0].span
    build = replace(log.builds[0], options={"build": tuple(Fact(n, v, span) for n, v in values.items())})
    text = finding_issue(log, build, replace(report.findings[0], code="TF305"), [])
    assert text.startswith("### TF305, ")
    assert rule_of("TF305").title in text.splitlines()[0]
    assert "trtforensics explain TF305" in text
    assert "Precision: FP32+FP16\ntimingCacheMode: disable\n(3 other options: off or default)" in text
