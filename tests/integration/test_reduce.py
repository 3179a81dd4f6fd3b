"""``reduce`` and ``repair`` as commands: with a check of one's own, with the twin, and with TensorRT-RTX."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.emulator.tensorrt.python_path import environment
from tests.support import failing_models as failing
from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ProbeOutcome
from trtforensics.bisection.search import Verdict
from trtforensics.onnx_models.graphs import graphs
from trtforensics.reduce.failure import Failure, Names, failure_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Run = Callable[..., Any]

TRTEXEC = """#!{python}
import argparse, os, sys
parser = argparse.ArgumentParser(allow_abbrev=False)
for name in ("onnx", "builderOptimizationLevel", "minShapes", "optShapes", "maxShapes"):
    parser.add_argument("--" + name)
for name in ("verbose", "skipInference", "fp16", "stronglyTyped"):
    parser.add_argument("--" + name, action="store_true")
args = parser.parse_args()
assert args.skipInference
line = [sys.executable, "-m", "tests.emulator.trtexec.cli", "--verbose", "--onnx", args.onnx]
os.execv(sys.executable, line + ["--fp16"] * args.fp16)
"""
"""Has the options that trtexec has, and builds by the emulator."""

POLYGRAPHY = """#!{python}
import sys
from polygraphy.tools import main
sys.exit(main())
"""

rtx = pytest.mark.skipif(importlib.util.find_spec("tensorrt_rtx") is None, reason="TensorRT-RTX is not installed")

CHECK = """import re, sys
model = open(sys.argv[1], "rb").read()
def has(op): return bytes((34, len(op), *op.encode())) in model
if has("Sigmoid") and has("Det"):
    print("ValueError: Det behind Sigmoid in", re.findall(b"/layer[0-9]+/Det", model)[0].decode())
    sys.exit(1)
if has("Det"):
    print("KeyError: a lonely Det")
    sys.exit(1)
"""
"""Looks for the operators' bytes: the import of onnx would cost more than all else of a probe."""


def saved(folder: Path, model: onnx.ModelProto) -> Path:
    path = folder / "model.onnx"
    onnx.save(model, path)
    return path


def planted(folder: Path, count: int = 40) -> Path:
    return saved(folder, failing.model_with(failing.determinant, count))


def check(folder: Path, text: str = CHECK) -> str:
    path = folder / "check.py"
    path.write_text(text)
    return f"{sys.executable} {'' if 'onnx' in text else '-S '}{path} {{model}}"


def left(found: dict[str, Any]) -> list[str]:
    return [node["op"] for node in found["reduction"]["left"]]


@pytest.mark.parametrize(
    "broken",
    [
        "exit 1",
        *(
            pytest.param(command, marks=pytest.mark.slow)
            for command in (
                "pyton3 check.py {model}; exit 3",
                "test -e /dev/no-such-gpu || { echo no CUDA-capable device is detected; exit 9; }",
                f"{sys.executable} -c 'import no_such_module' {{model}}",
            )
        ),
    ],
)
def test_a_check_that_fails_on_everything_certifies_nothing(run: Run, tmp_path: Path, broken: str) -> None:
    out = tmp_path / "out"
    done = run("reduce", planted(tmp_path), "--check", broken, "--artifacts-dir", out)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "Inconclusive: this check fails on everything that was tried: is the command right? "
        "If it fails on any Identity, name a model that passes by --control.\n"
    )
    assert "The control, an Identity of x, fails in the same way: probes/0003-" in done.stdout
    result = json.loads((out / "result.json").read_text())
    assert (result["culprits"], result["builds"], result["reduction"]["left"]) == ([], 4, [])
    assert result["reduction"]["control"]["verdicts"] == ["bad", "bad"]
    assert not (out / "fixed").exists()


