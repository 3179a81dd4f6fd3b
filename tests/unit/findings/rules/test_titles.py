"""Titles of findings over wordings that print less, or other things, than the usual one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on
from trtforensics.findings.finding import Severity

if TYPE_CHECKING:
    from pathlib import Path

SLOW = "support requested on hardware without native {} support, performance will be negatively affected."


@for_each(
    ("line", "code", "title"),
    [
        (
            (
                "| 0:00:09.3 18243 0xaaaa ERROR nvinfer gstnvinfer.cpp:6:gst_nvinfer_logger:<gie> "
                "NvDsInferContext[UID 1]: Error in f() <a.cpp:60> [UID = 1]: The number of outputs must be 3"
            ),
            "TF931",
            "The number of outputs must be 3",
        ),
        (
            "| post-processor failed because dlsym failed to get func NvDsInferParseYolo  pointer",
            "TF675",
            "The custom library does not export NvDsInferParseYolo",
        ),
        (
            "| AttributeError: 'NoneType' object has no attribute 'create_execution_context'",
            "TF633",
            "The program goes on without an engine, and asks None for create_execution_context",
        ),
        (
            "| CUDA initialization failure with error: 100. Please check your CUDA installation",
            "TF310",
            "CUDA cannot be used here: no CUDA device is seen (error 100)",
        ),
        (
            "| a.cpp:1: getLayer(int) const: Assertion `layerIndex >= 0' failed.",
            "TF135",
            "The network that is built has",
        ),
        (
            (
                "E Error Code 3: API Usage Error (Parameter check failed, condition: satisfyProfile. Set dimension "
                "[1,3,9] for tensor x does not satisfy any optimization profiles. Valid range for "
                "profile 0: [1,3,2]..[1,3,8].)"
            ),
            "TF642",
            "Input x got the shape [1,3,9], and the engine's profile takes [1,3,2]..[1,3,8]",
        ),
        (
            (
                "E Parameter check failed at: engine.cpp::bind::1, condition: profileMaxDims.d[i] >= dimensions.d[i]. "
                "Supplied binding dimension [10,3] for bindings[0] exceed min ~ max range at index 0, maximum "
                "dimension in profile is 4, minimum dimension in profile is 1, but supplied dimension is 10."
            ),
            "TF642",
            "Input 0 got the shape [10,3]: 10 where the engine's profile takes 1 to 4",
        ),
        (
            (
                "W - 178 weights are affected by this issue: Detected subnormal FP16 values.\n"
                "W - 1 weights are affected by this issue: Detected finite FP32 values which would overflow in FP16"
            ),
            "TF208",
            "1 weight tensor holds values too large for FP16",
        ),
        (
            (
                "| 2021-05-25 09:13:26 [E:onnxruntime:Default, tensorrt_execution_provider.h:51 log] "
                "[2021-05-25 09:13:26   ERROR] INVALID_ARGUMENT: getPluginCreator could not find plugin "
                "OneHot version 1"
            ),
            "TF101",
            "TensorRT does not run OneHot; ONNX Runtime gives it to another provider",
        ),
        (
            (
                "| [W] Input tensor: x [shape=['A', 3]] | Cannot use provided custom shape: (4, 5) to override tensor "
                "shape. Will use default shape instead."
            ),
            "TF403",
            "x does not run at the shape given, (4, 5): the model fixes another",
        ),
        (
            "W TensorRT was linked against cuDNN 8.6.0 but loaded cuDNN 8.4.1\n" * 2,
            "TF416",
            "TensorRT was built with cuDNN 8.6.0, and the process loaded cuDNN 8.4.1",
        ),
        (
            (
                "E 2: [m.cpp::op::425] Error Code 2: Internal Error ([HostToDeviceCopy] requires bool I/O but node "
                "can not be handled by Myelin. Operation is not supported.)"
            ),
            "TF308",
            "A HostToDeviceCopy of a Bool tensor is needed, and Myelin cannot take it",
        ),
        (
            (
                "W Timing cache disabled. Turning it on will improve builder speed.\n"
                "W Disabling tactic timing cache because algorithm selector is enabled."
            ),
            "TF502",
            "Timings of this build are not kept for the next one: an algorithm selector switches the timing cache off",
        ),
        (
            '| [8] Assertion failed: scales.is_weights() && "Resize scales must be an initializer!"',
            "TF140",
            "Input Resize scales of a node has to be constant, and is computed in the graph",
        ),
        (
            (
                "| [TensorRT] ERROR: Internal error: plugin node (Unnamed Layer* 6) [PluginV2DynamicExt]requires 13 "
                "bytes of scratch space, but only 5 is available. Try increasing the workspace size"
            ),
            "TF327",
            "(Unnamed Layer* 6) [PluginV2DynamicExt] wants 13 bytes of scratch memory, and 5 are there",
        ),
        (
            "E fc: last dimension of input0 = 85 and last dimension of input1 = 64 but must match.",
            "TF103",
            "The inner dimensions of a matrix product are 85 and 64",
        ),
        (
            "E 7: Error Code 7: Internal Error (fc: attempt to multiply two matrices with mismatching dimensions",
            "TF103",
            "The inner dimensions of a matrix product differ",
        ),
        (
            "E IMatrixMultiplyLayer must have same input types. `A` is of type Float and `B` is of type Half.",
            "TF102",
            "IMatrixMultiplyLayer gets Float and Half",
        ),
        (
            "E Specified optimization profiles must satisfy MIN<=OPT<=MAX.\nE Max value of this profile is not valid",
            "TF402",
            "An optimisation profile is not MIN <= OPT <= MAX",
        ),
        ("| condition: profile->isValid()", "TF402", "An optimisation profile is not MIN <= OPT <= MAX"),
        ("| [E]     FAILED | Difference exceeds tolerance (rel=0.1, abs=0.1)", "TF216", "An output differs"),
        (
            "| [!] fp16 in CreateConfig is not available on TensorRT version 11.2.1.2.",
            "TF668",
            "This TensorRT has no fp16 (CreateConfig)",
        ),
        (
            "| a.cpp:3: error: 'kFP16' is not a member of 'nvinfer1::BuilderFlag'",
            "TF668",
            "This TensorRT has no kFP16 (nvinfer1::BuilderFlag)",
        ),
        (
            "| failed for 'a': configuration specified max-batch 8 but TensorRT engine only supports max-batch 1",
            "TF646",
            "The engine has batch size 1, and 8 is asked for",
        ),
        (
            "E 9: Error Code 9: API Usage Error (Networks with FP8 Q/DQ layers require hardware with FP8 support.)",
            "TF316",
            "This GPU cannot compute in FP8",
        ),
        (
            "E ../rtSafe/cuda/caskUtils.cpp (98) - Assertion Error in trtSmToCask: 0 (Unsupported SM.)",
            "TF311",
            "This TensorRT does not know the GPU's compute capability",
        ),
        ("| [E] Unrecognized Options: ['--foo']", "TF413", "Polygraphy does not know '--foo'"),
        (
            "E Could not load library libnvonnxparser.so.8: it is not there",
            "TF410",
            "The library libnvonnxparser.so.8 cannot be loaded",
        ),
        (
            f"W Int8 {SLOW.format('Int8')}",
            "TF209",
            "This GPU has no fast INT8",
        ),
    ],
)
def test_a_wording_gets_the_title_of_what_it_prints(line: str, code: str, title: str, tmp_path: Path) -> None:
    (finding,) = of_code(report_on(marked(line).text, tmp_path), code)
    assert finding.title.startswith(title)


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("W Profile kMAX values are not self-consistent. IShuffleLayer node_a: odd", Severity.WARNING),
        (
            "E 4: Error Code 4: Internal Error (kMAX values for profile 0 violate shape constraints: odd)",
            Severity.ERROR,
        ),
    ],
)
def test_a_profile_that_only_warns_is_a_warning(line: str, severity: Severity, tmp_path: Path) -> None:
    (finding,) = of_code(report_on(marked(line).text, tmp_path), "TF422")
    assert finding.severity is severity


def test_a_tensorrt_that_does_not_know_the_gpu_does_not_know_that_it_is_slow(tmp_path: Path) -> None:
    slow = f"W Half2 {SLOW.format('FP16')}"
    assert [found.code for found in report_on(marked(slow).text, tmp_path).findings].count("TF209") == 1
    unknown = f"{slow}\nE caskUtils.cpp (98) - Assertion Error in trtSmToCask: 0 (Unsupported SM.)"
    assert of_code(report_on(marked(unknown).text, tmp_path), "TF209") == []


@pytest.mark.parametrize(
    ("library", "codes"),
    [("libcudnn_cnn_infer.so.8. Error: odd", ["TF410"]), ("libmmdeploy_tensorrt_ops.so", ["TF685"])],
)
def test_only_a_library_of_ops_is_a_library_of_plugins(library: str, codes: list[str], tmp_path: Path) -> None:
    report = report_on(marked(f"&& 8.6.1 --fp16\n| Could not load library {library}").text, tmp_path)
    assert [found.code for found in report.findings if found.code in {"TF410", "TF685"}] == codes


@pytest.mark.parametrize(
    ("lines", "code", "says", "silent"),
    [
        (
            "E 1: [caskUtils.cpp::trtSmToCask::147] Error Code 1: Internal Error (Unsupported SM: 0x809)",
            "TF311",
            "Ada GPUs of compute capability 8.9 are supported by TensorRT from 8.5 on.",
            "",
        ),
        (
            "E Error Code 9: API Usage Error (Target GPU SM 87 is not supported by this TensorRT release.)",
            "TF311",
            "by TensorRT for Jetson (JetPack) from 8.4 to 10.7, in 10.16 and from 11.4.1 on",
            "",
        ),
        (
            "| torch_tensorrt: ImportError: libtorch_cuda_cu.so: cannot open shared object file: No such file",
            "TF410",
            "The library is PyTorch's",
            "",
        ),
        (
            "E 3: getPluginCreator could not find plugin OneHot version 1",
            "TF101",
            "imported by TensorRT from 8.5 on",
            "TF609",
        ),
        (
            (
                "E leaky_1: ActivationLayer (with ActivationType = LEAKY_RELU) not supported for DLA.\n"
                "W Default DLA is enabled but layer leaky_1 is not supported on DLA, falling back to GPU."
            ),
            "TF412",
            "falls back to the GPU",
            "TF913",
        ),
    ],
)
def test_it_says_what_the_tables_know_and_no_general_rule_stands_beside_it(
    lines: str, code: str, says: str, silent: str, tmp_path: Path
) -> None:
    report = report_on(marked(lines + "\n").text, tmp_path)
    assert all(says in finding.cause for finding in of_code(report, code))
    assert of_code(report, code)
    assert not of_code(report, silent)


def test_impossible_shapes_of_a_profile_are_the_root_of_the_shapes_that_do_not_fit(tmp_path: Path) -> None:
    line = (
        "E Error Code 4: Internal Error (kOPT values for profile 0 violate shape constraints: broadcast with "
        "incompatible dimensions. Add_1: dimensions not compatible for elementwise)"
    )
    findings = report_on(marked(line + "\n").text, tmp_path).findings
    assert next(finding.code for finding in findings if finding.consequence_of is None) == "TF422"
    assert [finding.consequence_of for finding in findings if finding.code == "TF141"] == [0]


def test_a_calibration_table_without_int8_does_nothing(tmp_path: Path) -> None:
    log = "&&&& RUNNING TensorRT.trtexec [TensorRT v8401] # trtexec --onnx=a.onnx --calib=a.cache"
    titles = ["--calib does nothing without --int8"]
    assert [finding.title for finding in of_code(report_on(f"{log}\n", tmp_path), "TF418")] == titles
    assert of_code(report_on(f"{log} --int8\n", tmp_path), "TF418") == []


def test_commands_leave_out_what_does_nothing_beside_a_loaded_engine(tmp_path: Path) -> None:
    command = "# trtexec --loadEngine=a.plan --profilingVerbosity=detailed --timingCacheFile=a.cache"
    log = f"&&&& RUNNING TensorRT.trtexec [TensorRT v8601] {command}\n[I] Engine loaded in 0.1 sec.\n"
    log += f"&&&& PASSED TensorRT.trtexec [TensorRT v8601] {command}\n"
    (finding,) = of_code(report_on(log, tmp_path), "TF705")
    assert [step.command for step in finding.next_steps] == [
        "trtexec --loadEngine=a.plan --dumpLayerInfo > again.log 2>&1"
    ]


def test_commands_write_here_where_the_folder_took_no_file(tmp_path: Path) -> None:
    command = "# trtexec --onnx=a.onnx --saveEngine=/x/a.plan --builderOptimizationLevel=0"
    log = (
        f"&&&& RUNNING TensorRT.trtexec [TensorRT v100900] {command}\n[I] === Build Options ===\n"
        "[I] BuilderOptimizationLevel: 0\n"
        f"[E] Cannot write to FileStreamWriter\n&&&& FAILED TensorRT.trtexec [TensorRT v100900] {command}\n"
    )
    (finding,) = of_code(report_on(log, tmp_path), "TF446")
    assert [step.command for step in finding.next_steps] == ["trtexec --onnx=a.onnx --saveEngine=a.again.plan"]


def test_a_program_of_8_0_that_gives_no_timing_cache_has_none_refused(tmp_path: Path) -> None:
    said = "Detected invalid timing cache, setup a local cache instead"
    log = f"[TensorRT] INFO: TensorRT version: {{}}\n[TensorRT] WARNING: {said}\n"
    old, new = (report_on(log.format(version), tmp_path) for version in ("8.0.1", "8.4.1"))
    assert [len(of_code(report, code)) for report in (old, new) for code in ("TF502", "TF503")] == [1, 0, 0, 1]
    assert of_code(new, "TF503")[0].severity is Severity.NOTE


def test_a_message_with_a_name_that_its_title_lacks_stands_below_it(tmp_path: Path) -> None:
    named = "| libmauve.so.3: cannot allocate memory in static TLS block"
    (finding,) = of_code(report_on(marked(named).text, tmp_path), "TF470")
    assert "libmauve" not in finding.title
    assert finding.message == named.removeprefix("| ")
