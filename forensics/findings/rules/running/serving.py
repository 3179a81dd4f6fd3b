"""What ONNX Runtime, Torch-TensorRT, Triton, TensorRT-LLM and VapourSynth say when they cannot use TensorRT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.line_observations import listed
from trtforensics.findings.rule import rule, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case

provider = said(
    "TF680",
    Severity.ERROR,
    "ONNX Runtime cannot load its TensorRT provider",
    kinds=("ep_library",),
    cause="The provider's library is there, and a library that it needs is not (error 126 on Windows): likeliest "
    "TensorRT's own (nvinfer, nvonnxparser), then CUDA or cuDNN, of the major versions that this ONNX Runtime was "
    "built with. ONNX Runtime then goes on with CUDA or the CPU.",
    confirm="ldd libonnxruntime_providers_tensorrt.so, or `dumpbin /dependents` on the DLL, names what is missing.",
    fixes=(
        "Install the TensorRT, CUDA and cuDNN versions of ONNX Runtime's table of execution providers.",
        "Put their folders on PATH (Windows) or LD_LIBRARY_PATH (Linux) before the program starts.",
        "Where TensorRT is not wanted: leave TensorrtExecutionProvider out of the list of providers.",
    ),
    settle="Which library the loader misses: ldd or dumpbin on the provider's library.",
    sources=("provider_bridge_ort.cc and onnxruntime_pybind_state.cc since 1.5",),
)

decryption = said(
    "TF681",
    Severity.ERROR,
    "ONNX Runtime cannot open the library that decrypts engines",
    kinds=("ep_decryption",),
    cause="trt_engine_decryption_enable is on (in C, a field of the options that was not initialised), and the library "
    "in trt_engine_decryption_lib_path does not exist.",
    confirm="Print the options that are handed over.",
    fixes=("Switch trt_engine_decryption_enable off (set every field of the options), or give the library's path.",),
    sources=("tensorrt_execution_provider.cc; microsoft/onnxruntime#9364",),
)

no_shape = said(
    "TF682",
    Severity.ERROR,
    "ONNX Runtime's TensorRT provider needs the shapes of all tensors",
    kinds=("ep_no_shape",),
    cause="The model is split between providers, and a tensor at the edge of TensorRT's part has no shape in the "
    "model: shape inference was not run on it.",
    confirm="polygraphy inspect model MODEL --show layers: the tensor has no shape.",
    fixes=(
        "Run symbolic shape inference on the model: python -m onnxruntime.tools.symbolic_shape_infer --auto_merge.",
    ),
    sources=("tensorrt_execution_provider.cc (GetSupportedList)",),
)

not_built = said(
    "TF686",
    Severity.WARNING,
    "This ONNX Runtime has no TensorRT provider",
    kinds=("ep_not_built",),
    cause="The installed package was built without TensorRT: onnxruntime instead of onnxruntime-gpu, or both at once.",
    confirm="python -c 'import onnxruntime as o; print(o.get_available_providers())'",
    fixes=("pip uninstall onnxruntime onnxruntime-gpu, then install onnxruntime-gpu alone.",),
    sources=("onnxruntime_inference_collection.py",),
)


@rule(
    "TF683",
    Severity.ERROR,
    "Torch-TensorRT has no converter for an operator",
    cause="TorchScript operators without a converter cannot go into an engine. With require_full_compilation, or "
    "convert_method_to_trt_engine, one of them ends the compilation; else they run in PyTorch.",
    confirm="torch_tensorrt.ts.check_method_op_support(module, 'forward').",
    fixes=(
        "Leave the operators to PyTorch: compile without require_full_compilation (torch_executed_ops).",
        "Use the Dynamo frontend (ir='dynamo'), which has more converters, or write the model without the operator.",
        "Remove training code (losses, asserts, profiler calls) from the method that is compiled.",
    ),
    sources=("core/conversion of Torch-TensorRT and TRTorch; pytorch/TensorRT#829, #1912",),
)
def unsupported_operators(case: Case) -> Iterator[Observation]:
    """Name the operators, of the list and of single messages."""
    notes = case.notes("torch_unsupported")
    if notes:
        every = case.notes("torch_unsupported", "torch_operator")
        names = list(dict.fromkeys(note.text("op") for note in every if note.text("op")))
        what = f": {listed(names)}" if names else ""
        yield Observation(
            f"Torch-TensorRT has no converter for operators of the model{what}",
            [note.span for note in every],
            same_as=f"torch {names}",
        )


torch_graph = said(
    "TF649",
    Severity.ERROR,
    "Torch-TensorRT loses a value of the TorchScript graph",
    kinds=("torch_graph",),
    cause="The graph's parts for TensorRT and for PyTorch do not fit together: a value that one part needs is not made "
    "by the other. That is a bug of the TorchScript path. Likeliest triggers: writing to a slice of a tensor, an "
    "operator that was skipped for want of a converter, an input that is handed on as an output.",
    confirm="The operator that makes the value: torch_tensorrt.logging.debug() prints the graph and its parts.",
    fixes=(
        "Export by the other path: ir='dynamo' (torch.export) instead of TorchScript.",
        "Rewrite the operation (no writing in place), or leave its operators to PyTorch (torch_executed_ops).",
    ),
    settle="The debug log: which operator makes the value that is named.",
    sources=("conversion.cpp and shape_analysis.cpp of Torch-TensorRT; pytorch/TensorRT#364, #922, #1410, #1815",),
    follows=("TF683",),
)

torch_build = said(
    "TF684",
    Severity.ERROR,
    "Torch-TensorRT's engine was not built",
    kinds=("torch_build",),
    cause="TensorRT's builder gave no engine. The reason is an error of TensorRT's logger before it; without one, "
    "likeliest: GPU memory, a layer without implementation, input ranges that the graph does not allow.",
    confirm="Compile with torch_tensorrt.logging.debug(), and read the first [TRT] error.",
    fixes=("Mend the first error of TensorRT; leave the part that fails to PyTorch (torch_executed_ops).",),
    settle="The log at level debug: torch_tensorrt.logging.debug().",
    sources=("ConversionCtx.cpp and _TRTInterpreter.py of Torch-TensorRT",),
    follows=("TF683", "TF1*", "TF3*", "TF4*", "TF2*", "TF6*", "TF716", "TF717"),
)

llm_config = said(
    "TF666",
    Severity.ERROR,
    "The engine's config.json is of another TensorRT-LLM version",
    kinds=("llm_config",),
    says="The engine's config.json has no {name}: another TensorRT-LLM version wrote it",
    cause="The runtime looks for a key that the version that built the engine did not write, or wrote elsewhere.",
    confirm="pip show tensorrt_llm where the engine was built, and the version of the backend (the container's tag).",
    fixes=("Convert the checkpoint and build the engine again with the version that runs it.",),
    settle="The field version of the engine's config.json.",
    sources=("gptJsonConfig.cpp of TensorRT-LLM; NVIDIA/TensorRT-LLM#1803",),
)

program_build = said(
    "TF664",
    Severity.ERROR,
    "The program got no engine from TensorRT",
    kinds=("build_failed",),
    cause="TensorRT's builder or parser gave nothing. The reason is an error of TensorRT's logger before it; without "
    "one, likeliest: GPU memory, an operator or plugin that is missing, a layer without implementation.",
    confirm="The first [E] line of TensorRT in the program's whole output.",
    fixes=("Mend the first error of TensorRT. If none is there, run the program with a logger of level VERBOSE.",),
    settle="The lines of TensorRT's logger before it.",
    sources=("TF-TRT, jetson-inference, tensorrt_demos, TensorRT-LLM in public threads",),
    follows=("TF1*", "TF3*", "TF4*", "TF2*", "TF6*", "TF716", "TF717"),
)

on_cpu = said(
    "TF677",
    Severity.ERROR,
    "Triton is asked to run a TensorRT model on the CPU",
    kinds=("triton_cpu",),
    cause="The model's instance group is KIND_CPU, or Triton sees no GPU that it may use: it was started without "
    "--gpus, or the GPU is below --min-supported-compute-capability (6.0 by default).",
    confirm="nvidia-smi inside the container; instance_group in config.pbtxt.",
    fixes=("Start the container with --gpus all, and let instance_group be KIND_GPU.",),
    settle="nvidia-smi inside the container.",
    sources=("tensorrt_backend of Triton; triton-inference-server/server#5863",),
)

backend_library = said(
    "TF678",
    Severity.ERROR,
    "Triton does not find what the model's configuration names",
    kinds=("triton_library",),
    says="Triton does not find {name}",
    cause="platform and backend of config.pbtxt are mixed up (platform is tensorrt_plan, backend is tensorrt), the "
    "image was built without that backend, or the model's file is not at MODEL/VERSION/model.plan.",
    confirm="ls /opt/tritonserver/backends, and the folders of the model repository.",
    fixes=(
        'Write backend: "tensorrt" or platform: "tensorrt_plan", not one in the place of the other.',
        "Lay the plan at MODEL/1/model.plan, or name it in default_model_filename.",
    ),
    sources=("model_repository_manager.cc and backend_manager.cc; triton-inference-server/server#6541",),
)

configured_shape = said(
    "TF679",
    Severity.ERROR,
    "Triton's configuration of the model does not fit the engine",
    kinds=("triton_config",),
    cause="dims in config.pbtxt differ from the engine's. With max_batch_size above 0 the batch is left out of dims; "
    "with 0, dims hold it. A static engine needs max_batch_size 0 or its own batch.",
    confirm="polygraphy inspect model ENGINE lists the shapes of the engine.",
    fixes=(
        "Take dims from the engine: all of its dimensions with max_batch_size: 0, all but the first with a batch.",
        "Or leave them out, and start Triton with --strict-model-config=false (the default of newer releases).",
    ),
    sources=("tensorrt_backend's instance state and Triton's model_config_utils.cc",),
)

world_size = said(
    "TF688",
    Severity.ERROR,
    "TensorRT-LLM runs with another number of processes than the engine was built for",
    kinds=("llm_world",),
    cause="The engine was built for tensor and pipeline parallelism over N GPUs (tp * pp), and MPI started another "
    "number of processes.",
    confirm="mapping in the engine's config.json.",
    fixes=("Start it with mpirun -n N (Triton: launch_triton_server.py --world_size N), or build for fewer GPUs.",),
    sources=("worldConfig.cpp and model_runner.py of TensorRT-LLM; NVIDIA/TensorRT-LLM#753, #1992, #2021",),
)

cache_small = said(
    "TF693",
    Severity.ERROR,
    "TensorRT-LLM's KV cache holds no whole sequence",
    kinds=("llm_cache",),
    cause="The cache of keys and values gets a share of the GPU memory that is free once the engine is loaded. That "
    "share holds fewer tokens than one sequence of the engine's greatest length, times the beam width.",
    confirm="The lines 'Max tokens in paged KV cache' and 'Max KV cache pages per sequence'; nvidia-smi.",
    fixes=(
        "Free GPU memory, or raise the cache's share (kv_cache_free_gpu_mem_fraction) or its number of tokens.",
        "Build the engine for shorter sequences or a smaller beam width, or in a smaller type.",
    ),
    sources=("trtGptModelInflightBatching of TensorRT-LLM; NVIDIA/TensorRT-LLM#542, janhq/cortex.cpp#981",),
)

tensors_differ = said(
    "TF695",
    Severity.ERROR,
    "The engine has other inputs than this TensorRT-LLM gives",
    kinds=("llm_tensor",),
    says="The engine has no input {tensor}, which this TensorRT-LLM gives",
    cause="Names of inputs change between releases of TensorRT-LLM: the engine was built by another release than the "
    "one that runs it, or with other plugins and another kind of KV cache than the runtime expects.",
    confirm="The version in the engine's config.json, and pip show tensorrt_llm where it runs.",
    fixes=("Build the engine with the release of TensorRT-LLM that runs it (for Triton: the container's).",),
    settle="The release that built the engine, and the one that runs it.",
    sources=("triton-inference-server/tensorrtllm_backend#186, Tlntin/Qwen-TensorRT-LLM#109",),
)

cache_reuse = said(
    "TF694",
    Severity.ERROR,
    "Reuse of the KV cache needs an engine that was built for it",
    kinds=("llm_reuse",),
    cause="The runtime was told to reuse blocks of the KV cache, and the engine was built without attention over paged "
    "contexts (paged context FMHA).",
    confirm="use_paged_context_fmha in the engine's config.json; enable_kv_cache_reuse in Triton's config.pbtxt.",
    fixes=(
        "Build the engine with trtllm-build --use_paged_context_fmha enable.",
        "Or set enable_kv_cache_reuse (enable_block_reuse) to false.",
    ),
    sources=("TensorRT-LLM's executor; triton-inference-server/tensorrtllm_backend#323",),
)

plugin_library = said(
    "TF685",
    Severity.ERROR,
    "The project's library of TensorRT plugins is not there",
    kinds=("plugin_library",),
    cause="The project's own TensorRT ops were not compiled or are not found: mmcv and mmdeploy bring them as a "
    "library that has to be built against the installed TensorRT.",
    confirm="mmdeploy's check_env.py prints whether the tensorrt ops are available.",
    fixes=(
        "Build the ops with the installed TensorRT (mmdeploy: -DMMDEPLOY_TARGET_BACKENDS=trt; mmcv: MMCV_WITH_TRT=1).",
    ),
    sources=("open-mmlab/mmdeploy#1167, open-mmlab/mmdetection#4822",),
)

trtexec_failed = said(
    "TF687",
    Severity.ERROR,
    "trtexec failed inside another program",
    kinds=("trtexec_failed",),
    cause="The program runs trtexec to build an engine, and it failed. This text does not say why: the reason is in "
    "trtexec's own output. Likeliest: GPU memory for these shapes, an operator that this TensorRT does not take, or a "
    "driver too old.",
    confirm="The first [E] line of that output.",
    fixes=("Run trtforensics report on the log that the message names.", "Or run its command again with --verbose."),
    settle="trtexec's own log, whose path the message may name.",
    sources=("vsmlrt.py of vs-mlrt",),
    follows=("TF3*", "TF1*"),
)

planes = said(
    "TF689",
    Severity.ERROR,
    "The clip does not fit the inputs of the network",
    kinds=("input_planes",),
    cause="The model takes another number of input planes, or another type (FP16 or FP32), than the script gives: "
    "another variant of the model (an ensemble, other versions of RIFE, FP16 inputs), or a script that is older than "
    "the model.",
    confirm="The first input's channels and type (polygraphy inspect model MODEL).",
    fixes=(
        "Take script and models (vsmlrt.py) of one release, or give the planes that the model takes.",
        "Where the bits differ: convert the clip (RGBS for FP32, RGBH for FP16), or build with FP32 inputs.",
    ),
    sources=("vs-mlrt, vstrt; AmusementClub/vs-mlrt#71, Kim2091/vapourkit#12",),
)

tensorflow = said(
    "TF690",
    Severity.NOTE,
    "TensorFlow does not find TensorRT",
    kinds=("tftrt_missing",),
    cause="TensorFlow looks for TensorRT's libraries when it is imported. Harmless, a warning only, unless TF-TRT is "
    "used; TensorRT's own module is not concerned.",
    confirm="python -c 'import tensorrt' works or not, independent of this line.",
    fixes=(
        "Ignore it where TF-TRT is not used; else install the TensorRT version that this TensorFlow was built with.",
    ),
    sources=("tf2tensorrt/utils/py_utils.cc",),
)

reference = said(
    "TF691",
    Severity.ERROR,
    "ONNX Runtime refuses the model at a node",
    kinds=("ort_node",),
    says="ONNX Runtime fails at the {op} node {node}",
    cause="ONNX Runtime, not TensorRT, cannot run the node: the model does not take the input shapes that it was "
    "given, or an edit broke it. TensorRT will not do better with the same shapes.",
    confirm="Run the model in ONNX Runtime alone: polygraphy run MODEL --onnxrt --input-shapes ….",
    fixes=("Give the shapes that the model was exported for, or export it with the dimension dynamic.",),
    sources=("sequential_executor.cc; NVIDIA/TensorRT#3159",),
)

torch2trt = said(
    "TF692",
    Severity.ERROR,
    "torch2trt has no converter for an operation",
    kinds=("torch2trt_converter",),
    cause="torch2trt converts call by call. An operation without a converter gives a tensor without its TensorRT twin "
    "(_trt), and the next converter fails on it.",
    confirm="The call right before it, and the lines 'Encountered known unsupported method'.",
    fixes=(
        "Write the operation with one that is known (view, flatten), or write a converter (tensorrt_converter).",
        "Or export to ONNX and use TensorRT's parser.",
    ),
    sources=("NVIDIA-AI-IOT/torch2trt#15, #364",),
)
