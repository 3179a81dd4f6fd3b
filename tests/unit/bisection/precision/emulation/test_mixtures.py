"""Scores of mixtures, by the twin of each typed model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.integration import precision_nets as nets
from tests.support.zoo.net import Net, feeds
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.judging import METRICS
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.model.data_types import Accumulator
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from pathlib import Path


pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def oracle_of(model: onnx.ModelProto, folder: Path, accumulator: Accumulator = Accumulator.FP32) -> Oracle:
    onnx.save(model, folder / "model.onnx")
    prepared = prepare(str(folder / "model.onnx"))
    return Oracle(Caster(prepared, FP16), random_samples(prepared.proto, {}, 3), accumulator=accumulator)


def test_a_mixture_sums_in_fp16(tmp_path: Path) -> None:
    oracle = oracle_of(nets.transformer(2, ("/layers.1/ln2",)), tmp_path, Accumulator.FP16)
    caster = oracle.caster
    exact = [oracle.score(emulate(caster.cast(caster.kept(part)))) for part in ((), list(caster.candidates)[::2])]
    summed = [oracle.score_mixture(caster.kept(part)) for part in ((), list(caster.candidates)[::2])]
    assert summed != exact
    assert summed == [
        oracle.score(oracle.twin_of(caster.cast(caster.kept(part)))) for part in ((), list(caster.candidates)[::2])
    ]
    assert oracle.score(oracle.twin_of(caster.cast(caster.kept(())), caster.candidates)) == exact[0]


def test_twins_of_other_roundings_and_held_out_samples_have_one_reference_and_their_own(tmp_path: Path) -> None:
    oracle = oracle_of(nets.transformer(2, ()), tmp_path)
    keep = oracle.caster.kept(())
    scores = [each.score_mixture(keep).outputs["y"][0] for each in (oracle, *oracle.in_other_roundings())]
    assert all(each.reference is oracle.reference for each in oracle.in_other_roundings())
    assert len({str(each) for each in scores}) == 3
    assert all(each == pytest.approx(scores[0], rel=1.0) for each in scores)
    assert oracle.on(oracle.samples[:1]).reference is not oracle.reference


def test_other_roundings_leave_alone_what_every_kernel_rounds_alike(tmp_path: Path) -> None:
    net = Net(seed=3)
    onnx.save(
        net.model(net.node("Add", "/sum", ["x", net.node("Relu", "/r", ["x"])]), {"x": (2, 8)}, (2, 8)),
        tmp_path / "m.onnx",
    )
    oracle = Oracle(Caster(prepare(str(tmp_path / "m.onnx")), FP16), feeds(2, 2, 8))
    assert [each.score_mixture(frozenset()) for each in oracle.in_other_roundings()] == [oracle.score_mixture(())] * 2


@pytest.mark.parametrize("mask", [True, False])
def test_an_output_is_masked_only_where_a_constant_is_as_low(mask: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """A result of -95,000 is minus infinity in FP16, and no mask."""
    net = Net(seed=2)
    last = net.tensor("mask", np.where(np.arange(8) < 6, 0.0, -1e9)) if mask else net.tensor("b", 1.0)
    low = "x" if mask else net.node("Mul", "/mul", ["x", net.tensor("k", -3e4)])
    logits = net.node("LogSoftmax", "/log", [net.node("Add", "/add", [low, last])])
    onnx.save(net.model(logits, {"x": (2, 8)}, (2, 8)), tmp_path / "m.onnx")
    oracle = Oracle(Caster(prepare(str(tmp_path / "m.onnx")), FP16), feeds(2, 2, 8, scale=3.0))
    assert bool(oracle.masks) is mask
    assert (oracle.score_mixture(frozenset()).outputs["y"][0] is None) is not mask


def test_a_run_returns_as_many_tensors_as_fit_into_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = oracle_of(nets.residual(3, (1,)), tmp_path)
    names = [name for name, scope in oracle.caster.survey.scopes.items() if scope == 0]
    names = [
        name
        for name in names
        if oracle.caster.survey.types.get(name) == 1 and name not in oracle.caster.survey.constants
    ]
    whole = dict(oracle.values_of(names))
    assert list(whole) == names
    size = max(sum(array.nbytes for array in arrays) for arrays in whole.values())
    monkeypatch.setattr("trtforensics.bisection.precision.emulation.oracle.BYTES_A_RUN", 2 * size)
    runs = list(oracle._parted(names[1:], oracle.caster.prepared.proto))
    assert [name for part in runs for name in part] == names[1:]
    assert 1 < len(runs) < len(names) - 1
    assert max(sum(array.nbytes for name in part for array in whole[name]) for part in runs) <= 2 * size
    assert {name: [each.tolist() for each in arrays] for name, arrays in oracle.values_of(names)} == {
        name: [each.tolist() for each in arrays] for name, arrays in whole.items()
    }


def test_an_operator_set_without_a_selection_runs_the_typed_model(tmp_path: Path) -> None:
    net = Net(opset=8)
    up = net.node("Mul", "/up", ["x", net.tensor("k", 60000.0)])
    oracle = oracle_of(net.model(net.node("Div", "/down", [up, "k"]), {"x": (4, 8)}, (4, 8)), tmp_path)
    assert oracle.score_mixture(oracle.caster.candidates) == oracle.score(oracle.caster.prepared.proto)


def test_no_sample_is_run_once_every_output_has_lost_values(tmp_path: Path) -> None:
    net = Net()
    up = net.node("Mul", "/up", ["x", net.tensor("k", 60000.0)])
    model = net.model(net.node("Div", "/down", [up, "k"]), {"x": (4, 8)}, (4, 8))
    oracle = oracle_of(model, tmp_path)
    oracle.samples = [oracle.samples[0], {}, {}]
    assert oracle.score_mixture(()).outputs == {"y": (None, None, None)}
    with pytest.raises(RunError):
        oracle.outputs_of(model)


def test_a_mixture_of_fp32_alone_and_one_that_ran_before_run_no_more(tmp_path: Path) -> None:
    oracle = oracle_of(nets.transformer(2, ()), tmp_path)
    keep = oracle.caster.kept(list(oracle.caster.candidates)[:2])
    scores = oracle.score_mixture(keep)
    outputs = oracle.outputs_of(oracle.twin_of(oracle.caster.cast(keep)))
    oracle.samples = [{}] * len(oracle.samples)
    assert oracle.score_mixture(keep) == scores
    assert [run["y"].tolist() for run in oracle.mixture_outputs(keep)] == [run["y"].tolist() for run in outputs]
    assert oracle.score_mixture(oracle.caster.candidates).worst("y", METRICS["max-rel"]) == 0.0
