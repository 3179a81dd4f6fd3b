"""Two engines of one model with all their files, which differ in fusions, types, tactics and times."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_HALF, _FLOAT = "Channel major FP16 format where channel % 8 == 0", "Row major linear FP32"
_INT8 = "Thirty-two wide channel vectorized row major Int8 format"
Row = tuple[str, str, str, str, str, tuple[int, ...], str, float]
"""Name, type, kind of its parameters, what it reads and writes, dimensions and form of the output, and time in ms."""

FAST: Sequence[Row] = (
    ("/stem/conv/Conv + /stem/act/Relu", "CaskConvolution", "Convolution", "x", "s1", (1, 32, 56, 56), _HALF, 0.31),
    ("/stem/pool/MaxPool", "CaskPooling", "Pooling", "s1", "s2", (1, 32, 28, 28), _HALF, 0.055),
    ("/body/a/Conv + /body/a/act/Relu", "CaskConvolution", "Convolution", "s2", "b1", (1, 64, 28, 28), _INT8, 0.125),
    ("/body/b/Conv + /body/add/Add", "CaskConvolution", "Convolution", "b1", "b2", (1, 64, 28, 28), _INT8, 0.124),
    (
        "Reformatting CopyNode for Input Tensor 0 to /head/fc/MatMul",
        "Reformat",
        "",
        "b2",
        "b3",
        (1, 64, 28, 28),
        _HALF,
        0.02,
    ),
    ("{ForeignNode[/head/norm/Sub.../head/norm/Div]}", "Myelin", "", "b3", "h1", (1, 64, 28, 28), _HALF, 0.2),
    ("/head/fc/MatMul", "CaskGemmMatrixMultiply", "MatrixMultiply", "h1", "y", (1, 10), _FLOAT, 0.0125),
)
SLOW: Sequence[Row] = (
    ("/stem/conv/Conv", "CaskConvolution", "Convolution", "x", "s0", (1, 32, 56, 56), _FLOAT, 0.42),
    ("PWN(/stem/act/Relu)", "PointWiseV2", "PointWise", "s0", "s1", (1, 32, 56, 56), _FLOAT, 0.09),
    ("/stem/pool/MaxPool", "CaskPooling", "Pooling", "s1", "s2", (1, 32, 28, 28), _FLOAT, 0.054),
    ("/body/a/Conv + /body/a/act/Relu", "CaskConvolution", "Convolution", "s2", "b1", (1, 64, 28, 28), _HALF, 0.2),
    ("/body/b/Conv + /body/add/Add", "CaskConvolution", "Convolution", "b1", "b2", (1, 64, 28, 28), _HALF, 0.19),
    ("{ForeignNode[/head/norm/Sub.../head/norm/Div]}", "Myelin", "", "b2", "h1", (1, 64, 28, 28), _HALF, 0.201),
    ("/head/fc/MatMul", "CaskGemmMatrixMultiply", "MatrixMultiply", "h1", "y", (1, 10), _FLOAT, 0.01),
)


def write_pair(folder: Path) -> None:
    """Write layers, profile and times of both engines."""
    for name, rows, step in (("fast", FAST, 0), ("slow", SLOW, 7)):
        files = {"layers": _layers(rows, step), "profile": list(_profile(rows)), "times": list(_times(rows))}
        for kind, content in files.items():
            (folder / f"{name}.{kind}.json").write_text(json.dumps(content, indent=1))


def _layers(rows: Sequence[Row], step: int) -> dict[str, Any]:
    form_of = {"x": _FLOAT} | {row[4]: row[6] for row in rows}
    size_of: dict[str, tuple[int, ...]] = {"x": (1, 3, 112, 112)} | {row[4]: row[5] for row in rows}

    def tensor(name: str) -> dict[str, Any]:
        facts = {"Location": "Device", "Dimensions": [*size_of[name]], "Format/Datatype": form_of[name]}
        return {"Name": name, **facts}

    layers = []
    for number, (name, kind, parameters, reads, writes, *_) in enumerate(rows):
        nodes = [part.strip(" {}[]") for part in name.removeprefix("PWN").replace("...", " + ").strip("()").split("+")]
        layer: dict[str, Any] = {
            "Name": name,
            "LayerType": kind,
            "Inputs": [tensor(reads)],
            "Outputs": [tensor(writes)],
        }
        if parameters:
            layer["ParameterType"] = parameters
        if parameters == "Convolution":
            layer |= {"Kernel": [3, 3], "OutMaps": 64, "Groups": 1, "Weights": {"Type": "Half", "Count": 9216}}
        layer |= {"TacticValue": f"0x{0x1000 + 16 * number + step:016x}", "StreamId": int(number == 1)}
        layer["Metadata"] = "\x1e".join(f"[ONNX Layer: {node.removeprefix('ForeignNode[')}]" for node in nodes)
        layers.append(layer)
    return {"Layers": layers, "Bindings": ["x", "y"]}


def _profile(rows: Sequence[Row]) -> Iterator[Mapping[str, Any]]:
    yield {"count": 200}
    total = sum(row[-1] for row in rows)
    for row in rows:
        ms = row[-1]
        times = {"timeMs": round(200 * ms, 4), "averageMs": ms, "medianMs": round(0.98 * ms, 5)}
        yield {"name": row[0], **times, "percentage": round(100 * ms / total, 2)}


def _times(rows: Sequence[Row]) -> Iterator[Mapping[str, float]]:
    at, ms = 10.0, sum(row[-1] for row in rows)
    for number in range(60):
        compute = round(ms * (1 + 0.01 * (number % 5) + (0.5 if number == 37 else 0)), 4)
        ends = [at, at + 0.01, at + 0.08, at + 0.08 + compute, at + 0.09 + compute, at + 0.12 + compute]
        names = ("startH2dMs", "endH2dMs", "startComputeMs", "endComputeMs", "startD2hMs", "endD2hMs")
        spans = {name: round(end, 4) for name, end in zip(names, ends, strict=True)}
        lasts = {"startEnqMs": spans["endH2dMs"], "endEnqMs": round(at + 0.03, 4), "enqMs": 0.02}
        parts = {"h2dMs": 0.01, "computeMs": compute, "d2hMs": 0.03, "latencyMs": round(0.04 + compute, 4)}
        yield {**spans, **lasts, **parts}
        at += 0.2 + compute
