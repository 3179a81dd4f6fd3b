"""Repaired models of random operators are valid and compute what the original does."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import onnx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.benchmarks.repairs import judged, ran, samples
from tests.support import zoo
from tests.support.drawn_models import drawn_model
from tests.support.property_settings import examples
from trtforensics.onnx_models.graphs import graphs
from trtforensics.repairs.repairing import EQUAL, REPAIRS, compare, read_original, repaired

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tests.support.zoo import ZooModel


def require_equal(random: Random, chosen: Sequence[Sequence[str]], folder: Path) -> None:
    """Draw a model, repair it, and require that nothing changed but what is listed."""
    drawn, path = drawn_model(random, most=4), str(folder / "model.onnx")
    onnx.save(drawn.model, path, save_as_external_data=drawn.external, location="weights", size_threshold=0)
    whole = onnx.load(path)
    assume(ran(whole, next(samples(whole, 1))[1]) is not None)
    for names in chosen:
        assert judged(names, path, 1) in (("repaired", []), ("unchanged", []))


@examples(40)
@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(sorted(REPAIRS)), min_size=1, unique=True))
def test_a_repaired_model_is_equal_but_for_what_is_listed(random: Random, names: list[str]) -> None:
    with TemporaryDirectory() as folder:
        require_equal(random, [names], Path(folder))


@pytest.mark.slow
@examples(24)
@given(st.randoms(use_true_random=False))
def test_each_repair_keeps_what_a_model_computes(random: Random) -> None:
    with TemporaryDirectory() as folder:
        require_equal(random, [*([name] for name in REPAIRS), list(REPAIRS)], Path(folder))


ODD = ("a b", "{x}", "'", '"', "é", "$HOME", "n:0", "/", "\\", "%s", "<tag>", "::", "\t")
"""What names of nodes and tensors may hold."""

SMALL = [
    pytest.param(each, id=each.name, marks=[pytest.mark.slow] * (number % 4 > 0))
    for number, each in enumerate(zoo.models())
    if not each.large and each.name != "BF16 inside"
]
"""ONNX Runtime runs no Tanh of bfloat16."""


def oddly_named(model: onnx.ModelProto) -> dict[str, str]:
    """Give all nodes and tensors odd names; return the new name of each tensor."""
    names: dict[str, str] = {}

    def other(name: str) -> str:
        return names.setdefault(name, f"{ODD[len(names) % len(ODD)]} {len(names)}") if name else ""

    for graph in graphs(model.graph):
        for named in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            named.name = other(named.name)
        for node in graph.node:
            node.name = f"{other(node.name)} node" if node.name else ""
            node.input[:] = [other(name) for name in node.input]
            node.output[:] = [other(name) for name in node.output]
    return names


@pytest.mark.parametrize(
    "oddly", [pytest.param(False, id="its own names", marks=pytest.mark.slow), pytest.param(True, id="odd names")]
)
@pytest.mark.parametrize("each", SMALL)
def test_a_repaired_model_of_the_zoo_is_valid_and_equal(each: ZooModel, tmp_path: Path, *, oddly: bool) -> None:
    """Operator sets 7 to 21, subgraphs, functions, weights in a file of their own; each repair, and all of them."""
    model, path = each.build(), str(tmp_path / "model.onnx")
    names = {} if model.functions or not oddly else oddly_named(model)
    onnx.save(model, path, save_as_external_data=each.external, location="weights", size_threshold=0)
    original = read_original(path).proto
    fed = [{names.get(name, name): value for name, value in sample.items()} for sample in each.samples[:1]]
    for chosen in (*([name] for name in REPAIRS), list(REPAIRS)):
        result = repaired(original, chosen)
        onnx.checker.check_model(result.model, full_check=True)
        difference = compare(original, result.model, fed, path).largest_difference
        assert difference is not None
        assert difference <= EQUAL
