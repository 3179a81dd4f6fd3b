"""Builds and timings of which nothing is known yet: whoever knows a part replaces it."""

from __future__ import annotations

import numpy as np

from trtforensics.model.log import Autotuning, Build, Coverage, MessageCounts, Outcome, Tool
from trtforensics.model.timings import TacticTimings


def empty_build(index: int, first_line: int, last_line: int) -> Build:
    """Return a build without any facts but its lines; ``index`` counts the builds of a log from 0."""
    return Build(
        index=index,
        first_line=first_line,
        last_line=last_line,
        tool=Tool.UNKNOWN,
        tensorrt_version=None,
        command=None,
        outcome=Outcome.UNKNOWN,
        options={},
        passes=(),
        stages=(),
        fusions=(),
        reformats=(),
        onnx_nodes=(),
        foreign_nodes=(),
        autotuning=Autotuning(0, 0, 0, 0),
        timings=_no_timings(),
        tuning=(),
        choices=(),
        cached=(),
        engine_layers=(),
        layer_names=(),
        myelin_operations=(),
        message_counts=MessageCounts(0, 0),
        messages=(),
        results=(),
        coverage=Coverage(
            verdict=False,
            engine_layers=False,
            tactics=False,
            times=None,
            options=False,
            model=False,
            own_lines=0,
            other_lines=0,
        ),
    )


def _no_timings() -> TacticTimings:
    return TacticTimings(
        line=np.zeros(0, np.int64),
        tactic=np.zeros(0, np.uint64),
        ms=np.zeros(0, np.float64),
        kernel=np.zeros(0, np.int32),
        runner_line=np.zeros(0, np.int64),
        runner_layer=np.zeros(0, np.int32),
        runner_name=np.zeros(0, np.int32),
        texts=(),
    )
