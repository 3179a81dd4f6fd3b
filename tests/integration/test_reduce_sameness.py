"""``reduce`` with checks whose messages differ from probe to probe, and failures of the file's form."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tests.support import failing_models as failing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., Any]

READ = """import sys, os, random, string
model = open(path := sys.argv[1], 'rb').read()
def has(op): return bytes((34, len(op), *op.encode())) in model
"""


def reduced(run: Run, folder: Path, check: str, model: onnx.ModelProto | None = None, *more: str) -> dict[str, Any]:
    """Reduce a model with a determinant by a check, which has its bytes as ``model`` and its path as ``path``."""
    onnx.save(model or failing.model_with(failing.determinant, 9), folder / "model.onnx")
    (folder / "check.py").write_text(READ + check)
    line = ("reduce", folder / "model.onnx", "--check", f"{sys.executable} -S {folder}/check.py {{model}}", "--json")
    return dict(json.loads(run(*line, "--keep-values", *more, "--artifacts-dir", folder / "out").stdout))


def left(document: dict[str, Any]) -> list[str]:
    return sorted(node["op"] for node in document["reduction"]["left"])


@pytest.mark.parametrize(
    "says",
    [
        pytest.param("f'ValueError: wrong result of {path}'", marks=pytest.mark.slow),
        pytest.param(
            "f'ValueError: wrong result of {path.rpartition(chr(47))[0]}/engine after {random.random()} s'",
            marks=pytest.mark.slow,
        ),
        "f'lost worker {str().join(random.choices(string.ascii_letters, k=12))} of {path}'",
    ],
)
def test_paths_and_what_is_random_make_no_other_failure(run: Run, tmp_path: Path, says: str) -> None:
    document = reduced(run, tmp_path, f"sys.exit({says} if has('Det') else 0)")
    assert (document["status"], left(document)) == ("certified", ["Det"])


ANOTHER = {
    "status": "sys.exit(0 if not has('Det') else 3 if has('Sigmoid') else 4)",
    "frame": """
def first(): raise ValueError("wrong")
def second(): raise ValueError("wrong")
if has('Det'):
    first() if has('Sigmoid') else second()
