"""Advice for a run that loads an engine."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.findings.finding import Step
from trtforensics.findings.programs import step_for_loaded, text_for_loaded


@for_each(
    ("text", "advice"),
    [
        (
            "Build with --profilingVerbosity=detailed.",
            "When the engine is built: build with --profilingVerbosity=detailed.",
        ),
        ("Give --minShapes.", "When the engine is built: give --minShapes."),
        ("IBuilderConfig.set_timing_cache", "When the engine is built: IBuilderConfig.set_timing_cache"),
        ("Lock the clocks, then build and measure again", "Lock the clocks, then run again"),
        ("Stop what else uses the GPU and build again.", "Stop what else uses the GPU and run again."),
        ("Have them printed: --dumpLayerInfo --fp16 when it is built.",) * 2,
        ("Redirect both: trtexec > build.log 2>&1.",) * 2,
        ("Compare medians.",) * 2,
    ],
)
def test_advice_about_the_build_says_so(text: str, advice: str) -> None:
    assert text_for_loaded(text) == advice


def test_a_step_that_runs_the_engine_stays() -> None:
    step = Step("Build again with everything in one file", "trtexec --loadEngine=m.plan > again.log 2>&1")
    assert step_for_loaded(step).what == "Run again with everything in one file"