def test_an_answer_that_reads_infinity_says_that_its_maker_was_cut_off(run: Run, tmp_path: Path) -> None:
    def infinite(graph: failing.Growing, current: str) -> str:
        return graph.add("Mul", graph.add("Log", graph.add("Sub", current, current)), current)

    model = saved(tmp_path, failing.model_with(infinite, 6))
    alone = check(tmp_path, "import sys; sys.exit(b'\x22\x03Mul' in open(sys.argv[1], 'rb').read())")
    done = run("reduce", model, "--keep-values", "--check", alone, "--artifacts-dir", tmp_path / "out")
    assert "it holds values that are not finite: what made them was cut off\n" in done.stdout


@pytest.mark.slow
def test_a_single_node_is_certified_where_the_control_passes(run: Run, tmp_path: Path) -> None:
    alone = "import sys; sys.exit(b'\x22\x03Det' in open(sys.argv[1], 'rb').read())"
    arguments = ("reduce", planted(tmp_path), "--check", check(tmp_path, alone), "--json", "--artifacts-dir")
    done = run(*arguments, tmp_path / "out")
    assert (done.returncode, left(json.loads(done.stdout))) == (0, ["Det"])
    assert json.loads(done.stdout)["reduction"]["control"]["verdicts"] == ["good", "good"]
    folder = tmp_path / "out" / json.loads(done.stdout)["reduction"]["control"]["folders"][0]
    (node,) = onnx.load(folder / "model.onnx").graph.node
    assert node.op_type == "Identity"


@pytest.mark.parametrize("fails", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_control_may_be_a_model_of_the_users(run: Run, tmp_path: Path, *, fails: bool) -> None:
    model, control, out = planted(tmp_path), tmp_path / "control.onnx", tmp_path / "out"
    nodes = [helper.make_node("Sigmoid", ["x"], ["y"]), helper.make_node("Det", ["y"], ["z"])][: 1 + fails]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 2]) for name in ("x", "y")]
    onnx.save(helper.make_model(helper.make_graph(nodes, "control", ends[:1], ends[1:])), control)
    given = ("--same", "loose", "--control", control, "--artifacts-dir", out, "--json")
    done = run("reduce", model, "--check", check(tmp_path), *given)
    document = json.loads(done.stdout)
    assert document["reduction"]["control"]["verdicts"] == ["bad" if fails else "good"] * 2
    assert (done.returncode, document["status"]) == ((1, "inconclusive") if fails else (0, "certified"))


def test_a_control_that_is_no_model_is_refused_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "no.onnx").write_text("no model")
    given = ("--check", "true", "--control", tmp_path / "no.onnx", "--artifacts-dir", tmp_path / "out")
    done = run("reduce", planted(tmp_path), *given)
    assert (done.returncode, "is no ONNX model" in done.stderr, (tmp_path / "out").exists()) == (2, True, False)


