"""Advice for a run that loads an engine: it builds nothing, so what concerns the build belongs to another run.

That holds for the steps and fixes of every rule; :mod:`trtforensics.findings.judging` passes all of them through here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.findings.steps.trtexec_flags import flags_of
from trtforensics.model.log import Tool
from trtforensics.model.run import PhaseName

if TYPE_CHECKING:
    from trtforensics.findings.finding import Step
    from trtforensics.model.log import Build, BuildLog

_AGAIN = re.compile(r"\bbuild (?:and measure )?again", re.IGNORECASE)
_OF_BUILDS = re.compile(r"\b(?:re)?build(?:s|er|ing)?\b(?!\.log)|IBuilderConfig|BuilderFlag|\bconfig\.", re.IGNORECASE)
_FLAG = re.compile(r"--\w+")
_WHEN = "When the engine is built: "


def loads_engine(log: BuildLog, build: Build) -> bool:
    """Whether a run loads an engine that another run built: by trtexec's command, else by the phases of the run."""
    if build.loads_engine or build.tool is Tool.TRTEXEC:
        return build.loads_engine
    run = log.run_of(build)
    phases = {phase.name for phase in run.phases} if run is not None else set()
    return PhaseName.LOAD in phases and phases.isdisjoint({PhaseName.IMPORT, PhaseName.BUILD})


def step_for_loaded(step: Step) -> Step:
    """Return a step in words for a run that loads an engine."""
    return replace(step, what=text_for_loaded(step.what, runs="--loadEngine" in step.command))


def text_for_loaded(text: str, *, runs: bool = False) -> str:
    """Return advice that says so where it concerns the engine's build; not where its command ``runs`` the engine."""
    text = _AGAIN.sub(lambda match: "Run again" if match[0][0] == "B" else "run again", text)
    concerned = _OF_BUILDS.search(text) or not flags_of("build").isdisjoint(_FLAG.findall(text))
    if runs or not concerned or "is built" in text:
        return text
    return _WHEN + (text[0].lower() if text[1:2].islower() else text[0]) + text[1:]
