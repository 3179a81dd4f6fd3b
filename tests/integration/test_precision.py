"""``bisect precision`` from the command line, against networks whose answer is known."""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.emulator.engine.files import read_engine
from tests.emulator.tensorrt.python_path import environment
from tests.integration import precision_nets as nets
from tests.support.zoo import models as zoo_models
from tests.support.zoo.net import Net

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

rtx = pytest.mark.skipif(find_spec("tensorrt_rtx") is None, reason="tensorrt_rtx is not installed")

LN = "/layers.5/ln2"
HOT = {f"{LN}/Pow", f"{LN}/ReduceMean_1"}
TWO = ("/layers.0/ln1", "/layers.2/ln2")


def saved(folder: Path, model: onnx.ModelProto, name: str = "model.onnx") -> Path:
    onnx.save(model, folder / name)
    return folder / name


def search(run: Run, model: Path, directory: Path, *options: str, status: int = 0) -> dict[str, Any]:
    """Run without builds unless the options ask for them; return ``result.json``."""
    flags = options if "--build" in options else ("--build", "none", *options)
    done = run("bisect", "precision", model, "--artifacts-dir", directory, "--json", "--quiet", *flags)
    assert done.returncode == status, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert document == json.loads((directory / "result.json").read_text())
    return document


def sets(document: dict[str, Any]) -> list[set[str]]:
    return [{member["item"] for member in found} for found in document["culprits"]]


@pytest.mark.slow
def test_one_overflow_in_a_transformer(run: Run, tmp_path: Path) -> None:
    model = nets.transformer()
    assert len(model.graph.node) >= 700
    found = search(run, saved(tmp_path, model), tmp_path / "out")
    assert found["status"] == "certified"
    assert sets(found) == [HOT]
    assert found["oracle_probes"] == len(list((tmp_path / "out" / "probes").iterdir())) <= 30
    assert found["builds"] == 0
    assert found["evidence"] == {"emulated": True, "built": False, "executed": False}
    assert [tensor["tensor"] for tensor in found["tensors"]] == [f"{LN}/Pow_output_0"]
    assert {node["node"]: node["needed"] for node in found["nodes"]} == dict.fromkeys(HOT, True)
    assert all(node["dropped"]["y"] > 0.1 for node in found["nodes"])


@pytest.mark.parametrize(
    ("model", "options", "answer"),
    [
        pytest.param(
            lambda: nets.transformer(3, TWO),
            (),
            [{f"{ln}/{op}" for ln in TWO for op in ("Pow", "ReduceMean_1")}],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            nets.residual,
            (),
            [{f"/blocks.{i}/a/{op}" for i in (1, 3, 6) for op in ("Conv", "BatchNormalization")}],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            nets.either, (), [{"/left/Mul", "/left/Div"}, {"/right/Mul", "/right/Div"}], marks=pytest.mark.slow
        ),
        (nets.either, ("--find", "first"), [{"/left/Mul", "/left/Div"}]),
        (nets.clamped, (), [{"/left/Mul", "/right/Mul"}]),
    ],
    ids=["two-layers", "residual", "either", "either-first", "clamped"],
)
def test_the_minimal_repair_is_found(
    run: Run, tmp_path: Path, model: Callable[[], onnx.ModelProto], options: tuple[str, ...], answer: list[set[str]]
) -> None:
    found = search(run, saved(tmp_path, model()), tmp_path / "out", *options)
    assert found["status"] == "certified"
    assert sets(found) == answer
    repaired = onnx.load(tmp_path / "out" / "fixed" / "model.onnx")
    onnx.checker.check_model(repaired, full_check=True)


