"""GPUs that cannot be used: no device, an old driver, an unsupported architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule, said
from trtforensics.model.log import Outcome, Tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@rule(
    "TF310",
    Severity.ERROR,
    "No GPU, or a driver too old",
    cause="CUDA could not be used: there is no GPU, or the driver is older than the CUDA runtime that TensorRT brings.",
    confirm="nvidia-smi prints the driver and the CUDA version it can run.",
    fixes=("Update the driver, or run in a container whose CUDA the driver knows.",),
    sources=("TensorRT-RTX 1.7.1 logs on a machine without GPU", "trtexec's source"),
)
def no_gpu(case: Case) -> Iterator[Observation]:
    """Report the errors; only a note where TensorRT-RTX continues, as it does in every build without a GPU."""
    notes = case.notes("driver_old", "no_device", "cuda_failed")
    passing = {note.span.line for note in case.notes("driver_benign")}
    rtx = case.build.tool is Tool.TENSORRT_RTX and case.build.outcome is Outcome.PASSED
    benign = rtx or all(note.span.line in passing for note in notes)
    hindrance = " (TensorRT-RTX builds nevertheless)" if benign else ""
    title = f"CUDA cannot be used here: no GPU, or too old a driver{hindrance}"
    yield from observe(notes, title, severity=Severity.NOTE if benign else None, same_as="driver")


@rule(
    "TF311",
    Severity.ERROR,
    "This TensorRT does not know the GPU",
    cause="Each TensorRT release supports a range of GPUs; older ones are dropped, newer ones are unknown.",
    confirm="Compare the SM with the support matrix of the release.",
    fixes=("Use a release that supports the GPU: a newer TensorRT for a newer GPU, an older one for an older GPU.",),
    sources=("NVIDIA/TensorRT#4359", "error lines of 8.2 on GPUs of compute capability 8.9"),
)
def unknown_gpu(case: Case) -> Iterator[Observation]:
    """Name the GPU's SM version."""
    yield from observe(case.notes("target_sm"), "This TensorRT does not support SM {names}", names="sm")
    notes = case.notes("sm_unknown")
    known = listed(list(dict.fromkeys(_capability(note.text("sm")) for note in notes if note.text("sm"))))
    what = f"compute capability {known}" if known else "the GPU's compute capability"
    yield from observe(notes, f"This TensorRT does not know {what}", same_as="unknown SM")


kernel_gpu = said(
    "TF348",
    Severity.ERROR,
    "A kernel of TensorRT-LLM is not made for this GPU",
    kinds=("kernel_architecture",),
    cause="The fused attention (fmhaRunner.cpp) and the quantised kernels exist for compute capability 8.0 and later "
    "only, or TensorRT-LLM was compiled for other GPUs than this one.",
    confirm="nvidia-smi --query-gpu=name,compute_cap --format=csv; the source file that the message names.",
    fixes=(
        "Leave the fused context attention off (trtllm-build --context_fmha disable; older: no --enable_context_fmha).",
        "Or compile TensorRT-LLM for the GPU (--cuda_architectures), or take a GPU of compute capability 8.0 or later.",
    ),
    settle="The source file behind the assertion: fmhaRunner.cpp is the fused attention.",
    sources=("fmhaRunner.cpp and cutlass_preprocessors.cpp of TensorRT-LLM; NVIDIA/TensorRT-LLM#320, #1515, #95",),
)

no_type = said(
    "TF316",
    Severity.ERROR,
    "This GPU cannot compute in the type of the quantised layers",
    kinds=("type_unsupported",),
    says="This GPU cannot compute in {type}",
    cause="The model has QuantizeLinear and DequantizeLinear of a type that the GPU does not have. INT8 is missing "
    "from compute capability 6.0 (P100), 6.2 (TX2) and 5.x, FP8 from all before 8.9 (Ampere and Jetson Orin, say).",
    confirm="The compute capability (nvidia-smi --query-gpu=compute_cap --format=csv) in the release's support matrix.",
    fixes=(
        "Use a GPU with the type (INT8: Turing or later; FP8: Ada, Hopper or later).",
        "Or quantise the model to a type that this GPU has, or leave QuantizeLinear and DequantizeLinear out.",
    ),
    sources=(
        "standardEngineBuilder.cpp of 8.x; NVIDIA/TensorRT#3157",
        "IBuilder::buildSerializedNetwork of 10.x (FP8)",
    ),
)

no_runner = said(
    "TF347",
    Severity.ERROR,
    "This TensorRT has no implementation of a layer",
    kinds=("runner_missing",),
    says="This TensorRT has no implementation of {layer}",
    cause="The network may hold the layer, and nothing in this release runs it: the operator is missing in this "
    "product (TensorRT-RTX has fewer than TensorRT), or has no kernels for the types or the target.",
    confirm="The release notes and the list of supported operators of the product and version.",
    fixes=(
        "Use a release that has the operator: TensorRT in place of TensorRT-RTX, or a later TensorRT-RTX.",
        "Replace the operator in the model, or add a plugin for it.",
    ),
    sources=("tacticSupply.cpp of TensorRT-RTX 1.5; NVIDIA/TensorRT-RTX#36",),
)


def _capability(code: str) -> str:
    """Return the compute capability of ``Unsupported SM: 0x809``: 8.9."""
    return f"{int(code, 16) >> 8}.{int(code, 16) & 0xFF}"


@rule(
    "TF312",
    Severity.ERROR,
    "An operation cannot be compiled for Turing",
    cause="TensorRT-RTX has no FP32 matrix product for SM75.",
    confirm="The message names the operation.",
    fixes=("Leave SM75 out of the compute capabilities, or convert the operation to FP16.",),
    sources=("a TensorRT-RTX 1.7.1 log (check_turing_op_compatibility)",),
)
def turing(case: Case) -> Iterator[Observation]:
    """Name the operations."""
    title = "Not compilable for Turing (SM75): {names}"
    yield from observe(case.notes("turing_op"), title, names="layer")
