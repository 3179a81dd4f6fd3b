"""Messages of the programs that wrap TensorRT: ONNX Runtime, Torch-TensorRT, DeepStream."""

from __future__ import annotations

from trtforensics.findings.finding import Severity
from trtforensics.findings.rule import said

no_graph = said(
    "TF670",
    Severity.NOTE,
    "ONNX Runtime gives no part of the model to TensorRT",
    kinds=("ep_no_graph",),
    cause="TensorRT takes none of the nodes, so ONNX Runtime falls back to another provider (CUDA or CPU). Lines of "
    "TensorRT about a missing plugin before it are how it asks, and not a failure.",
    confirm="session.get_providers(), and the profile of a run, say which provider runs a node.",
    fixes=("Ignore it where another provider may run the model; else replace the operators that TensorRT lacks.",),
    sources=("tensorrt_execution_provider.cc (GetCapability)",),
)

fused_node = said(
    "TF671",
    Severity.ERROR,
    "ONNX Runtime could not build an engine of a part of the model",
    kinds=("ep_unsupported",),
    cause="The parser took the part, and TensorRT's builder failed on it. The reason is TensorRT's own error before "
    "it.",
    confirm="ORT_TENSORRT_DUMP_SUBGRAPHS=1 writes the part as ONNX; build it with trtexec --verbose.",
    fixes=(
        (
            "Build the dumped part with trtexec and mend what that says; or exclude the operators "
            "(trt_op_types_to_exclude)."
        ),
    ),
    settle="The verbose log of trtexec on the dumped part.",
    sources=("tensorrt_execution_provider.cc (Compile)",),
)

ep_cache = said(
    "TF672",
    Severity.ERROR,
    "ONNX Runtime's cached engine does not load",
    kinds=("ep_engine_cache",),
    cause="The engine in trt_engine_cache_path was built by another TensorRT version, for another GPU, or is not "
    "whole.",
    confirm="Delete the cache; the engine is then built again.",
    fixes=("Delete the engine cache, and use a cache folder for each TensorRT version and GPU.",),
    sources=("tensorrt_execution_provider.cc",),
)

several_gpus = said(
    "TF673",
    Severity.NOTE,
    "Several GPUs are visible, and Torch-TensorRT does not check the device",
    kinds=("safe_mode_off",),
    cause="Harmless, a warning only: with more than one GPU the runtime does not check that an engine runs on the GPU "
    "it "
    "was built for, unless multi-device safe mode is on.",
    confirm="torch.cuda.device_count() is above 1.",
    fixes=(
        "torch_tensorrt.runtime.set_multi_device_safe_mode(True), or show the process one GPU (CUDA_VISIBLE_DEVICES).",
    ),
    sources=("Torch-TensorRT's runtime since 2.2",),
)

custom_library = said(
    "TF674",
    Severity.ERROR,
    "DeepStream cannot open the custom library of the model",
    kinds=("custom_library",),
    cause="custom-lib-path of the configuration names a library that does not exist or does not load: most samples "
    "want "
    "it compiled first, with the CUDA version of the machine.",
    confirm="ls and ldd on the path in the message.",
    fixes=(
        (
            "Compile the library (make -C nvdsinfer_custom_impl_Yolo with CUDA_VER=...), and give its path in "
            "custom-lib-path."
        ),
    ),
    sources=("DeepStream, nvdsinfer_context_impl.cpp",),
)

custom_function = said(
    "TF675",
    Severity.ERROR,
    "DeepStream's custom library does not export the function that the configuration names",
    kinds=("custom_function",),
    says="The custom library does not export {name}",
    cause="parse-bbox-func-name (or another function name of the configuration) names a function that the library in "
    "custom-lib-path does not contain: the wrong library, or the configuration of another sample.",
    confirm="nm -D LIBRARY | grep NvDsInfer",
    fixes=("Give the function name that the library exports, or the library that has the function.",),
    sources=("DeepStream, nvdsinfer_context_impl.cpp",),
)

nvinfer = said(
    "TF676",
    Severity.ERROR,
    "DeepStream's nvinfer could not be set up",
    kinds=("nvinfer_failed",),
    says="DeepStream's nvinfer ends with NVDSINFER_{status}",
    cause="A consequence: the reason is an earlier error, of TensorRT or of the configuration (a path, the custom "
    "library, the model).",
    confirm="The first ERROR line before it.",
    fixes=("Mend the first error; GST_DEBUG=nvinfer:5 shows more of it.",),
    settle="The lines before it.",
    sources=("DeepStream, gstnvinfer.cpp",),
    follows=("TF1*", "TF6*", "TF3*", "TF4*", "TF2*", "TF716", "TF717"),
)
