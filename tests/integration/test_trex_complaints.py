"""The known complaints about trt-engine-explorer, named by their issues: none is ours."""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import trtforensics

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

DOT_LIMIT = 16_384
"""Bytes of a string that Graphviz reads."""
DOT = shutil.which("dot")
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


@pytest.mark.slow
def test_4562_a_large_engine_is_drawn_whole_or_in_part(run: Run, engine: Any, tmp_path: Path) -> None:
    count = 1500
    path = engine(*(layer(f"l{n}", [f"t{n}"], [f"t{n + 1}"]) for n in range(count)))
    assert all(f"l{n}" in drawn(run, path, tmp_path) for n in (0, count // 2, count - 1))
    part = drawn(run, path, tmp_path, "--around", "l700", "--hops", "2")
    assert [f"l{n}" for n in range(690, 710) if re.search(rf"\bl{n}\b", part)] == [f"l{n}" for n in range(698, 703)]


@pytest.mark.slow
def test_4724_graphviz_reads_names_and_metadata_of_any_length(run: Run, engine: Any, tmp_path: Path) -> None:
    told = "\x1e".join(f"[ONNX Layer: /decoder/block.{n}/attention/MatMul]" for n in range(400))
    names = [f"/{letter * 20_000}" for letter in "aé層"]
    assert min(map(len, (told, *names))) > DOT_LIMIT
    tensors = [f"{'t' * 20_000}{n}" for n in range(len(names) + 1)]
    metadata_of = [told, "", ""]
    path = engine(
        *(layer(name, [tensors[n]], [tensors[n + 1]], "kgen", Metadata=metadata_of[n]) for n, name in enumerate(names))
    )
    for view in ("engine", "network", "all"):
        text = drawn(run, path, tmp_path, "--view", view)
        strings = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
        assert max(len(one.encode()) for one in strings) < DOT_LIMIT
        assert "a" * 20_000 in text.replace('" + "', "")
        if DOT is not None:
            read = [DOT, "-Tcanon" if view == "all" else "-Tplain", tmp_path / "engine.dot"]
            done = subprocess.run(read, check=False, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")


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


def test_4578_an_engine_is_drawn_by_a_page_without_widgets(run: Run, engine: Any, tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text('[{"count": 2}, {"name": "conv", "timeMs": 8, "averageMs": 4, "percentage": 100}]')
    done = run("plot", engine(layer("conv", ["x"], ["y"])), profile, "-o", tmp_path / "engine.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "engine.html").read_text()
    assert "<svg" in page
    assert "<script" not in page


def test_4447_an_install_needs_no_widgets() -> None:
    wanted = [text for text in metadata.requires("trtforensics") or () if "extra ==" not in text]
    assert wanted
    assert [text for text in wanted if text.lower().startswith(WIDGETS)] == []


@pytest.mark.slow
def test_4386_each_public_name_is_found_from_any_folder(tmp_path: Path) -> None:
    code = "import trtforensics as tf; print(*(getattr(tf, name) is not None for name in tf.__all__))"
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["True"] * len(trtforensics.__all__), done.stderr


def test_4287_every_option_that_the_readme_shows_is_an_option(run: Run) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    shown: dict[tuple[str, ...], set[str]] = {}
    for block in re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", readme, re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ ").partition(" #")[0]) if "trtforensics " in line else []
            if words[:1] == ["trtforensics"] and words[1][:1].isalpha():
                flags = {word.partition("=")[0] for word in words[2:] if re.fullmatch(r"--[a-z][a-z-]*(=.*)?", word)}
                asked = words[1:3] if words[1] == "bisect" else words[1:2]
                shown.setdefault(tuple(asked), set()).update(flags)
    assert any(shown.values())
    for command, flags in shown.items():
        known = set(re.findall(r"--[a-z][a-z-]*", run(*command, "--help").stdout))
        assert flags <= known, command


def test_4161_a_table_has_the_columns_that_were_asked_for(run: Run, engine: Any) -> None:
    path = engine(layer("conv", ["x"], ["y"]))
    done = run("table", path, "--of", "layers", "--format", "json", "--columns", "layer,type")
    assert json.loads(done.stdout) == [{"layer": "conv", "type": "Convolution"}]


def test_3915_each_number_of_a_latency_has_its_name(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    latencies = [float(n) for n in range(1, 101)]
    random.Random(3915).shuffle(latencies)
    path.write_text(json.dumps([{"startEnqMs": 0, "endD2hMs": n, "latencyMs": n, "computeMs": n} for n in latencies]))
    (told,) = json.loads(run("parse", path, "--json").stdout)["runs"]
    numbers = told["latency_ms"]
    assert [*numbers] == ["min", "max", "mean", "median", "p90", "p95", "p99"]
    assert (numbers["min"], numbers["max"], numbers["mean"], numbers["median"]) == (1, 100, 50.5, 50.5)
    assert [numbers[name] for name in ("p90", "p95", "p99")] == pytest.approx([90, 95, 99], abs=1)
    line = next(line for line in run("parse", path).stdout.splitlines() if line.strip().startswith("latency"))
    assert all(f"{name} " in line for name in numbers)


def test_4657_the_sum_of_layers_and_the_latency_are_two_numbers(run: Run, engine: Any, tmp_path: Path) -> None:
    layers = engine(layer("conv", ["x"], ["y"]))
    sides = []
    for side, time_ms in (("good", 4), ("bad", 6)):
        profile, times = tmp_path / f"{side}.profile.json", tmp_path / f"{side}.times.json"
        profile.write_text(
            f'[{{"count": 2}}, {{"name": "conv", "timeMs": {2 * time_ms}, "averageMs": {time_ms}, "percentage": 100}}]'
        )
        samples = [{"startEnqMs": n, "endD2hMs": n + 9, "latencyMs": 9 + time_ms, "computeMs": 9} for n in range(50)]
        times.write_text(json.dumps(samples))
        sides.append([profile, times])
    alone = run("parse", layers, sides[0][0]).stdout
    assert "conv" in alone
    assert "latency" not in alone
    told = run("diff", layers, layers, "--good", *sides[0], "--bad", *sides[1]).stdout
    (latency,) = (line for line in told.splitlines() if line.startswith("  latency:"))
    (total,) = (line for line in told.splitlines() if line.startswith("  sum of layers"))
    assert re.search(r"\b13\b.* -> 15\b", latency)
    assert re.search(r"\b4\b.* -> 6\b", total)
    assert "measured in a profile" in total


def test_4110_a_foreign_node_names_its_onnx_nodes_and_claims_no_work(run: Run, engine: Any) -> None:
    path = engine(layer("{ForeignNode[a...b]}", ["x"], ["y"], "Myelin", Metadata="[ONNX Layer: a]\x1e[ONNX Layer: b]"))
    (row,) = rows_of(run, path)
    assert row["onnx_nodes"] == ["a", "b"]
    assert (row["weights_bytes"], row["macs"]) == (None, None)


def test_783_the_engine_of_a_layer_file_alone_is_drawn(run: Run, engine: Any, tmp_path: Path) -> None:
    text = drawn(run, engine(layer("conv", ["x"], ["y"])), tmp_path)
    assert text.startswith("digraph")
    assert "conv" in text
