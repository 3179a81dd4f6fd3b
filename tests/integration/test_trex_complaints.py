"""The known complaints about trt-engine-explorer, named by their issues: none is ours."""

from __future__ import annotations

import json
import re
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

import trtforensics

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]

DOT_LIMIT = 16_384
"""Characters of a string that Graphviz reads."""
WIDGETS = ("dash", "dtale", "flask", "ipywidgets", "jupyter", "pandas", "plotly")


def tensor(name: str, layout: str = "Row major linear FP32") -> dict[str, Any]:
    return {"Name": name, "Location": "Device", "Dimensions": [1, 16, 8, 8], "Format/Datatype": layout}


def layer(name: str, reads: list[str], writes: list[str], kind: str = "CaskConvolution", **more: Any) -> dict[str, Any]:
    inputs, outputs = ([tensor(one) for one in names] for names in (reads, writes))
    facts = {"ParameterType": "Convolution"} if kind == "CaskConvolution" else {}
    return {"Name": name, "LayerType": kind, "Inputs": inputs, "Outputs": outputs, **facts, **more}


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    """Write engine layers, and return the path."""

    def write(*layers: dict[str, Any], raw: str = "") -> str:
        path = tmp_path / "layers.json"
        path.write_text(raw or json.dumps({"Layers": layers, "Bindings": ["x", "y"]}, indent=1))
        return str(path)

    return write


def drawn(run: Run, path: str, tmp_path: Path, *more: str) -> str:
    done = run("graph", path, "-o", tmp_path / "engine.dot", *more)
    assert (done.returncode, done.stdout) == (0, "")
    return (tmp_path / "engine.dot").read_text()


def nodes_of(run: Run, path: str, tmp_path: Path, *more: str) -> dict[str, Any]:
    done = run("graph", path, "-o", tmp_path / "engine.json", *more)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((tmp_path / "engine.json").read_text())
    return found


