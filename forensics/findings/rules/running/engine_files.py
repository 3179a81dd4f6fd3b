"""Engine files that do not load, and programs that go on without an engine."""

from __future__ import annotations

from trtforensics.findings.finding import Fix, Severity
from trtforensics.findings.rule import said

cut_file = said(
    "TF630",
    Severity.ERROR,
    "The engine file is cut or not whole",
    kinds=("plan_size",),
    cause="The header of the plan gives another size than the file has: it was written in part (a full disk, a process "
    "that ended early), copied as text, or two processes wrote it at once. Releases up to 7 look at the size before "
    "the version: there, a plan of another TensorRT version fails the same way.",
    confirm="Compare the file's size and checksum with the original, and the TensorRT version that built it.",
    fixes=(
        "Copy the file again as binary, or rebuild the engine and write it under another name, then rename it.",
        Fix("Rebuild the engine with the TensorRT version that runs it.", before="8.0"),
    ),
    sources=("stdArchiveReader.cpp of 8.x; engine.cpp of 5 to 7; NVIDIA-AI-IOT/torch2trt#371",),
)

other_model = said(
    "TF631",
    Severity.WARNING,
    "The engine was built on another model of GPU",
    kinds=("plan_other_model",),
    cause="The compute capability is the same, but memory size, clocks or the number of multiprocessors differ: "
    "tactics that were fastest there may be slow here, or want more memory than there is.",
    confirm="Build here and compare the times.",
    fixes=("Rebuild the engine on this GPU model; where only accuracy matters, it can be ignored.",),
    sources=("TensorRT 8.x and later, runtime warning",),
)

not_loaded = said(
    "TF632",
    Severity.ERROR,
    "The engine file could not be loaded",
    kinds=("plan_failed",),
    cause="Deserialization failed. The reason stands in an earlier error: another TensorRT version, another GPU, a "
    "plugin whose library is not loaded, or a file that is not whole.",
    confirm="The first TensorRT error before this line names the reason.",
    fixes=(
        (
            "Rebuild the engine with the TensorRT version, on the GPU, that runs it (same TensorRT version, same "
            "compute "
            "capability), and load plugin libraries before the engine."
        ),
        "If a program caches engines, delete the engine in its cache: it is then built again.",
    ),
    settle="The first TensorRT error of the same run, at level verbose.",
    sources=("runtime.cpp of 7.x to 10.x; DeepStream's nvdsinfer",),
    follows=("TF601", "TF602", "TF603", "TF609", "TF629", "TF630", "TF634", "TF635", "TF636"),
)

no_engine = said(
    "TF633",
    Severity.ERROR,
    "The program goes on without an engine",
    kinds=("engine_none", "engine_asserted"),
    cause="The build, the parser or the loading returned nothing, and the program did not check it. This is a "
    "consequence: the reason is an earlier error of TensorRT.",
    confirm="Print parser.get_error(i) for every parser error; look for the first [E] line of TensorRT.",
    fixes=(
        (
            "Check what parser.parse, build_serialized_network and deserialize_cuda_engine return, and print the "
            "parser's "
            "errors (parser.num_errors, parser.get_error)."
        ),
    ),
    settle="The lines of TensorRT's logger before it: run with a logger of level VERBOSE.",
    sources=("Python tracebacks in public threads; samples/python",),
    follows=("TF1*", "TF6*", "TF3*", "TF4*", "TF2*", "TF716", "TF717"),
)

absent = said(
    "TF634",
    Severity.WARNING,
    "The engine file is not there",
    kinds=("engine_absent",),
    says="There is no engine file at {name}",
    cause="The program was given the path of an engine that cannot be opened. DeepStream then builds the engine from "
    "the model: harmless in the first run, if the build after it passes; other programs stop.",
    confirm="ls -l on the path; the lines behind it say whether an engine is built.",
    fixes=(
        "Let the first run build it; if every run does, give the path under which it saves the engine.",
        "Or give the path of the engine that exists.",
    ),
    sources=("DeepStream's nvdsinfer_model_builder.cpp; vs-mlrt's vstrt",),
)

empty = said(
    "TF635",
    Severity.ERROR,
    "The engine file is empty",
    kinds=("engine_empty",),
    cause="Nothing was read: the file has no bytes (a build that failed wrote it), or the path is wrong and the "
    "program did not check it.",
    confirm="ls -l on the engine file.",
    fixes=("Delete the file and build the engine again; check what the builder returned before writing it.",),
    sources=("runtime.cpp of 6 to 10",),
)

plugin_version = said(
    "TF636",
    Severity.ERROR,
    "A plugin in the engine was written by another version of its library",
    kinds=("plugin_length",),
    cause="The plugin's stored state has another length than this version of the plugin reads: the engine was built "
    "with another version of the library that holds the plugin (TensorRT-LLM, say).",
    confirm="The versions of the package in the build's environment and here (pip list, the container's tag).",
    fixes=(
        "Build the engine again with the same version of TensorRT-LLM that runs it (Triton: the tag of the container).",
    ),
    sources=("gptAttentionCommon.cpp of TensorRT-LLM; NVIDIA/TensorRT-LLM#583, tensorrtllm_backend#375",),
)

host_code = said(
    "TF629",
    Severity.ERROR,
    "The engine holds code that this runtime may not run",
    kinds=("host_code_refused",),
    cause="A version-compatible engine carries a runtime of its own, which is a program for the host. TensorRT runs it "
    "only where the program says that it trusts the file.",
    confirm="The build's command: --versionCompatible, or the builder flag VERSION_COMPATIBLE.",
    fixes=(
        (
            "If you trust the file: runtime.engine_host_code_allowed = True (C++: setEngineHostCodeAllowed(true)) "
            "before the engine is loaded. In Triton: --backend-config=tensorrt,version-compatible=true"
        ),
        "Or build the engine without --versionCompatible, with the TensorRT version that runs it.",
    ),
    sources=("runtime.cpp of 8.6; triton-inference-server/server#6129",),
)
