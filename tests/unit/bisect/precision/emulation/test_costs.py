"""The nodes whose rounding costs most are named where rounding alone ruins an output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from tests.support.zoo import models
from trtforensics.bisect.precision.casting.caster import Caster
from trtforensics.bisect.precision.casting.preparation import prepare
from trtforensics.bisect.precision.casting.storage import FP16
from trtforensics.bisect.precision.emulation.costs import cost_notes
from trtforensics.bisect.precision.emulation.judging import judge_for
from trtforensics.bisect.precision.emulation.oracle import Oracle, floating_outputs
from trtforensics.bisect.precision.emulation.rules import rules_for

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

ZOO = {model.name: model for model in models()}


def notes(name: str, folder: Path, *tolerances: str) -> list[str]:
    onnx.save(ZOO[name].build(), folder / "model.onnx")
    caster = Caster(prepare(str(folder / "model.onnx")), FP16)
    oracle = Oracle(caster, ZOO[name].samples)
    rules = rules_for(floating_outputs(caster.prepared.proto, ["y"]), [], tolerances)
    nodes = [node for node, candidate in caster.candidates.items() if candidate.moves is None]
    return cost_notes(oracle, judge_for(oracle, rules, FP16), nodes)


def test_what_cancels_costs_most(tmp_path: Path) -> None:
    (said,) = notes("cancellation", tmp_path)
    assert said.index("/up [Add]") < said.index("/MatMul [MatMul]")
    assert said.index("/down [Sub]") < said.index("/MatMul [MatMul]")


def test_nothing_is_said_where_rounding_costs_little_or_the_user_gave_a_tolerance(tmp_path: Path) -> None:
    assert notes("LayerNorm with outliers", tmp_path) == []
    assert notes("cancellation", tmp_path, "1e-6") == []
