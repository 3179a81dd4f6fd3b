"""What findings say of releases that are older or newer than the log's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on

if TYPE_CHECKING:
    from pathlib import Path

TARGET = "E Error Code 9: API Usage Error (Target GPU SM {} is not supported by this TensorRT release.)"
UNKNOWN = "E 1: [caskUtils.cpp::trtSmToCask::147] Error Code 1: Internal Error (Unsupported SM: 0x{:x})"


def begin(version: int) -> str:
    return f"| &&&& RUNNING TensorRT.trtexec [TensorRT v{version}] # trtexec --onnx=m.onnx --verbose\n"


@for_each(
    ("version", "line", "bounds"),
    [
        (101300, TARGET.format(61), "Pascal GPUs of compute capability 6.1 are supported by TensorRT up to 8.6"),
        (
            100700,
            TARGET.format(120),
            "Blackwell GPUs of compute capability 12.0 are supported by TensorRT from 10.8 on",
        ),
        (8401, UNKNOWN.format(0x809), "Ada GPUs of compute capability 8.9 are supported by TensorRT from 8.5 on"),
        (9200, TARGET.format(61), ""),
        (110000, TARGET.format(103), ""),
        (8401, UNKNOWN.format(0x6309), ""),
        (101300, TARGET.format(89), ""),
    ],
)
def test_a_gpu_that_is_not_supported_names_the_direction(version: int, line: str, bounds: str, tmp_path: Path) -> None:
    (found,) = of_code(report_on(marked(begin(version) + line).text, tmp_path), "TF311")
    if bounds:
        assert found.cause.startswith(f"{bounds}, and this is TensorRT {str(version)[0]}")
    else:
        assert "compute capability" not in found.cause


def failure(op: str) -> str:
    return f"""E ModelImporter.cpp:140: While parsing node number 1 [{op} -> "y"]:
    E ModelImporter.cpp:151: ERROR: onnxOpCheckers.cpp:998 In function checkFallbackPluginImporter:
    | [6] creator && "Plugin not found, are the plugin name, version, and namespace correct?"
    """


@for_each(
    ("version", "op", "since"),
    [
        (8003, "Einsum", "8.2"),
        (8401, "GridSample", "8.5"),
        (8205, "NonZero", "8.5"),
        (101300, "Attention", "10.14"),
        (101300, "Einsum", ""),
        (101300, "Unique", ""),
        (101300, "MyOperator", ""),
        (9100, "TopkLastDim", "11.0"),
    ],
)
def test_an_operator_of_a_later_release_names_it(version: int, op: str, since: str, tmp_path: Path) -> None:
    (found,) = of_code(report_on(marked(begin(version) + failure(op)).text, tmp_path), "TF101")
    assert f"from {since} on" in found.cause if since else ("on, and this is" not in found.cause)


def test_a_plugin_that_is_gone_names_what_takes_its_place(tmp_path: Path) -> None:
    (found,) = of_code(report_on(marked(begin(110100) + failure("BatchedNMS_TRT")).text, tmp_path), "TF101")
    assert "up to 10.16, and this is TensorRT 11.1" in found.cause
    assert "EfficientNMS_TRT in its place. Or: Go back to TensorRT 10.16 or earlier." in found.fixes[0]
    (found,) = of_code(report_on(marked(begin(101600) + failure("BatchedNMS_TRT")).text, tmp_path), "TF101")
    assert "libnvinfer_plugin" in found.fixes[0]


@pytest.mark.parametrize(
    ("version", "name", "codes"),
    [
        (101300, "num_bindings", {"TF659"}),
        (101300, "add_attention", {"TF667"}),
        (101300, "get_output_datatypes", {"TF659"}),
        (9100, "get_output_datatypes", {"TF667"}),
        (101300, "reallocate_output", {"TF428"}),
    ],
)
def test_a_name_is_of_an_older_or_a_newer_release_never_of_both(
    version: int, name: str, codes: set[str], tmp_path: Path
) -> None:
    line = f"| AttributeError: 'tensorrt.tensorrt.IThing' object has no attribute '{name}'"
    found = report_on(marked(begin(version) + line).text, tmp_path).findings
    assert {each.code for each in found} & {"TF428", "TF659", "TF667"} == codes


def test_a_status_of_a_library_is_told_by_its_number(tmp_path: Path) -> None:
    line = "E Cublas Error in execute: 13 (odd)"
    (found,) = of_code(report_on(marked(begin(8601) + line).text, tmp_path), "TF624")
    assert "a kernel failed to launch or crashed" in found.title


@pytest.mark.parametrize(("opset", "told"), [(17, True), (18, False)])
def test_an_operator_that_is_newer_than_the_models_set_is_its_exporters(opset: int, told: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a column
    rule, node = "-" * 64, "[8] No importer registered for op: Mish"
    header = f"Input filename:   warp.onnx\nONNX IR version:  0.0.4\nOpset version:    {opset}\nProducer name:    maker"
    text = f"{rule}\n{header}\n{rule}\nParsing model\nERROR: /src/ModelImporter.cpp:13 In function parse:\n{node}\n"
    (found,) = of_code(report_on(text, tmp_path), "TF150")
    assert ("from set 18 on" in found.cause) is told