def test_the_smallest_model_that_fails_in_the_same_way(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("reduce", planted(tmp_path), "--check", check(tmp_path), "--artifacts-dir", out, "--json")
    found = json.loads(done.stdout)
    assert sorted(left(found)) == ["Det", "Sigmoid"]
    assert (found["status"], done.returncode) == ("named", 1)
    (without,) = found["reduction"]["not_judged_without"]
    assert without.endswith("Sigmoid")
    assert any("a lonely Det" in each["failure"] for each in found["reduction"]["otherwise"])
    reduced = onnx.load(out / "fixed" / "reduced.onnx")
    onnx.checker.check_model(reduced, full_check=True)
    assert sorted(node.op_type for node in reduced.graph.node) == ["Det", "Sigmoid"]
    inputs, outputs = np.load(out / "fixed" / "inputs.npz"), np.load(out / "fixed" / "outputs.npz")
    assert set(inputs.files) == {value.name for value in reduced.graph.input}
    assert set(outputs.files) == {value.name for value in reduced.graph.output}


@pytest.mark.slow
def test_any_failure_will_do_when_it_need_not_be_strictly_the_same(run: Run, tmp_path: Path) -> None:
    line = ("reduce", planted(tmp_path), "--check", check(tmp_path), "--same", "loose")
    found = json.loads(run(*line, "--artifacts-dir", tmp_path / "out", "--json").stdout)
    assert (left(found), found["status"]) == (["Det"], "certified")


@pytest.mark.slow
def test_the_same_command_again_builds_nothing(run: Run, tmp_path: Path) -> None:
    line = ("reduce", planted(tmp_path), "--check", check(tmp_path), "--artifacts-dir", tmp_path / "out", "--json")
    first, again = (json.loads(run(*line).stdout) for _ in range(2))
    assert again["reused"] == again["builds"] == first["builds"]
    assert left(again) == left(first)


@pytest.mark.slow
def test_a_looser_run_on_the_same_directory_judges_what_is_there(run: Run, tmp_path: Path) -> None:
    line = ("reduce", planted(tmp_path), "--check", check(tmp_path), "--artifacts-dir", tmp_path / "out", "--json")
    first = json.loads(run(*line).stdout)
    found = json.loads(run(*line, "--same", "loose").stdout)
    assert (left(found), found["status"]) == (["Det"], "certified")
    assert found["reused"] > 0
    assert first["status"] == "named"


@pytest.mark.slow
def test_a_reduction_that_is_killed_at_eight_moments_comes_to_the_same_answer(run: Run, tmp_path: Path) -> None:
    ran = tmp_path / "ran.txt"
    noting = f"import sys, time; open({str(ran)!r}, 'a').write(sys.argv[1] + '\\n'); time.sleep(0.2)"
    judge = check(tmp_path, CHECK.replace("import re, sys", f"{noting}; import re", 1))
    line = ("reduce", planted(tmp_path), "--check", judge, "--json", "--quiet", "--artifacts-dir")
    whole = json.loads(run(*line, tmp_path / "whole").stdout)
    ran.unlink()
    command = [sys.executable, "-m", "trtforensics", *map(str, line), str(tmp_path / "out")]
    chance, kills = random.Random(7), 0
    for _ in range(8):
        checks = started(ran) + chance.randrange(4)
        with subprocess.Popen(
            command, cwd=tmp_path / "cwd", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while process.poll() is None and started(ran) < checks:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.6))
            kills += process.poll() is None
            process.kill()
    found = json.loads(run(*line, tmp_path / "out").stdout)
    assert kills
    assert (left(found), found["culprits"], found["status"]) == (left(whole), whole["culprits"], whole["status"])
    assert not found["verdicts"]["again"]
    assert found["builds"] <= started(ran) <= found["builds"] + kills


def started(ran: Path) -> int:
    """Return how many checks have begun."""
    return len(ran.read_text().splitlines()) if ran.exists() else 0


def test_the_twin_finds_what_overflows(run: Run, tmp_path: Path) -> None:
    model, out = saved(tmp_path, failing.model_with(failing.square, 40)), tmp_path / "out"
    done = run("reduce", model, "--precision", "fp16", "--artifacts-dir", out, "--json")
    found = json.loads(done.stdout)
    assert (found["status"], left(found), done.returncode) == ("certified", ["Mul"], 0)
    assert found["reduction"]["failure"]["ended"] == "are not finite"
    assert "emulating fp16" in (out / "fixed" / "repro.md").read_text()


@pytest.mark.slow
def test_nothing_of_the_original_is_left_where_it_is_anonymous(run: Run, tmp_path: Path) -> None:
    model = failing.model_with(failing.determinant, 30)
    for node in model.graph.node:
        node.name = node.name.replace("layer", "zebrafoo")
        node.doc_string = "made by zebrafoo"
        node.output[:] = [name.replace("layer", "zebrafoo") for name in node.output]
        node.input[:] = [name.replace("layer", "zebrafoo") for name in node.input]
    model.graph.output[0].name = model.graph.output[0].name.replace("layer", "zebrafoo")
    lonely = CHECK.replace('has("Sigmoid") and ', "")
    line = ("reduce", saved(tmp_path, model), "--check", check(tmp_path, lonely), "--anonymous", "--artifacts-dir")
    assert run(*line, tmp_path / "out").returncode == 0
    for path in (tmp_path / "out" / "fixed").iterdir():
        assert b"zebrafoo" not in path.read_bytes(), path.name
        assert str(tmp_path).encode() not in path.read_bytes(), path.name


