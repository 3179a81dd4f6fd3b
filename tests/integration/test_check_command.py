"""``check`` as a user runs it: targets, forms, the log's own target, bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, save

import trtforensics as tf
from tests.support.faulty_models import FLOAT, model, node
from tests.support.marked_logs import marked
from tests.support.peak_memory import PROGRAM
from tests.support.repository import ROOT
from tests.support.schemas import problems
from trtforensics.cli import main
from trtforensics.onnx_models import trying

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("no_trials")

TRANSFORMER = str(ROOT / "testdata" / "models" / "transformer.onnx")


def test_several_targets_make_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "PATIENCE_S", 30)  # one check as it is, with the nodes that ONNX Runtime tries
    assert main(["check", TRANSFORMER, "--target", "8.4,8.6"]) == 0
    head, *rows = (line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines())
    assert head[:2] == ["8.4", "8.6"]
    assert rows[0] == ["no", "yes", "6 LayerNormalization"]
    assert rows[1][:2] == ["yes", "yes"]
    assert "25 MatMul" in rows[1][2].split(", ")
    assert rows[2][:2] == ["refused", "-"]


def test_the_document_is_as_its_schema_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", TRANSFORMER, "--target", "8.4", "--json", "--fail-on", "error"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert not problems(document, "report")
    finding = document["findings"][0]
    (target,) = document["targets"]
    assert (document["kind"], target["release"], target["accepted"]) == ("check", "8.4", False)
    assert target["operators"]["LayerNormalization"] == {"nodes": 6, "is": "no"}
    assert target["findings"] == list(range(len(document["findings"])))
    assert (finding["code"], len(finding["onnx_nodes"]), finding["evidence"][0]["line"]) == ("TF170", 6, 1)
    assert "LayerNormalization" in finding["evidence"][0]["text"]


@pytest.mark.parametrize("form", ["text", "html", "sarif", "junit"])
def test_every_form_speaks_of_nodes(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", TRANSFORMER, "--target", "8.4", "--format", form, "-v"]) == 0
    out = capsys.readouterr().out
    assert "TF170" in out
    assert "97 nodes, operator set 17, for TensorRT 8.4" in out


def test_report_of_a_model_is_a_check_of_any_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", TRANSFORMER]) == 0
    assert "for any TensorRT" in capsys.readouterr().out


def test_beside_a_log_the_model_is_judged_for_the_logs_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "build.log"
    for version, codes in (("8.0.3", {"TF170"}), ("8.6.1", set())):
        log.write_text(marked(f"&& {version} --onnx=m.onnx\nI Building\n&&! end").text, encoding="utf-8")
        assert main(["report", str(log), "--onnx", TRANSFORMER, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["findings"]
        assert {each["code"] for each in found} & {"TF170"} == codes


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--gpu", "V100", "--target", "10.7"), "TF178"),
        (("--gpu", "7.0", "--target", "10.4"), ""),
        (("--jetpack", "5.0"), "TF170"),
    ],
)
def test_gpus_and_jetpacks(words: tuple[str, ...], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", TRANSFORMER, *words, "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {each["code"] for each in findings if each["severity"] == "error"} == ({code} if code else set())


@pytest.mark.parametrize(
    "words",
    [
        ("--target", "ten"),
        ("--gpu", "Voodoo 2"),
        ("--jetpack", "99"),
        ("--jetpack", "6.1", "--target", "10.3"),
        ("--minShapes=x:1x3",),
        ("--shapes=x:?",),
        ("--suppress", "TF999"),
    ],
)
def test_bad_options_end_with_one_sentence(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", TRANSFORMER, *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 99, b"[V] [TRT] a log\n", None])
def test_what_is_no_model_ends_with_one_sentence(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.onnx"
    if content is not None:
        path.write_bytes(content)
    assert main(["check", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("faulty", "code", "repair"),
    [
        (model(node("Det", "c", "d"), node("Add", "x d", "y"), c=np.eye(3, dtype=np.float32)), "TF170", "fold"),
        (model(node("Shape", "x", "s"), node("Reshape", "x s", "y")), "TF113", "fold"),
        (model(node("Shape", "x", "s"), node("Reshape", "x s", "y", allowzero=1)), "TF110", "reshape"),
    ],
    ids=["operator of constants", "shape left", "allowzero"],
)
def test_a_repair_that_is_proposed_mends_what_it_stands_below(
    faulty: ModelProto, code: str, repair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(faulty, "m.onnx")
    (finding,) = (each for each in tf.check("m.onnx", "10.3").findings if each.code == code)
    command = finding.next_steps[0].command
    assert command == f"trtforensics repair m.onnx --{repair} -o m.repaired.onnx"
    assert main(command.split()[1:]) == 0
    assert code not in {each.code for each in tf.check("m.repaired.onnx", "10.3").findings}


def test_from_python() -> None:
    report = tf.check(TRANSFORMER, "8.4", gpu="8.6", types=["fp16"])
    assert [finding.code for finding in report.findings] == ["TF170", "TF199"]
    with pytest.raises(tf.ForensicsError, match="is no release"):
        tf.check(TRANSFORMER, "eight")


@pytest.mark.slow
def test_two_gigabytes_of_external_data_are_not_loaded(tmp_path: Path) -> None:
    rows = 1 << 18
    whole = model(node("MatMul", "x w", "y"), inputs={"x": (FLOAT, (1, rows))})
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[rows, 1 << 11], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="w.bin")
    whole.graph.initializer.append(tensor)
    save(whole, tmp_path / "model.onnx")
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(4 * rows << 11)
    values = np.memmap(tmp_path / "w.bin", np.float32, "r+")
    values[-1] = 1e6
    values.flush()
    del values
    report = tf.check(tmp_path / "model.onnx", "10.3", types=["fp16"])
    assert "TF176" in {finding.code for finding in report.findings}


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak of memory is read in /proc")
def test_weights_of_2_gib_are_never_held_whole(tmp_path: Path) -> None:
    sizes = [(4096, 4096)] * 16 + [(8192, 8192)] * 4
    large, offset = (
        model(*(node("MatMul", f"x{n} w{n}", f"y{n}", f"/{n}") for n in range(20)), inputs={}, outputs={}),
        0,
    )
    for number, (rows, columns) in enumerate(sizes):
        weights = TensorProto(
            name=f"w{number}", data_type=FLOAT, dims=(rows, columns), data_location=TensorProto.EXTERNAL
        )
        length = 4 * rows * columns
        for key, value in (("location", "w.bin"), ("offset", offset), ("length", length)):
            weights.external_data.add(key=key, value=str(value))
        large.graph.initializer.append(weights)
        large.graph.input.append(helper.make_tensor_value_info(f"x{number}", FLOAT, [4, rows]))
        large.graph.output.append(helper.make_tensor_value_info(f"y{number}", FLOAT, [4, columns]))
        offset += length
    save(large, tmp_path / "m.onnx")
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(offset)
    line = [sys.executable, "-c", PROGRAM, "check", str(tmp_path / "m.onnx"), "--target", "10.3", "--fp16"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert offset == 2 << 30
    assert int(done.stderr.split()[-1]) < 500_000  # KiB
