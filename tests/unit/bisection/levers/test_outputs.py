"""The tensors that a search may mark as outputs."""

from __future__ import annotations

import pytest

from tests.support.repository import ROOT
from trtforensics.bisection.levers.outputs import tensors_of
from trtforensics.errors import UsageError

MODEL = str(ROOT / "testdata" / "models" / "convnet.onnx")


def test_a_search_is_among_all_tensors_between_nodes_or_among_those_that_are_named() -> None:
    between, outputs = tensors_of(MODEL, None)
    assert len(between) > 2
    assert not set(between) & set(outputs)
    assert tensors_of(MODEL, between[1:3]) == (between[1:3], outputs)


def test_a_name_that_is_no_tensor_between_nodes_is_refused() -> None:
    with pytest.raises(UsageError, match="'nowhere' is no tensor between nodes"):
        tensors_of(MODEL, ["nowhere"])
