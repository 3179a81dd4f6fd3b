"""A file of another kind is named for what it is; a damaged one of the right kind keeps its reader's sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest
from onnx import TensorProto, helper

from tests.support.for_each import for_each
from tests.support.repository import ROOT
from trtforensics.errors import (
    ForensicsError,
    NotABuildLogError,
    NotAnOnnxModelError,
    NotAReplayError,
    NotATimingCacheError,
    NotEngineInfoError,
    SourceError,
)
from trtforensics.sources.strangers import named

if TYPE_CHECKING:
    from pathlib import Path

REPLAY = (ROOT / "testdata" / "replays" / "edited.json").read_bytes()
LAYERS = b'{"Layers": [], "Bindings": []}'
READERS = (NotABuildLogError, NotAReplayError, NotEngineInfoError, NotATimingCacheError)


def failure(kind: type[ForensicsError], path: Path, data: bytes) -> ForensicsError:
    path.write_bytes(data)
    return named(kind(f"{path}:3:14", "is none", "Give one"))


@for_each("kind", READERS)
@for_each(
    ("data", "what"),
    [
        (b"\x89PNG\r\n", "is a picture (PNG)"),
        (b"\xff\xd8\xff\xe0", "is a picture (JPEG)"),
        (b"ftrt" + bytes(20) + bytes((8, 6, 1, 6)), "is an engine, built by TensorRT 8.6.1, of 28 bytes"),
        (b"vtrt" + bytes(20) + bytes((1, 3, 0, 35)), "is an engine, built by TensorRT-RTX 1.3.0, of 28 bytes"),
        (b"ftrt", "is an engine, built by an unknown version of TensorRT, of 4 bytes"),
        (b"ftrt" + b"h" * 24, "is an engine, built by an unknown version of TensorRT, of 28 bytes"),
        (b"ptrt" + bytes(8), "is a timing cache in TensorRT's own form"),
        (b"  <HTML>", "is a web page"),
    ],
)
def test_a_binary_file_is_named_whatever_was_expected(
    tmp_path: Path, kind: type[ForensicsError], data: bytes, what: str
) -> None:
    found = failure(kind, tmp_path / "file", data)
    assert (type(found), found.where, found.what) == (kind, str(tmp_path / "file"), what)
    assert found.next_step != "Give one"


@pytest.mark.parametrize("ir_version", [3, 8, 10, 13])
def test_an_onnx_model_is_named(tmp_path: Path, ir_version: int) -> None:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [value], [value])
    model = helper.make_model(graph, ir_version=ir_version)
    onnx.save(model, tmp_path / "model.onnx")
    assert failure(NotABuildLogError, tmp_path / "f", model.SerializeToString()).what == "is an ONNX model"
    model.producer_name = "pytorch"
    assert failure(NotABuildLogError, tmp_path / "f", model.SerializeToString()).what == "is an ONNX model"


@for_each(
    ("kind", "data", "what"),
    [
        (NotABuildLogError, REPLAY, "is a tactic replay"),
        (NotATimingCacheError, REPLAY, "is a tactic replay"),
        (NotABuildLogError, LAYERS, "is the layers of an engine (--exportLayerInfo)"),
        (NotAReplayError, REPLAY, "is none"),
        (NotAReplayError, LAYERS, "is none"),
        (NotEngineInfoError, LAYERS, "is none"),
        (NotABuildLogError, b"a text", "is none"),
        (NotAnOnnxModelError, b"a text", "is none"),
        (NotAnOnnxModelError, b"\x08\x08\x12\x02ab", "is none"),
        (NotAReplayError, b'{"a": 1}', "is none"),
        (SourceError, REPLAY, "is none"),
    ],
)
def test_what_its_reader_names_or_finds_damaged_is_left(
    tmp_path: Path, kind: type[ForensicsError], data: bytes, what: str
) -> None:
    found = failure(kind, tmp_path / "file", data)
    assert found.what == what
    assert (found.next_step == "Give one") == (what == "is none")


@pytest.mark.parametrize(
    ("kind", "data", "what"),
    [
        (NotABuildLogError, b'{"a": 1}', "is JSON of a form that is not known here"),
        (NotABuildLogError, b" [[1]]", "is JSON of a form that is not known here"),
        (NotAnOnnxModelError, b"PK\x03\x04", "is a ZIP archive, as PyTorch's checkpoints are, not an ONNX model"),
        (NotAnOnnxModelError, REPLAY, "is a tactic replay, not an ONNX model"),
    ],
)
def test_a_file_is_named_and_the_command_says_what_it_takes(
    tmp_path: Path, kind: type[ForensicsError], data: bytes, what: str
) -> None:
    found = failure(kind, tmp_path / "file", data)
    assert (type(found), found.what, found.next_step) == (kind, what, "Give one")


def test_what_is_no_file_is_left(tmp_path: Path) -> None:
    gone = NotABuildLogError(str(tmp_path), "is none", "Give one")
    assert named(gone) is gone