MESSAGES = """import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
(folder,) = find_spec("onnx").submodule_search_locations
spec = spec_from_file_location("messages", folder + "/onnx_ml_pb2.py")
onnx = module_from_spec(spec)
spec.loader.exec_module(onnx)
model = onnx.ModelProto.FromString(open(sys.argv[1], "rb").read())
"""
"""Reads a model without the package onnx, whose import would cost more than all else of a probe."""

HOLDING = f"""{MESSAGES}
def found(graph, inside):
    for node in graph.node:
        if node.op_type == "Det" and inside:
            return True
        if any(found(each.g, True) for each in node.attribute if each.type == onnx.AttributeProto.GRAPH):
            return True
    return False
sys.exit(found(model.graph, False))
"""


def named_zebra(fault: Callable[[failing.Growing, str], str]) -> onnx.ModelProto:
    """Return a model that says zebra wherever ONNX lets it: names, functions, texts, metadata, dimensions."""
    model = failing.model_with(fault, 30)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "zebra_batch"
    model.producer_name = model.doc_string = model.domain = "zebra"
    for graph in graphs(model.graph):
        graph.name = "zebra graph"
        for node in graph.node:
            node.name = f"zebra/{node.name}"
            for names in (node.input, node.output):
                names[:] = [name and f"zebra_{name}" for name in names]
            for attribute in node.attribute:
                attribute.doc_string = "zebra"
        for named in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
            named.name = f"zebra_{named.name}"
        for part in (graph, *graph.node, *graph.input, *graph.output, *graph.initializer):
            part.doc_string = "zebra"
            part.metadata_props.add(key="zebra", value="zebra")
    body = [
        helper.make_node("Neg", ["a"], ["zebra_b"], name="zebra_inside"),
        helper.make_node("Neg", ["zebra_b"], ["c"]),
    ]
    model.functions.append(
        helper.make_function("zebra.ops", "Zebra", ["a"], ["c"], body, [helper.make_opsetid("", 17)])
    )
    model.opset_import.append(helper.make_opsetid("zebra.ops", 1))
    last = model.graph.output[0].name
    model.graph.node.append(helper.make_node("Zebra", [last], ["zebra_last"], name="zebra_call", domain="zebra.ops"))
    model.graph.output[0].name = "zebra_last"
    return model


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "holder"), [(failing.branch, "If"), (failing.loop, "Loop")])
def test_names_inside_subgraphs_and_functions_are_replaced(
    run: Run, tmp_path: Path, fault: Callable[[failing.Growing, str], str], holder: str
) -> None:
    model, out = saved(tmp_path, named_zebra(fault)), tmp_path / "out"
    line = ("reduce", model, "--check", check(tmp_path, HOLDING), "--shapes", "zebra_x:1x4x8x8", "--anonymous")
    found = json.loads(run(*line, "--artifacts-dir", out, "--json").stdout)
    assert sorted(left(found)) == sorted(["Det", holder])
    for path in (out / "fixed").iterdir():
        assert b"zebra" not in path.read_bytes(), path.name
    reduced = onnx.load(out / "fixed" / "reduced.onnx")
    onnx.checker.check_model(reduced, full_check=True)
    assert {entry.domain for entry in reduced.opset_import} == {""}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dies", "ended"), [("os.kill(os.getpid(), 11)", "ended by signal 11"), ("time.sleep(60)", "timed out")]
)
def test_a_builder_that_crashes_or_hangs_is_a_failure(run: Run, tmp_path: Path, dies: str, ended: str) -> None:
    text = f"""import os, re, sys, time
names = re.findall("/layer[0-9]+/[A-Za-z]+", open(sys.argv[1], "rb").read().decode("latin-1"))
for name in dict.fromkeys(names):
    print(f"[11/22/2026-17:05:59] [TRT] [V] Parsing node: {{name}} [Some]", flush=True)
    if "Det" in name:
        {dies}
"""
    line = ("reduce", planted(tmp_path, 20), "--build", check(tmp_path, text), "--keep-values", "--timeout", "3")
    found = json.loads(run(*line, "--jobs", "2", "--artifacts-dir", tmp_path / "out", "--json").stdout)
    assert (found["status"], left(found)) == ("certified", ["Det"])
    assert (found["reduction"]["failure"]["stage"], found["reduction"]["failure"]["ended"]) == ("build", ended)
    assert found["builds"] <= 7


