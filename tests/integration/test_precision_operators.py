"""Models with custom operators: which are unknown, and how a library of them reaches ONNX Runtime."""

from __future__ import annotations

import ctypes.util
from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import TensorProto, helper

from tests.integration import precision_nets as nets
from trtforensics.cli import main

if TYPE_CHECKING:
    from pathlib import Path

runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def bisect(folder: Path, model: onnx.ModelProto, *options: str) -> int:
    onnx.save(model, folder / "model.onnx")
    arguments = [str(folder / "model.onnx"), "--artifacts-dir", str(folder / "out"), "--quiet", "--build", "none"]
    return main(["bisect", "precision", *arguments, *options])


@pytest.mark.parametrize("domain", ["my.operators", "com.microsoft"])
def test_an_operator_that_is_not_registered_is_named(
    domain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xhy"]
    nodes = [helper.make_node("Mine", ["x"], ["h"], domain=domain), helper.make_node("Exp", ["h"], ["y"])]
    graph = helper.make_graph(nodes, "custom", values[:1], values[2:], value_info=values[1:2])
    versions = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    assert bisect(tmp_path, helper.make_model(graph, opset_imports=versions, ir_version=9)) == 2
    said = capsys.readouterr().err
    assert f"has the operator {domain}.Mine, which ONNX Runtime does not know. Give the library" in said
    assert "--custom-ops LIBRARY" in said
    assert not (tmp_path / "out").exists()


def test_what_is_no_library_of_operators_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.so").write_text("no library")
    system = ctypes.util.find_library("m")
    for library in filter(None, [str(tmp_path / "none.so"), str(tmp_path / "text.so"), system]):
        assert bisect(tmp_path, nets.either(), "--custom-ops", library) == 2
        assert f"--custom-ops: {library} is no library of operators for ONNX Runtime: " in capsys.readouterr().err
        assert not (tmp_path / "out").exists()


def test_libraries_are_registered_with_every_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[str] = []

    def register(_options: object, library: str) -> None:
        registered.append(library)

    monkeypatch.setattr(runtime.SessionOptions, "register_custom_ops_library", register)
    libraries = [tmp_path / "one.so", tmp_path / "other.so"]
    for library in libraries:
        library.write_bytes(b"")
    options = [word for library in libraries for word in ("--custom-ops", str(library))]
    assert bisect(tmp_path, nets.either(), *options) == 0
    assert registered[:2] == [str(library) for library in libraries]
    assert registered == registered[:2] * (len(registered) // 2)
    assert len(registered) >= 2 * 3
