"""Kernels that TensorRT cannot find, compile or run while it builds."""

from __future__ import annotations

from trtforensics.findings.finding import Fix, Severity
from trtforensics.findings.rule import said

timing_model = said(
    "TF340",
    Severity.ERROR,
    "The builder's timing model names a kernel that this GPU does not have",
    kinds=("timing_model",),
    cause="At a low builder optimization level the builder estimates times with a kernel timing model (KTM) instead of "
    "measuring. The model points to a kernel whose base is not there for this GPU.",
    confirm="Build with the default level.",
    fixes=("Use --builderOptimizationLevel=3 or higher, so that the builder measures on the device.",),
    settle="Whether the build passes at optimization level 3.",
    sources=("TensorRT 10.16 on Jetson",),
)

compilation = said(
    "TF341",
    Severity.ERROR,
    "Compiling a kernel at run time failed",
    kinds=("nvrtc_failed",),
    cause="Myelin compiles kernels at run time with NVRTC. That failed, which is about the installation and not about "
    "the "
    "layer: libnvrtc of another CUDA toolkit, or a TensorRT too old for this GPU. Layers without an implementation "
    "follow from it.",
    confirm="ldconfig -p | grep nvrtc; which CUDA version this TensorRT was made for.",
    fixes=(
        "Install the CUDA toolkit (libnvrtc and libnvrtc-builtins) of the version that this TensorRT names.",
        "Use a newer TensorRT where the GPU is newer than this one.",
    ),
    sources=("nvrtc_compile.cpp of 8.x in public threads",),
)

plugin_in_graph = said(
    "TF342",
    Severity.ERROR,
    "A plugin cannot be built into the fused graph",
    kinds=("graph_refuses_plugin",),
    cause="This TensorRT cannot take a plugin of that kind into a ForeignNode: its version is not the one that the "
    "program "
    "around it (TensorRT-LLM, say) was made for.",
    confirm="pip list | grep -i tensorrt against the versions that the program's release notes name.",
    fixes=("Install the TensorRT version that the program needs (a newer TensorRT in most cases), and build again.",),
    sources=("TensorRT-LLM with TensorRT 9.0",),
)

cuda_while_tuning = said(
    "TF343",
    Severity.ERROR,
    "CUDA failed while tactics were timed",
    kinds=("tuning_cuda",),
    says="CUDA error {status} while tactics were timed ({text})",
    cause="A CUDA call failed in autotuning, so that no tactic is left. Error 3 is an initialization error, 2 out of "
    "memory, 700 an illegal access. With an initialization error the installed CUDA libraries are at fault (cuDNN, "
    "cuBLAS or driver of other versions), not the model.",
    confirm="The versions of cuDNN, cuBLAS and driver against the support matrix of this TensorRT.",
    fixes=("Install the library versions of the support matrix (cuDNN first), or a newer TensorRT; then build again.",),
    settle="Whether another model builds in the same process.",
    sources=("TensorRT 8.0 in public threads",),
)

library_status = said(
    "TF344",
    Severity.ERROR,
    "A call of cuBLAS or cuDNN failed",
    kinds=("cublas_failed",),
    cause="The library returned an error status. Usually its version is not the one that this TensorRT was made for, "
    "or a "
    "patch of the CUDA installation is missing (CUDA 10.2 has two patches with a newer cuBLAS); else memory ran out.",
    confirm="The versions that TensorRT's support matrix names, and which libraries the process maps (ldd, "
    "/proc/PID/maps).",
    fixes=(
        "Update cuBLAS and cuDNN to the versions of the support matrix; with CUDA 10.2 install its patches.",
        "Or leave the library out: --tacticSources=-CUBLAS_LT,+CUBLAS (trtexec: -cublasLt,+cublas).",
        Fix("TensorRT no longer uses cuBLAS and cuDNN by default.", "10.0"),
    ),
    settle="Which library versions the process has loaded.",
    sources=("cublasLtWrapper.cpp of 7.x in public threads",),
)

formal_output = said(
    "TF345",
    Severity.ERROR,
    "Myelin refuses a tensor that is marked as output",
    kinds=("formal_output",),
    says="Myelin refuses {tensor} as an output",
    cause="A tensor inside a ForeignNode is marked as output that Myelin keeps as data of its own. Marking all tensors "
    "(--trt-outputs mark all, --markDebug) marks such tensors too.",
    confirm="Build without marking every tensor as output.",
    fixes=("Mark fewer outputs: the few tensors that matter, found by halving.",),
    sources=("TensorRT 8.4 with Polygraphy in public threads",),
)

types_unmatched = said(
    "TF349",
    Severity.ERROR,
    "Myelin has no kernel for the types of an operation",
    kinds=("types_unmatched",),
    cause="A quantize, dequantize or cast inside a ForeignNode has operand types that no rule of Myelin takes on this "
    "GPU: FP8 or INT8 beside FP32 where FP16 is wanted, or a type that this GPU does not have. While other tactics "
    "remain the build goes on, with the operation unfused.",
    confirm="The types in the message: (f32[...]) and (fp8[...]) beside the operation's name.",
    fixes=(
        "Build strongly typed (--stronglyTyped), with the model converted to FP16 around its Q/DQ (ModelOpt AutoCast).",
        "Leave the node that is named unquantised, or use a newer TensorRT or another GPU.",
    ),
    settle="Whether the build ends with an engine, and the node that the message names.",
    sources=("type.cpp of Myelin, 10.7 and 10.16; NVIDIA/Model-Optimizer#118, NVIDIA/TensorRT#4832",),
)