@pytest.mark.slow
def test_a_built_in_check_sees_the_recorded_inputs(run: Run, tmp_path: Path) -> None:
    graph = failing.Growing()
    low = graph.add("Sub", graph.add("Abs", "x"), graph.constant("far", 1e4))
    last = graph.add("Relu", graph.add("Add", graph.add("Sqrt", low), "x"))
    made = helper.make_graph(
        graph.nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 4, 8, 8])],
        [helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, [1, 4, 8, 8])],
        graph.constants,
    )
    model = saved(tmp_path, helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    line = ("reduce", model, "--check", "builtin:finite", "--keep-values", "--artifacts-dir", tmp_path / "out")
    found = json.loads(run(*line, "--json").stdout)
    assert left(found) == ["Sqrt"]


ENGINE_IS_ONNX = """import sys
if any("trtforensics.bisection.checks" in word for word in sys.orig_argv):
    import polygraphy.backend.trt as trt
    from polygraphy.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
    trt.EngineFromBytes = lambda load: load
    trt.TrtRunner = lambda load, name=None: OnnxrtRunner(SessionFromOnnx(load), name=name)
"""
"""Has ONNX Runtime run what a check takes for an engine."""

WRONG_SIGMOID = f"""{MESSAGES}
for node in model.graph.node:
    if node.op_type == "Sigmoid":
        node.op_type = "Tanh"
open(sys.argv[2], "wb").write(model.SerializeToString())
"""


@pytest.mark.slow
def test_an_engine_is_held_against_the_probe_s_own_model(tmp_path: Path) -> None:
    model, out, site = saved(tmp_path, failing.model_with(None, 30)), tmp_path / "out", tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(ENGINE_IS_ONNX)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # repro.sh asks for python3
    env = {**os.environ, "PATH": programs, "PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    build = check(tmp_path, WRONG_SIGMOID) + " {engine}"
    line = [sys.executable, "-m", "trtforensics", "reduce", model, "--build", build, "--keep-values", "--json"]
    line += ["--check", f"builtin:against:{model}", "--artifacts-dir", out]
    done = subprocess.run(list(map(str, line)), env=env, capture_output=True, check=False)
    found = json.loads(done.stdout)["reduction"]
    assert left(json.loads(done.stdout)) == ["Sigmoid"]
    assert found["failure"]["form"] == "builtin:against does not hold: outputs differ"
    assert any("Difference exceeds tolerance" in said for said in found["failure"]["lines"])
    again = subprocess.run([str(out / "fixed" / "repro.sh")], env=env, capture_output=True, text=True, check=False)
    assert (again.returncode, "FAILED" in again.stdout + again.stderr) == (1, True)


@pytest.mark.slow
def test_polygraphy_can_be_the_check(run: Run, tmp_path: Path) -> None:
    look = "python3 -c 'import json, sys; sys.exit(len(json.load(open(sys.argv[1]))) != 1)' {inputs}/inputs.json"
    line = ("reduce", planted(tmp_path, 10), "--check", "! { " + look + " && grep -q Det {model}; }")
    found = json.loads(run(*line, "--keep-values", "--artifacts-dir", tmp_path / "out", "--json").stdout)
    assert left(found) == ["Det"]


def test_a_model_that_does_not_fail_is_said_not_to(run: Run, tmp_path: Path) -> None:
    done = run("reduce", planted(tmp_path), "--check", "true", "--artifacts-dir", tmp_path / "out")
    assert done.returncode == 1
    assert done.stdout.startswith("Not reproduced: the original does not fail.")
    assert not (tmp_path / "out" / "fixed").exists()


@pytest.mark.slow
def test_a_dynamic_dimension_is_one_where_no_shape_is_given(run: Run, tmp_path: Path) -> None:
    model = failing.model_with(failing.determinant, 20)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    out = tmp_path / "out"
    done = run("reduce", saved(tmp_path, model), "--check", "! grep -q Det {model}", "--artifacts-dir", out)
    assert done.returncode == 0
    assert [array.shape[0] for array in np.load(out / "fixed" / "inputs.npz").values()] == [1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--precision", "fp16", "--check", "true"), "--precision: has the twin judge"),
        (("--check", "true {replay}"), "uses {replay}"),
        (("--builder", "tensorrt"), "tensorrt is not installed"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = run("reduce", planted(tmp_path, 10), "--artifacts-dir", tmp_path / "out", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def on_path(folder: Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return an environment with stand-ins for the programs first on its path."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name, text in (("trtexec", TRTEXEC), ("polygraphy", POLYGRAPHY)):
        (programs / name).write_text(text.format(python=sys.executable))
        (programs / name).chmod(0o755)
    return {**environment, "PATH": f"{programs}{os.pathsep}{environment['PATH']}"}


def shown(out: Path, way: str, environment: Mapping[str, str]) -> Failure:
    """Run ``repro.sh``; return the fingerprint of what it prints."""
    printed = out / f"shown-{way}"
    printed.mkdir()
    with (printed / "build.log").open("wb") as log:
        line = [str(out / "fixed" / "repro.sh"), way]
        done = subprocess.run(line, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)
    outcome = ProbeOutcome(Verdict.BAD, "", build=Ended(done.returncode, 0.0, 0))
    return failure_of(printed, outcome, Names({}, {}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "ways"),
    [
        (("--builder", "tensorrt"), ["polygraphy"]),
        (("--builder", "tensorrt", "--builder-flags", "FP16", "--optimization-level", "3"), ["polygraphy"]),
        (("--build", "trtexec --onnx={model} --verbose --skipInference --fp16"), ["commands", "trtexec"]),
    ],
)
def test_the_script_fails_as_the_original_does(tmp_path: Path, options: tuple[str, ...], ways: list[str]) -> None:
    out, emulated = tmp_path / "out", on_path(tmp_path, environment(version="10.13.3"))
    model = saved(tmp_path, failing.model_with(failing.plugin, 16))
    line = [sys.executable, "-m", "trtforensics", "reduce", model, *options, "--artifacts-dir", out, "--json"]
    done = subprocess.run(list(map(str, line)), env=emulated, capture_output=True, check=False)
    found = json.loads(done.stdout)["reduction"]
    assert left(json.loads(done.stdout)) == ["Swirl"]
    for way in ways:
        assert shown(out, way, emulated).code == found["failure"]["code"] != ""


@pytest.mark.slow
def test_the_script_runs_the_commands_of_the_reduction(run: Run, tmp_path: Path) -> None:
    out, lonely = tmp_path / "out", CHECK.replace('has("Sigmoid") and ', "")
    line = ("reduce", planted(tmp_path), "--check", check(tmp_path, lonely), "--keep-values", "--artifacts-dir", out)
    found = json.loads(run(*line, "--json").stdout)["reduction"]["failure"]
    done = subprocess.run([out / "fixed" / "repro.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith("ValueError: Det behind Sigmoid in /layer")
    assert found["lines"][0].startswith("ValueError: Det behind Sigmoid in /layer")


SHOWN = {"resize", "bytes", "mixed-types", "data-dependent-target", "branch"}
"""Cases whose script is run too: each fails in another way."""


@pytest.mark.slow
@rtx
@pytest.mark.rtx
@pytest.mark.parametrize("case", [each for each in failing.CASES if not each.precision and each.count <= 250])
def test_failures_of_tensorrt_rtx_are_reduced_and_the_script_fails_as_they_do(
    run: Run, tmp_path: Path, case: failing.PlantedCase
) -> None:
    out = tmp_path / "out"
    line = ("reduce", saved(tmp_path, case.model()), "--builder", "tensorrt_rtx", "--artifacts-dir", out, "--json")
    found = json.loads(run(*line).stdout)
    assert found["status"] in {"certified", "named"}
    assert len(left(found)) == case.smallest
    assert (out / "fixed" / "repro.sh").stat().st_mode & 0o100
    if case.name in SHOWN:
        failure, seen = found["reduction"]["failure"], shown(out, "polygraphy", on_path(tmp_path))
        assert (seen.code, list(seen.functions)) == (failure["code"], failure["functions"])


def repaired(run: Run, folder: Path, *repairs: str) -> tuple[Any, onnx.ModelProto]:
    """Repair a model with a computed Reshape target, a chain of Casts and broadcasts."""
    graph = failing.Growing()
    sizes = graph.add("Concat", graph.constant("one", [1], np.int64), graph.constant("minus", [-1], np.int64), axis=0)
    flat = graph.add("Reshape", "x", sizes, allowzero=1)
    wide = graph.add("Cast", graph.add("Cast", flat, to=onnx.TensorProto.DOUBLE), to=onnx.TensorProto.FLOAT)
    peak = graph.add("ReduceMax", wide, keepdims=0)
    last = graph.add("Sub", graph.add("Add", wide, graph.constant("bias", np.arange(256))), peak)
    made = helper.make_graph(
        graph.nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 4, 8, 8])],
        [helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, [1, 256])],
        graph.constants,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    out = folder / "repaired.onnx"
    done = run("repair", saved(folder, model), *repairs, "-o", out, "--json")
    return json.loads(done.stdout), onnx.load(out)


def test_all_repairs_together_equal_the_original(run: Run, tmp_path: Path) -> None:
    said, model = repaired(run, tmp_path, "--fold", "--reshape", "--casts", "--broadcasts")
    assert (said["largest_difference"], said["samples"], said["not_compared"]) == (0, 4, None)
    assert {change["repair"] for change in said["changes"]} == {"fold", "reshape", "casts", "broadcasts"}
    assert [node.op_type for node in model.graph.node] == ["Reshape", "ReduceMax", "Add", "Unsqueeze", "Expand", "Sub"]
    assert not model.graph.node[0].attribute
    onnx.checker.check_model(model, full_check=True)


def test_a_repair_must_be_asked_for_and_never_overwrites_the_model(run: Run, tmp_path: Path) -> None:
    path = planted(tmp_path, 10)
    before = path.read_bytes()
    nothing, same = run("repair", path, "-o", tmp_path / "o.onnx"), run("repair", path, "--fold", "-o", path)
    assert (nothing.returncode, same.returncode) == (2, 2)
    assert "Give one or several of --fold" in nothing.stderr
    assert path.read_bytes() == before
    assert not (tmp_path / "o.onnx").exists()


def test_a_repair_counts_the_nodes_that_it_does_not_look_at(run: Run, tmp_path: Path) -> None:
    said = "Only the main graph is repaired: inside of If, Loop or Scan, "
    with_bodies = saved(tmp_path, failing.model_with(failing.branch, 24))
    assert said in run("repair", with_bodies, "--casts", "-o", tmp_path / "out.onnx").stdout
    plain = saved(tmp_path, failing.model_with(None, 24))
    assert said not in run("repair", plain, "--casts", "-o", tmp_path / "out.onnx").stdout
