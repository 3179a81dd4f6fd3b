"""What the ONNX parser's lines say of a node: operator, tensors, layers."""

from __future__ import annotations

import numpy as np

from trtforensics.model.span import SourceInfo
from trtforensics.parsers.builds.onnx_nodes import onnx_nodes
from trtforensics.parsers.builds.views import Log, Spans
from trtforensics.parsers.lines.scanner import Scanner
from trtforensics.parsers.text.windows import Window

_PREFIX = "[07/02/2026-03:31:59] [TRT] [V] "


def _log(scanner: Scanner) -> Log:
    source = SourceInfo("log", 0, scanner.scanned.counts.total, "")
    return Log(scanner.scanned.events, np.array([1, source.lines + 1]), Spans(source, scanner.scanned.line_starts))


def _nodes(*bodies: str) -> list[tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    scanner = Scanner()
    scanner.feed(Window(1, 0, "".join(f"{_PREFIX}{body}\n" for body in bodies).encode()))
    (found,) = onnx_nodes(_log(scanner))
    return [(n.name, n.op, n.layers, n.inputs, n.outputs) for n in found]


def test_a_node_has_its_tensors_and_the_layers_registered_for_it() -> None:
    assert _nodes(
        "Parsing node: conv1 [Conv]",
        "Searching for input: x",
        "conv1 [Conv] inputs: [x -> (-1, 1, 28, 28)[FLOAT]], [w -> (32, 1, 5, 5)[FLOAT]], [b -> (32)[FLOAT]], ",
        "Registering layer: conv1 for ONNX node: conv1",
        "Registering layer: ONNXTRT_Broadcast required by ONNX-TRT",
        "conv1 [Conv] outputs: [y -> (-1, 32, 28, 28)[FLOAT]], ",
    ) == [("conv1", "Conv", ("conv1", "ONNXTRT_Broadcast"), ("x", "w", "b"), ("y",))]


def test_absent_inputs_scalars_and_names_with_brackets_are_told_apart() -> None:
    assert _nodes(
        "Parsing node: r [Resize]",
        "r [Resize] inputs: [a[0] -> ()[INT32]], [optional input, not set], [c -> (2)[FLOAT]]",
    ) == [("r", "Resize", (), ("a[0]", "c"), ())]


def test_what_stands_before_the_first_node_belongs_to_none() -> None:
    assert _nodes("Registering layer: constant for ONNX node: constant", "Parsing node:  [Relu]") == [
        ("", "Relu", (), (), ())
    ]


def test_a_tensor_has_the_type_that_the_parser_prints() -> None:
    scanner = Scanner()
    lines = ("Parsing node: pow [Pow]", "pow [Pow] inputs: [x -> (2, 4)[HALF]], [two[0] -> ()[FLOAT]], ")
    scanner.feed(Window(1, 0, "".join(f"{_PREFIX}{line}\n" for line in lines).encode()))
    ((node,),) = onnx_nodes(_log(scanner))
    assert (node.inputs, node.input_types) == (("x", "two[0]"), ("HALF", "FLOAT"))
