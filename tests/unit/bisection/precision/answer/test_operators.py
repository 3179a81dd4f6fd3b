"""Which chains a proposal replaces, where some of them cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.zoo.net import Net, feeds
from trtforensics.bisection.precision.answer.operators import proposal
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.judging import rules_for
from trtforensics.bisection.precision.emulation.oracle import Oracle, judge_for
from trtforensics.onnx_models.normalisations import GROUP, LAYER, with_operators
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trtforensics.onnx_models.normalisations import NormChain

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

SIZE = (2, 4, "height", 8)
STATISTICS = [f"{scope}/{op}" for scope in ("/group", "/layer") for op in ("square", "variance", "Add", "Sqrt")]


def normalised(net: Net, scope: str, tensor: str) -> str:
    mean = net.node("ReduceMean", f"{scope}/mean", [tensor], axes=[-1], keepdims=1)
    centred = net.node("Sub", f"{scope}/Sub", [tensor, mean])
    squared = net.node("Mul", f"{scope}/square", [centred, centred])
    variance = net.node("ReduceMean", f"{scope}/variance", [squared], axes=[-1], keepdims=1)
    total = net.node("Add", f"{scope}/Add", [variance, net.constant(f"{scope}/epsilon", 1e-3)])
    return net.node("Div", f"{scope}/Div", [centred, net.node("Sqrt", f"{scope}/Sqrt", [total])])


def both(folder: Path) -> Oracle:
    """Return the oracle of a model with a normalisation of groups and one of rows, whose squares leave FP16."""
    net = Net()
    large = net.node("Mul", "/large", ["x", net.constant("/large/scale", 600.0)])
    groups = net.node("Reshape", "/split", [large, net.constant("/split/size", [0, 2, -1], np.int64)])
    whole = net.node("Reshape", "/join", [normalised(net, "/group", groups), net.node("Shape", "/size", [large])])
    again = net.node("Mul", "/again", [whole, net.constant("/again/scale", 600.0)])
    onnx.save(net.model(normalised(net, "/layer", again), {"x": SIZE}, SIZE), folder / "model.onnx")
    return Oracle(Caster(prepare(str(folder / "model.onnx")), FP16), feeds(2, 2, 4, 3, 8))


@pytest.mark.parametrize(("raised", "operators"), [(True, [GROUP, LAYER]), (False, [LAYER])])
def test_where_groups_cannot_be_replaced_the_other_chains_are(
    raised: bool,  # noqa: FBT001 - a column of the table
    operators: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    oracle = both(tmp_path)

    def converter(model: onnx.ModelProto, chains: Sequence[NormChain]) -> onnx.ModelProto | None:
        stuck = not raised and any(chain.operator == GROUP for chain in chains)
        return None if stuck else with_operators(model, chains)

    monkeypatch.setattr("trtforensics.bisection.precision.answer.operators.with_operators", converter)
    judge = judge_for(oracle, rules_for({"y": True}, [], []))
    found = proposal(oracle, judge, frozenset(STATISTICS))
    assert found is not None
    fix, _ = found
    assert [chain.operator for chain in fix.chains] == operators
    assert set(fix.nodes) == (set() if raised else set(STATISTICS[:4]))