""",
    "code in a message": "sys.exit(has('Det') and ('code 3' if has('Sigmoid') else 'code 4'))",
}


@pytest.mark.parametrize(
    "part", [part if part == "frame" else pytest.param(part, marks=pytest.mark.slow) for part in ANOTHER]
)
def test_another_failure_is_not_gone_on_with(run: Run, tmp_path: Path, part: str) -> None:
    document = reduced(run, tmp_path, ANOTHER[part])
    assert (document["status"], left(document)) == ("named", ["Det", "Sigmoid"])
    assert document["reduction"]["otherwise"]


@pytest.mark.slow
def test_loosely_it_is_the_same(run: Run, tmp_path: Path) -> None:
    document = reduced(run, tmp_path, ANOTHER["status"], None, "--same", "loose")
    assert (document["status"], left(document)) == ("certified", ["Det"])


def calling() -> onnx.ModelProto:
    """Return a model with a call of a function that calls another, and one of a function by itself."""
    model = failing.model_with(failing.determinant, 9)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("f.ops", 1)]
    bodies = {
        "Once": [helper.make_node("Neg", ["a"], ["b"])],
        "Twice": [helper.make_node("Once", [read], [made], domain="f.ops") for read, made in ("ac", "cb")],
        "Alone": [helper.make_node("Abs", ["a"], ["b"])],
    }
    for name, body in bodies.items():
        model.functions.append(helper.make_function("f.ops", name, ["a"], ["b"], body, sets))
    model.opset_import.append(sets[1])
    for name in ("Alone", "Twice"):
        model.graph.node.append(helper.make_node(name, ["x"], [name.lower()], name=f"call {name}", domain="f.ops"))
        model.graph.output.append(onnx.ValueInfoProto(name=name.lower()))
    return model


@pytest.mark.slow
def test_a_failure_of_functions_is_said_to_be_lost_by_inlining_them(run: Run, tmp_path: Path) -> None:
    document = reduced(run, tmp_path, "sys.exit(has('Twice'))", calling())
    assert (document["status"], document["culprits"], left(document)) == ("not-reproduced", [], [])
    why = "the failure is lost by rewriting: 3 local functions inlined (`--keep-functions` leaves them)"
    assert document["why"].startswith(why)
    assert not (tmp_path / "out" / "fixed").exists()


def test_a_failure_of_functions_is_kept_where_they_are(run: Run, tmp_path: Path) -> None:
    document = reduced(run, tmp_path, "sys.exit(has('Twice'))", calling(), "--keep-functions")
    assert (document["status"], left(document)) == ("certified", ["Twice"])
    file = onnx.load(tmp_path / "out" / "fixed" / "reduced.onnx")
    assert [node.op_type for node in file.graph.node] == ["Twice"]
    assert [function.name for function in file.functions] == ["Once", "Twice"]
    (result,) = ReferenceEvaluator(file).run(None, {"x": np.ones((4, 8, 8), np.float32)})
    assert np.array_equal(result, np.ones((4, 8, 8)))


def test_functions_that_stay_keep_their_names(run: Run, tmp_path: Path) -> None:
    onnx.save(calling(), tmp_path / "model.onnx")
    line = ("reduce", tmp_path / "model.onnx", "--check", "false", "--keep-functions", "--anonymous")
    done = run(*line, "--artifacts-dir", tmp_path / "out")
    assert (done.returncode, "which --anonymous replaces" in done.stderr) == (2, True)


@pytest.mark.slow
def test_a_failure_that_needs_constant_nodes_keeps_them(run: Run, tmp_path: Path) -> None:
    model = failing.model_with(failing.determinant, 9)
    bias = numpy_helper.from_array(np.ones((4, 8, 8), np.float32))
    model.graph.node.insert(0, helper.make_node("Constant", [], ["bias"], name="made", value=bias))
    model.graph.node.append(helper.make_node("Add", [model.graph.output[0].name, "bias"], ["sum"], name="last"))
    model.graph.output[0].name = "sum"
    document = reduced(run, tmp_path, "sys.exit(has('Constant'))", model)
    assert left(document) == ["Add"]
    assert document["reduction"]["as_they_were"] == ["the Constant nodes"]
    file = onnx.load(tmp_path / "out" / "fixed" / "reduced.onnx")
    assert [node.op_type for node in file.graph.node] == ["Constant", "Add"]


def test_a_check_that_fails_once_is_inconclusive(run: Run, tmp_path: Path) -> None:
    ran = str(tmp_path / "ran")
    once = f"ran = os.path.exists({ran!r}); open({ran!r}, 'w').close(); sys.exit(not ran)"
    document = reduced(run, tmp_path, once)
    assert (document["status"], left(document)) == ("inconclusive", [])
    assert document["why"] == "the original failed once, and run again it was good"


@pytest.mark.slow
def test_polygraphy_may_name_the_output_that_it_looks_at(run: Run, tmp_path: Path) -> None:
    model = failing.model_with(None, 9)
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(1e9, np.float32), "far"))
    first = model.graph.node[0]
    model.graph.node.insert(1, helper.make_node("Sub", [first.output[0], "far"], ["low"], name="/low"))
    model.graph.node.insert(2, helper.make_node("Sqrt", ["low"], ["root"], name="/root"))
    model.graph.node[3].input[0] = "root"
    onnx.save(model, tmp_path / "model.onnx")
    program = "import sys; from polygraphy.tools import main; sys.exit(main())"
    look = f'{sys.executable} -c "{program}" run {{model}} --onnxrt --validate'
    line = ("reduce", tmp_path / "model.onnx", "--check", look, "--keep-values", "--json", "--artifacts-dir")
    document = json.loads(run(*line, tmp_path / "out").stdout)
    assert (document["status"], left(document)) == ("certified", ["Sqrt", "Sub"])