def dead_layers() -> onnx.ModelProto:
    """Return a network whose second branch is scaled down, so that its overflow does not show in the output."""
    net = Net(seed=4)
    size = net.node("Mul", "/x/Mul", ["x", net.tensor("x.k", 300.0)])
    branches = []
    for name, share in (("loud", 1.0), ("faint", 1e-6)):
        square = net.node("Mul", f"/{name}/square", [size, size])
        mean = net.node("ReduceMean", f"/{name}/mean", [square], axes=[-1], keepdims=1)
        root = net.node("Sqrt", f"/{name}/root", [mean])
        normal = net.node("Div", f"/{name}/normal", [size, root])
        branches.append(net.node("Mul", f"/{name}/out", [normal, net.tensor(f"{name}.share", share)]))
    return net.model(net.node("Add", "/sum", branches), {"x": (4, 8)}, (4, 8))


@pytest.mark.slow
def test_a_repair_that_leaves_a_layer_dead_says_so_beside_the_safe_one(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = search(run, saved(tmp_path, dead_layers()), out)
    loud, faint = ({f"/{name}/{op}" for op in ("square", "mean")} for name in ("loud", "faint"))
    assert sets(found) == [loud | {"/loud/root"}]
    assert set(found["safe"]["nodes"]) == loud | faint | {"/loud/root", "/faint/root"}
    assert found["safe"]["verdict"] == "good"
    inside = {each["tensor"]: (each["lost"] > 0, each["flushed"]) for each in found["inside"]}
    assert inside["/faint/square_output_0"] == (True, False)
    assert inside["/faint/normal_output_0"] == (False, True)
    assert not any("loud" in name for name in inside)
    assert found["left"] == []
    assert [(each["tensor"], each["node"], set(each["nodes"])) for each in found["reasons"]] == [
        ("/faint/square_output_0", "/faint/square", faint),
        ("/faint/mean_output_0", "/faint/mean", {"/faint/root"}),
    ]
    assert [each["samples"] for each in found["reasons"]] == [[0, 1, 2]] * 2
    repaired = onnx.load(out / "fixed" / "model.onnx")
    casts = {node.input[0] for node in repaired.graph.node if node.op_type == "Cast" and node.attribute[0].i == 1}
    assert not any("square" in name or "mean" in name for name in casts)
    done = run("bisect", "precision", tmp_path / "model.onnx", "--artifacts-dir", out, "--build", "none")
    assert "Safe on 3 random samples: nothing overflows, becomes NaN or is flushed inside the rep" in done.stdout
    fewer = ", ".join(sorted(loud | {"/loud/root"}, key=["/loud/square", "/loud/mean", "/loud/root"].index))
    assert f"Fewer nodes also pass these samples: {fewer}, but values are lost inside:" in done.stdout


def test_a_model_that_passes_with_a_dead_layer_gets_a_safe_repair(run: Run, tmp_path: Path) -> None:
    net = Net(seed=4)
    large = net.node("Mul", "/large", ["x", net.tensor("k", 1e6)])
    bounded = net.node("Tanh", "/Tanh", [large])
    model = saved(tmp_path, net.model(bounded, {"x": (4, 8)}, (4, 8)))
    found = search(run, model, tmp_path / "out", status=1)
    assert (found["status"], found["minimal"]["nodes"]) == ("not-reproduced", [])
    assert found["why"].startswith("the model passes with every node in FP16, with ")
    assert found["why"].endswith(" values lost inside")
    assert set(found["safe"]["nodes"]) == {"/large", "/Tanh"}
    assert (tmp_path / "out" / "fixed" / "model.onnx").exists()


@pytest.mark.slow
def test_the_operator_in_the_place_of_a_chain_is_proposed_first(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = search(run, saved(tmp_path, nets.transformer(2, TWO[:1])), out)
    (chain,) = found["operators"]["chains"]
    assert (chain["operator"], chain["output"]) == ("LayerNormalization", f"{TWO[0]}/Add_1_output_0")
    assert {node.rpartition("/")[2] for node in chain["replaces"]} >= {"Pow", "ReduceMean_1", "Sqrt", "Div"}
    assert (found["operators"]["nodes"], len(found["minimal"]["nodes"])) == ([], 2)
    assert found["operators"]["difference"] < 1e-6
    assert found["operators"]["scores"]["y"] <= found["judged"]["y"]["tolerance"]
    assert found["operators"]["built"] is None
    model = onnx.load(out / "fixed" / "operators.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert sum(node.op_type == "LayerNormalization" for node in model.graph.node) == 1
    done = run("bisect", "precision", tmp_path / "model.onnx", "--artifacts-dir", out, "--build", "none")
    assert done.stdout.splitlines()[1].startswith("Try fixed/operators.onnx first")


@pytest.mark.slow
def test_layer_normalization_needs_nothing(run: Run, tmp_path: Path) -> None:
    model = saved(tmp_path, nets.transformer(2, ("/layers.1/ln2",), decomposed=False))
    found = search(run, model, tmp_path / "out", status=1)
    assert (found["status"], found["culprits"]) == ("not-reproduced", [])
    assert "passes with every node in FP16" in found["why"]
    assert max(found["probes"][0]["scores"].values()) > 0


@pytest.mark.slow
def test_loss_of_precision_without_any_overflow(run: Run, tmp_path: Path) -> None:
    net = Net(seed=11)
    large = net.node("Add", "/up", ["x", net.tensor("k", 3000.0)])
    back = net.node("Sub", "/down", [large, net.tensor("k2", 3000.0)])
    found = search(
        run, saved(tmp_path, net.model(back, {"x": (4, 8)}, (4, 8))), tmp_path / "out", "--tolerance", "0.01"
    )
    assert sets(found) == [{"/up", "/down"}]
    assert found["tensors"][0]["why"] == ""


@pytest.mark.slow
def test_scores_are_kept_and_judged_again(run: Run, tmp_path: Path) -> None:
    model, out = saved(tmp_path, nets.transformer(2, ("/layers.1/ln2",))), tmp_path / "out"
    first = search(run, model, out)
    scored = {path: path.stat().st_mtime_ns for path in out.glob("probes/*/scores.json")}
    again = search(run, model, out)
    assert (again["culprits"], again["reused"]) == (first["culprits"], first["oracle_probes"])
    loose = search(run, model, out, "--tolerance", "0.9", status=1)
    assert loose["status"] == "not-reproduced"
    other = search(run, model, out, "--metric", "cosine")
    assert sets(other) == sets(first)
    assert other["judged"]["y"]["metric"] == "cosine"
    assert {path: path.stat().st_mtime_ns for path in scored} == scored


@pytest.mark.slow
def test_another_model_or_other_samples_are_another_job(run: Run, refuse: Callable[..., str], tmp_path: Path) -> None:
    model, out = saved(tmp_path, nets.either()), tmp_path / "out"
    search(run, model, out)
    before = sorted(path.name for path in out.rglob("*"))
    same = ("--artifacts-dir", out, "--build", "none")
    assert "belongs to another job" in refuse("bisect", "precision", saved(tmp_path, nets.clamped(), "b.onnx"), *same)
    assert "belongs to another job" in refuse("bisect", "precision", model, "--samples", "2", *same)
    assert sorted(path.name for path in out.rglob("*")) == before


def test_a_check_command_gets_the_typed_model_and_the_twin(run: Run, tmp_path: Path) -> None:
    said = (
        "grep -q /left/Tanh_output_0__fp16__exact {twin} && grep -q /left/Tanh_output_0__fp16 {model} && exit 1; exit 0"
    )
    found = search(run, saved(tmp_path, nets.clamped()), tmp_path / "out", "--check", said)
    assert sets(found) == [{"/left/Tanh"}]
    assert found["evidence"]["emulated"] is False
    assert found["judged"] == {}


def test_dynamic_dimensions_are_1_and_the_answer_says_so(run: Run, tmp_path: Path) -> None:
    net = Net()
    deep = net.node("Mul", "/up", ["x", net.tensor("k", 60000.0)])
    model = saved(tmp_path, net.model(net.node("Div", "/down", [deep, "k"]), {"x": ("batch", 8)}, ("batch", 8)))
    found = search(run, model, tmp_path / "out")
    assert sets(found) == [{"/up", "/down"}]
    assert "dynamic dimensions are 1, as in trtexec: --shapes x:1x8 sets others" in found["notes"]
    given = search(run, model, tmp_path / "given", "--shapes", "x:3x8")
    assert sets(given) == [{"/up", "/down"}]
    assert not any("dynamic" in note for note in given["notes"])


def test_inputs_of_the_user_decide(run: Run, refuse: Callable[..., str], tmp_path: Path) -> None:
    model = saved(tmp_path, nets.either())
    np.savez(tmp_path / "small.npz", x=np.full((4, 32), 1e-3, np.float32))
    np.savez(tmp_path / "wrong.npz", z=np.zeros(1))
    inputs = ("--inputs", str(tmp_path / "small.npz"))
    assert search(run, model, tmp_path / "out", *inputs, status=1)["status"] == "not-reproduced"
    said = refuse("bisect", "precision", model, "--artifacts-dir", tmp_path / "b", "--inputs", tmp_path / "wrong.npz")
    assert "has no array for the input x" in said


@pytest.mark.slow
def test_a_reference_that_is_not_finite_is_refused_or_masked_aloud(
    run: Run, refuse: Callable[..., str], tmp_path: Path
) -> None:
    net = Net(seed=2)
    root = net.node("Sqrt", "/root", ["x"])
    large = net.node("Mul", "/up", [root, net.tensor("k", 60000.0)])
    model = saved(tmp_path, net.model(net.node("Div", "/down", [large, "k"]), {"x": (4, 8)}, (4, 8)))
    said = refuse("bisect", "precision", model, "--artifacts-dir", tmp_path / "out")
    assert "values that are NaN, from /root [Sqrt] on" in said
    assert not (tmp_path / "out").exists()
    done = run("bisect", "precision", model, "--artifacts-dir", tmp_path / "out", "--build", "none", "--mask-nonfinite")
    assert "Left out: " in done.stdout
    assert "/up [Mul]" in done.stdout


def test_a_mask_of_all_values_is_no_pass(refuse: Callable[..., str], tmp_path: Path) -> None:
    net = Net(seed=2)
    root = net.node("Sqrt", "/root", [net.node("Neg", "/Neg", [net.node("Exp", "/Exp", ["x"])])])
    model = saved(tmp_path, net.model(root, {"x": (4, 8)}, (4, 8)))
    said = refuse("bisect", "precision", model, "--artifacts-dir", tmp_path / "out", "--mask-nonfinite")
    assert "all 96 values of the output y are NaN or infinite in FP32" in said


def test_random_inputs_that_a_model_refuses_are_named(refuse: Callable[..., str], tmp_path: Path) -> None:
    (tokens,) = (zoo for zoo in zoo_models() if zoo.name == "rare tokens")
    flags = ("--artifacts-dir", tmp_path / "out", "--val-range", "ids:[0,60]")
    said = refuse("bisect", "precision", saved(tmp_path, tokens.build()), *flags)
    assert "on random values of ids" in said
    assert "--val-range ids:[0,1]" in said


@pytest.mark.slow
def test_external_data_is_written_once(run: Run, tmp_path: Path) -> None:
    model, out = tmp_path / "model.onnx", tmp_path / "out"
    onnx.save(nets.clamped(), model, save_as_external_data=True, location="model.data", size_threshold=0)
    found = search(run, model, out, "--check", "grep -q /left/Tanh_output_0__fp16 {model} && exit 1; exit 0")
    assert found["status"] == "certified"
    assert [path.name for path in (out / "models").glob("*.bin")] == ["weights.bin"]
    probes = sorted((out / "models").glob("*.model.onnx"))
    assert len(probes) == len(found["probes"])
    assert found["oracle_probes"] == 0
    assert all(path.stat().st_size < 8000 for path in probes)
    onnx.checker.check_model(str(probes[-1]), full_check=True)
    repaired = onnx.load(out / "fixed" / "model.onnx")
    assert {tensor.data_type for tensor in repaired.graph.initializer} == {TensorProto.FLOAT16}
    assert not (out / "fixed" / "model.onnx").read_bytes().count(repaired.graph.initializer[0].raw_data)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--metric", "euclid"), "is not a metric"),
        (("--tolerance", "z:1"), "the model has no output 'z'"),
        (("--shapes", "x=3"), "is not a shape"),
        (("--shapes", "z:3"), "the model has no input 'z'"),
        (("--build", "make {model}"), "does not say which probes to build"),
        (("--confidence", "0.9"), "has no use here"),
        pytest.param(("--by", "constraints", "--builder", "tensorrt_rtx"), "has no layer precisions", marks=rtx),
        (("--inputs", "none.npz"), "cannot be read"),
    ],
)
def test_bad_usage_is_one_sentence_and_writes_nothing(
    refuse: Callable[..., str], tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    model = saved(tmp_path, nets.either())
    assert says in refuse("bisect", "precision", model, "--artifacts-dir", tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


def test_a_model_that_is_cast_already_is_refused(refuse: Callable[..., str], tmp_path: Path) -> None:
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT16, [4])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT16, [4])
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "g", [info], [out])
    model = saved(tmp_path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    assert "is an FP16 model already" in refuse("bisect", "precision", model, "--artifacts-dir", tmp_path / "o")


def test_a_dry_run_writes_nothing(run: Run, tmp_path: Path) -> None:
    model = saved(tmp_path, nets.either())
    done = run("bisect", "precision", model, "--artifacts-dir", tmp_path / "out", "--dry-run")
    assert (done.returncode, (tmp_path / "out").exists()) == (0, False)
    assert "7 nodes in 8 items" in done.stdout


def test_the_fixes_name_the_nodes(run: Run, tmp_path: Path) -> None:
    search(run, saved(tmp_path, nets.clamped()), tmp_path / "out")
    fixed = tmp_path / "out" / "fixed"
    command = (fixed / "trtexec.txt").read_text()
    assert shlex.split(command.replace("\\\n", ""), comments=True) == [
        "trtexec",
        f"--onnx={tmp_path / 'model.onnx'}",
        "--fp16",
        "--precisionConstraints=obey",
        "--layerPrecisions=/left/Mul:fp32,/right/Mul:fp32",
        "--layerOutputTypes=/left/Mul:fp32,/right/Mul:fp32",
    ]
    settings = json.loads((fixed / "check_on_gpu.json").read_text())
    assert settings["original"] == str(tmp_path / "model.onnx")
    assert [rule["metric"] for rule in settings["judged"]["y"]] == ["max-rel", "rel-l2"]
    assert len(list((fixed / "samples").glob("*.npz"))) == 3
    compile((fixed / "fp32_layers.py").read_text(), "fp32_layers.py", "exec")
    assert "'/left/Mul'" in (fixed / "fp32_layers.py").read_text()
    assert "'^/left/Mul$'" in (fixed / "autocast.txt").read_text()


@pytest.mark.slow
@rtx
@pytest.mark.rtx
def test_the_answer_is_really_built(run: Run, tmp_path: Path) -> None:
    model, out = saved(tmp_path, nets.transformer(6)), tmp_path / "out"
    found = search(run, model, out, "--build", "certificate", "--builder", "tensorrt_rtx")
    assert found["status"] == "certified"
    assert sets(found) == [HOT]
    names = {node.name for node in onnx.load(model, load_external_data=False).graph.node}
    logs = sorted(out.glob("probes/*/build.log"))
    assert found["builds"] == len(logs) == 4
    assert found["oracle_probes"] <= 30
    assert found["evidence"] == {"emulated": True, "built": True, "executed": False}
    built = [probe for probe in found["probes"] if probe["built"] is not None]
    assert [probe["built"] for probe in built] == [True] * 4
    (repaired,) = (probe["folder"] for probe in built if probe["purpose"] == "the repair alone in FP32")
    assert (out / "fixed" / "model.onnx").read_bytes() == (out / repaired / "model.onnx").read_bytes()
    assert found["operators"]["built"] is True, found["operators"]["why_not_built"]
    for log in logs:
        parsed = json.loads(run("parse", log, "--json").stdout)
        for sample in parsed["unknown_samples"]:  # TensorRT lists nodes that it takes for normalisations, no words
            assert set(sample["text"].split(",")[:-1]) <= names
        assert parsed["builds"][0]["engine_layers"]


@pytest.mark.slow
@rtx
@pytest.mark.rtx
def test_every_probe_is_built_within_the_bound(run: Run, tmp_path: Path) -> None:
    found = search(
        run, saved(tmp_path, nets.either()), tmp_path / "out", "--build", "every", "--builder", "tensorrt_rtx"
    )
    members, culprits, bits = 4, 2, 3
    assert found["status"] == "certified"
    assert found["oracle_probes"] == found["builds"] == len(list((tmp_path / "out").glob("probes/*/build.log")))
    assert found["builds"] <= 2 + culprits + members * (bits + 1)


def constrained(run: Run, folder: Path, model: onnx.ModelProto) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """Search with layer precisions; return the result, and the probe that builds the repair with its folder."""
    out = folder / "out"
    flags = ("--builder", "tensorrt", "--by", "constraints", "--artifacts-dir", out, "--json", "--quiet")
    env = environment(version="10.13.3", luck="a")
    done = run("bisect", "precision", saved(folder, model), *flags, "--keep-engines", "all", env=env)
    found = json.loads(done.stdout)
    built = (p for p in found["probes"] if p["built"] is not None)
    (repaired,) = (p for p in built if p["purpose"] == "the repair alone in FP32")
    return found, repaired, out / repaired["folder"]


@pytest.mark.slow
def test_layer_precisions_where_tensorrt_has_them(run: Run, tmp_path: Path) -> None:
    found, repaired, folder = constrained(run, tmp_path, nets.residual(3, (1,)))
    assert (found["status"], repaired["verdict"]) == ("certified", "good")
    assert json.loads((folder / "build-report.json").read_text())["version"] == "10.13.3"
    kept = set(json.loads((folder / "build-job.json").read_text())["fp32_layers"])
    assert {"/blocks.1/a/Conv", "/blocks.1/a/BatchNormalization"} <= kept
    engine = read_engine((folder / "engine").read_bytes())
    assert {"FP16", "OBEY_PRECISION_CONSTRAINTS"} <= set(engine["flags"])
    ran = {node: layer["precision"] for layer in engine["layers"] for node in layer["nodes"]}
    assert {ran[node] for node in kept} == {"Float"}
    assert ran["/blocks.0/a/Conv"] == ran["/blocks.2/b/Conv"] == "Half"


@pytest.mark.slow
def test_layer_precisions_that_a_foreign_node_swallows_prove_nothing(run: Run, tmp_path: Path) -> None:
    found, repaired, folder = constrained(run, tmp_path, nets.clamped())
    assert found["status"] == "named"
    assert found["why"] == "the repaired model does not build as asked"
    assert found["evidence"]["built"] is False
    assert repaired["verdict"] == "unresolved"
    assert repaired["reason"].startswith("a layer precision does not reach /left/Mul inside {ForeignNode[/left/MatMul")
    job = json.loads((folder / "build-job.json").read_text())
    assert job["fp32_layers"] == ["/left/Mul", "/right/Mul"]


@pytest.mark.parametrize(
    ("version", "precision", "says"),
    [
        ("11.4.0", "fp16", "TensorRT 11.4.0: has no layer precisions, only strongly typed networks. Leave"),
        ("8.6.1", "bf16", "TensorRT 8.6.1: has no builder flag BF16."),
    ],
)
@pytest.mark.slow
def test_layer_precisions_that_tensorrt_does_not_have_are_refused(
    refuse: Callable[..., str], tmp_path: Path, version: str, precision: str, says: str
) -> None:
    model, out = saved(tmp_path, nets.clamped()), tmp_path / "out"
    flags = ("--builder", "tensorrt", "--by", "constraints", "--precision", precision, "--artifacts-dir", out)
    assert says in refuse("bisect", "precision", model, *flags, env=environment(version=version))
    assert not out.exists()


@pytest.mark.slow
def test_a_normalisation_over_the_first_axes_is_said_to_have_no_operator(run: Run, tmp_path: Path) -> None:
    net = Net(seed=6)
    large = net.node("Mul", "/up", ["x", net.tensor("k", 400.0)])
    square = net.node("Mul", "/square", [large, large])
    root = net.node("Sqrt", "/root", [net.node("ReduceMean", "/mean", [square], axes=[0], keepdims=1)])
    model = net.model(net.node("Div", "/normal", [large, root]), {"x": (8, 4)}, (8, 4))
    found = search(run, saved(tmp_path, model), tmp_path / "out")
    assert found["operators"] is None
    assert any("no operator is proposed" in note and note.endswith(": /normal") for note in found["notes"])


def test_a_calibration_cache_is_held_against_the_samples(run: Run, refuse: Callable[..., str], tmp_path: Path) -> None:
    model, cache = saved(tmp_path, nets.either()), tmp_path / "calibration.cache"
    cache.write_text("TRT-8501-EntropyCalibration2\nx: 3a010a14\n/in/MatMul_output_0: 3f800000\n")
    found = search(run, model, tmp_path / "out", "--calibration", str(cache))
    told = {each["tensor"]: each["use"]["reason"] for each in found["calibration"]["ranges"]}
    assert told["x"].startswith("clips ")
    assert told["/in/MatMul_output_0"].startswith("uses ")
    assert "/Abs_output_0" in found["calibration"]["missing"]
    cache.write_text("x: 1\n")
    said = refuse("bisect", "precision", model, "--artifacts-dir", tmp_path / "other", "--calibration", cache)
    assert "does not begin with TRT-VERSION-CALIBRATOR" in said


def test_types_behind_operators_of_other_domains_are_those_of_onnx_runtime(run: Run, tmp_path: Path) -> None:
    net = Net()
    product = net.node("MatMul", "/in/MatMul", ["x", net.weight("w", 8, 8, scale=1.0)])
    gated = net.node("Gelu", "/Gelu", [product], domain="com.microsoft")
    large = net.node("Mul", "/up", [gated, net.tensor("k", 60000.0)])
    model = net.model(net.node("Div", "/down", [large, "k"]), {"x": (4, 8)}, (4, 8))
    found = search(run, saved(tmp_path, model), tmp_path / "out")
    assert sets(found) == [{"/up", "/down"}]
    assert found["samples_are"] == "3 random samples"


def test_a_model_of_which_few_nodes_take_part_says_so_first(run: Run, tmp_path: Path) -> None:
    net = Net()
    tensor = net.node("MatMul", "/in/MatMul", ["x", net.weight("w", 8, 8)])
    for number in range(3):
        tensor = net.node("Gelu", f"/{number}/Gelu", [tensor], domain="com.microsoft")
    model = net.model(tensor, {"x": (4, 8)}, (4, 8))
    found = search(run, saved(tmp_path, model), tmp_path / "out", status=1)
    assert found["samples_are"] == "3 random samples (only 1 of 4 nodes can be in fp16)"