def rows_of(run: Run, *sources: str, of: str = "layers") -> list[dict[str, Any]]:
    done = run("table", *sources, "--of", of, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_4562_a_large_engine_is_drawn_whole_or_in_part(run: Run, engine: Any, tmp_path: Path) -> None:
    count = 1500
    path = engine(*(layer(f"l{n}", [f"t{n}"], [f"t{n + 1}"]) for n in range(count)))
    assert all(f"l{n}" in drawn(run, path, tmp_path) for n in (0, count // 2, count - 1))
    part = drawn(run, path, tmp_path, "--around", "l700", "--hops", "2")
    assert [f"l{n}" for n in range(690, 710) if re.search(rf"\bl{n}\b", part)] == [f"l{n}" for n in range(698, 703)]


def test_4724_no_text_of_a_drawing_is_too_long_for_graphviz(run: Run, engine: Any, tmp_path: Path) -> None:
    told = "\x1e".join(f"[ONNX Layer: /decoder/block.{n}/attention/MatMul]" for n in range(1000))
    path = engine(layer("__myl_MulAdd_myl0_1", ["x"], ["y"], "kgen", Metadata=told))
    assert len(told) > DOT_LIMIT
    texts = re.findall(r'"(?:[^"\\]|\\.)*"', drawn(run, path, tmp_path, "--view", "engine"))
    assert texts
    assert max(map(len, texts)) < DOT_LIMIT


def test_4391_branches_that_write_one_tensor_are_all_drawn(run: Run, engine: Any, tmp_path: Path) -> None:
    path = engine(layer("then", ["x"], ["y"]), layer("else", ["x"], ["y"]), layer("if", ["y"], ["z"], "Conditional"))
    names = {node.get("name") for node in nodes_of(run, path, tmp_path)["nodes"]}
    assert {"then", "else", "if"} <= names


def test_2779_control_characters_do_not_hinder_reading(run: Run, engine: Any) -> None:
    text = json.dumps({"Layers": [layer("conv", ["x"], ["y"], Metadata="[ONNX Layer: a]@[ONNX Layer: b]")]})
    (row,) = rows_of(run, engine(raw=text.replace("@", "\x1e")))
    assert row["onnx_nodes"] == ["a", "b"]


def test_3585_a_layer_without_outputs_is_a_layer(run: Run, engine: Any, tmp_path: Path) -> None:
    path = engine(layer("conv", ["x"], ["y"]), layer("[trainStation1]", ["y"], [], "TrainStation"))
    assert [row["layer"] for row in rows_of(run, path)] == ["conv", "[trainStation1]"]
    assert "trainStation1" in drawn(run, path, tmp_path)


def test_2260_engine_layers_load_without_any_other_file(run: Run, engine: Any) -> None:
    (row,) = rows_of(run, engine(layer("conv", ["x"], ["y"])))
    assert (row["layer"], row["type"], row["time_ms"]) == ("conv", "Convolution", None)


def test_2075_parallel_edges_say_which_tensors_and_reformats_are_counted(run: Run, engine: Any, tmp_path: Path) -> None:
    path = engine(
        layer("split", ["x"], ["a", "b"]),
        layer("Reformatting CopyNode for Input Tensor 0 to concat", ["a"], ["c"], "Reformat"),
        layer("concat", ["c", "b"], ["y"], "Concat"),
    )
    assert {row["layer"]: row["reformats_before"] for row in rows_of(run, path)}["concat"] == 1
    tensors = {
        node["name"] for node in nodes_of(run, path, tmp_path, "--view", "all")["nodes"] if node["kind"] == "tensor"
    }
    assert tensors == {"x", "a", "b", "c", "y"}


@pytest.mark.parametrize("issue", ["4578: dtale", "4447: dash, ipywidgets, Flask", "4386: no such module"])
def test_an_install_needs_none_of_the_packages_that_broke_it(issue: str) -> None:
    wanted = [text for text in metadata.requires("trtforensics") or () if "extra ==" not in text]
    assert wanted, issue
    assert [text for text in wanted if text.lower().startswith(WIDGETS)] == []
    assert all(hasattr(trtforensics, name) for name in trtforensics.__all__)


def test_4161_a_table_has_the_columns_that_were_asked_for(run: Run, engine: Any) -> None:
    path = engine(layer("conv", ["x"], ["y"]))
    done = run("table", path, "--of", "layers", "--format", "json", "--columns", "layer,type")
    assert json.loads(done.stdout) == [{"layer": "conv", "type": "Convolution"}]


def test_3915_each_number_of_a_latency_has_its_name(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    samples = [{"startEnqMs": n, "computeMs": n + 1.0, "endD2hMs": n + 2, "latencyMs": n + 1.5} for n in range(4)]
    path.write_text(json.dumps(samples))
    told = json.loads(run("parse", path, "--json").stdout)
    assert "median" in json.dumps(told)
    assert "p99" in json.dumps(told)


def test_4657_the_sum_of_layers_is_never_called_a_latency(run: Run, engine: Any, tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text('[{"count": 2}, {"name": "conv", "timeMs": 8, "averageMs": 4, "percentage": 100}]')
    done = run("parse", engine(layer("conv", ["x"], ["y"])), profile)
    assert "conv" in done.stdout
    assert "latency" not in done.stdout


def test_4110_a_foreign_node_names_its_onnx_nodes_and_claims_no_work(run: Run, engine: Any) -> None:
    path = engine(layer("{ForeignNode[a...b]}", ["x"], ["y"], "Myelin", Metadata="[ONNX Layer: a]\x1e[ONNX Layer: b]"))
    (row,) = rows_of(run, path)
    assert row["onnx_nodes"] == ["a", "b"]
    assert (row["weights_bytes"], row["macs"]) == (None, None)


def test_783_the_engine_of_a_layer_file_alone_is_drawn(run: Run, engine: Any, tmp_path: Path) -> None:
    text = drawn(run, engine(layer("conv", ["x"], ["y"])), tmp_path)
    assert text.startswith("digraph")
    assert "conv" in text
