"""Scores of mixtures, by the twin of each typed model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from tests.integration import precision_nets as nets
from tests.support.zoo.net import Net
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
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


def test_twins_in_the_other_order_and_held_out_samples_have_one_reference_and_their_own(tmp_path: Path) -> None:
    oracle = oracle_of(nets.transformer(2, ()), tmp_path)
    score = oracle.score_mixture(oracle.caster.kept(()))
    turned = oracle.in_other_order()
    assert turned is not None
    assert turned.reference is oracle.reference
    other = turned.score_mixture(oracle.caster.kept(()))
    assert other != score
    assert other.outputs["y"][0] == pytest.approx(score.outputs["y"][0], rel=0.5)
    assert oracle.on(oracle.samples[:1]).reference is not oracle.reference


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
        oracle.score_mixture(oracle.caster.candidates)
