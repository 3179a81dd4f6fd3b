"""``bisect precision`` on the zoo: it finds the expected sets, and passes nothing that another emulation fails."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from tests.support.zoo import ZooModel, models
from tests.support.zoo.emulation import CAPS, Emulation, errors
from trtforensics.cli import main

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

ZOO = {model.name: model for model in models() if not model.large}


def search(zoo: ZooModel, folder: Path, *options: str) -> dict[str, Any]:
    """Search a model of the zoo on its own samples; return ``result.json``."""
    path, out = folder / "model.onnx", folder / "out"
    folder.mkdir(exist_ok=True)
    onnx.save(zoo.build(), path, save_as_external_data=zoo.external, location="weights", size_threshold=0)
    arguments = ["bisect", "precision", str(path), "--artifacts-dir", str(out), "--quiet", "--build", "none"]
    for number, sample in enumerate(zoo.samples):
        np.savez(folder / f"{number}.npz", **sample)  # type: ignore[arg-type]
        arguments += ["--inputs", str(folder / f"{number}.npz")]
    main([*arguments, "--precision", zoo.precision, "--accumulate", zoo.accumulate, *options])
    document: dict[str, Any] = json.loads((out / "result.json").read_text())
    return document


def test_the_models_with_questions_of_their_own_are_searched() -> None:
    assert {"87 of 125 nodes", *INSIDE} <= ZOO.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sum that leaves FP16 on the way", "convolution that leaves FP16 on the way"])
def test_a_product_that_only_needs_fp32_sums_is_said_to(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (node,) = ZOO[name].expected_minimal
    found = search(ZOO[name], tmp_path / "narrow")
    wide = found["kernels"]["wide_sums"]
    assert (wide["nodes"][0]["node"], wide["others"], wide["passes"]) == (node, [], True)
    said = capsys.readouterr().out
    assert f"trtforensics pin build.log --accumulate fp32 --layers {node} -o" in said
    reached = wide["nodes"][0]["partial"]
    assert reached == pytest.approx(_largest_partial_sum(ZOO[name]), rel=1e-5)
    assert f"because {node}_output_0 is a sum that reaches {reached:.3g} on the way, fp16 ends at 65504" in said
    assert search(replace(ZOO[name], accumulate="fp32"), tmp_path / "wide")["status"] == "not-reproduced"
    assert f"May be infinite where a kernel accumulates in FP16, by the sum of magnitudes: {node}." in (
        capsys.readouterr().out
    )


def _largest_partial_sum(zoo: ZooModel) -> float:
    """Return the largest sum after 16, 32, … terms in FP32, by the emulation of the tests."""
    seen: list[float] = []

    def noted(values: Any) -> Any:
        seen.append(float(np.abs(values).max()))
        return values

    everything = frozenset(node.name for node in zoo.build().graph.node)
    for feed in zoo.samples:
        Emulation(zoo.build(), everything - zoo.expected_minimal, accumulate="fp16", store=noted).run(feed)
    return max(seen)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if number % 10 else []) for number, name in enumerate(ZOO)]
)
def test_the_expected_nodes_and_losses_are_found(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zoo = ZOO[name]
    found = search(zoo, tmp_path)
    said, warned = capsys.readouterr()
    assert warned == ""
    if name == "87 of 125 nodes":
        names_twenty_nodes_and_twenty_reasons(found, said)
    if name in INSIDE:
        losses_inside_bodies_are_found(INSIDE[name], found, said)
    ended = "certified" if zoo.expected_minimal else "not-reproduced"
    assert found["status"] == ("inconclusive" if zoo.rounding else ended)
    assert [{each["item"] for each in members} for members in found["culprits"]] == (
        [set(zoo.expected_minimal)] if zoo.expected_minimal and not zoo.rounding else []
    )
    safe = found["safe"]["nodes"] if found["safe"] else []
    if zoo.rounding:
        assert set(safe) >= zoo.expected_safe
        assert found["safe"]["verdict"] == "good"
        assert found["curve"]["points"][found["curve"]["chosen"]]["share"] < 0.1
        assert "A matter of rounding, on " in said
        return
    assert found["curve"] is None
    assert set(safe) == zoo.expected_safe
    if not zoo.expected_minimal:
        assert "the model passes with every node" in said
        worst = errors(zoo.build(), zoo, ())
        assert max(worst.largest, worst.relative_l2) <= CAPS[zoo.precision]
        assert worst.disagreement == 0.0


def names_twenty_nodes_and_twenty_reasons(found: dict[str, Any], said: str) -> None:
    reasons = [each for each in found["tensors"] if each["why"]]
    assert (said.count("without it: "), said.count("\n  because ")) == (20, 20)
    assert f"  and {len(reasons) - 20} more reasons in result.json" in said


INSIDE: dict[str, list[tuple[str, str, list[str]]]] = {
    "Loop": [],
    "If": [],
    "Loop that hides a loss": [("/loop/up", "/loop/Mul", ["/Loop"]), ("/loop/down", "/loop/Div", ["/Loop"])],
    "If in a Loop that hides a loss": [
        ("/then/up", "/then/Mul", ["/If", "/Loop"]),
        ("/then/down", "/then/Div", ["/If", "/Loop"]),
    ],
}
"""What is lost inside bodies: tensor, node, the nodes whose bodies they lie in."""


def losses_inside_bodies_are_found(lost: list[tuple[str, str, list[str]]], found: dict[str, Any], said: str) -> None:
    assert [(each["tensor"], each["node"], each["bodies_of"]) for each in found["inside"]] == lost
    assert (found["left"], found["unseen"]) == ([], [])
    assert ("Not safe" in said) is bool(lost)
    places = ", ".join(f"{tensor} (made by {node} in {' in '.join(bodies)})" for tensor, node, bodies in lost)
    assert (f"2 x overflows or becomes NaN: {places}\n" in said) is bool(lost)


def test_a_gelu_whose_cube_overflows_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = search(ZOO["GELU by Tanh"], tmp_path)
    assert [each["node"] for each in found["kernels"]["gelu"]] == ["/gelu/Tanh"]
    assert "x ** 3 is infinite in fp16 where |x| > 40.3: /gelu/Tanh" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "operator"), [("GroupNorm", "LayerNormalization"), ("GroupNorm of any size", "GroupNormalization")]
)
def test_a_normalisation_of_groups_becomes_the_operator_that_its_sizes_allow(
    name: str, operator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = search(ZOO[name], tmp_path)
    (chain,) = found["operators"]["chains"]
    assert (chain["operator"], found["operators"]["nodes"]) == (operator, [])
    assert found["operators"]["difference"] < 1e-6
    assert f"1 x {operator} (" in capsys.readouterr().out
    written = onnx.load(tmp_path / "out" / "fixed" / "operators.onnx")
    assert operator in {node.op_type for node in written.graph.node}


@pytest.mark.parametrize(
    ("name", "precision", "said"),
    [
        ("operator set 13", "bf16", "--accumulate fp16: is for FP16: BF16 products sum in FP32. Leave it out."),
        ("operator set 10", "fp16", "--accumulate fp16: needs operator set 11 or later, and "),
    ],
)
def test_sums_in_fp16_are_refused_where_there_are_none(
    name: str, precision: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(ZOO[name].build(), tmp_path / "model.onnx")
    arguments = ["bisect", "precision", str(tmp_path / "model.onnx"), "--artifacts-dir", str(tmp_path / "out")]
    assert main([*arguments, "--precision", precision, "--accumulate", "fp16", "--build", "none"]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
