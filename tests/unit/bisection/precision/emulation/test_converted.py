"""Models below operator set 13 are converted for BF16, or refused with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.zoo.net import Net
from tests.support.zoo.norms import layer_norm
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import BF16
from trtforensics.bisection.precision.emulation.converted import raised_for, require_equal
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.errors import SourceError
from trtforensics.onnx_models.graphs import operator_set
from trtforensics.onnx_models.reading import PreparedModel, prepare

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

SAMPLE = {"x": np.random.default_rng(1).standard_normal((2, 3, 4)).astype(np.float32)}


def prepared(model: onnx.ModelProto, folder: Path) -> PreparedModel:
    onnx.save(model, folder / "model.onnx")
    return prepare(str(folder / "model.onnx"))


def flattening(axis: int = 1) -> onnx.ModelProto:
    """Return a Softmax, which before operator set 13 goes over all axes from its own on."""
    net = Net(opset=11)
    return net.model(net.node("Softmax", "/Softmax", ["x"], axis=axis), {"x": (2, 3, 4)}, (2, 3, 4))


def test_only_bf16_below_13_is_converted(tmp_path: Path) -> None:
    old, new = (prepared(layer_norm(opset), tmp_path) for opset in (12, 13))
    assert raised_for(old, "fp16") is old
    assert raised_for(new, "bf16") is new
    raised = raised_for(old, "bf16")
    assert operator_set(raised.proto) == 13
    assert Caster(raised, BF16).candidates
    assert not Caster(old, BF16).candidates
    assert "operator set 12 has no BF16" in raised.notes[-1]


def test_what_changed_its_meaning_is_converted_to_the_same_values(tmp_path: Path) -> None:
    original = prepared(flattening(), tmp_path)
    raised = raised_for(original, "bf16")
    assert len(raised.proto.graph.node) > 1
    require_equal(Oracle(Caster(raised, BF16), [SAMPLE]), original, "bf16")


def test_a_conversion_that_computes_otherwise_is_refused(tmp_path: Path) -> None:
    raised = raised_for(prepared(flattening(), tmp_path), "bf16")
    other = prepared(flattening(axis=2), tmp_path)
    with pytest.raises(SourceError, match=r"uses operator set 11.*differs by 1 of the largest.* in FP32"):
        require_equal(Oracle(Caster(raised, BF16), [SAMPLE]), other, "bf16")


def test_what_the_converter_refuses_is_said_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_model: onnx.ModelProto, _version: int) -> onnx.ModelProto:
        raise RuntimeError("No Adapter From Version $8 for Scan")

    monkeypatch.setattr("onnx.version_converter.convert_version", refuse)
    with pytest.raises(SourceError, match=r"set 11.*from 13 on.*does not convert it: No Adapter.*for Scan"):
        raised_for(prepared(flattening(), tmp_path), "bf16")
