"""For each rule: a log where it must speak, its lines marked, and a close look-alike where it must be silent."""

from __future__ import annotations

from dataclasses import dataclass

from tests.emulator.engine.foreign import Transformer
from tests.unit.findings.rules.excerpts import EXCERPTS

NODE = """
V Parsing node: {name} [{op}]
V {name} [{op}] inputs: [{source} -> (2, 8)[FLOAT]],
V Registering layer: {name} for ONNX node: {name}
V {name} [{op}] outputs: [{name}_out -> (2, 8)[FLOAT]],
"""
TUNED = """
V =============== Computing costs for {layer}
V *************** Autotuning format combination: Float(8,1) -> Float(8,1) ***************
V --------------- Timing Runner: {layer} (CaskConvolution[0x80000009])
V Tactic: 0x0000000000000001 Time: {best}
V Tactic: 0x0000000000000002 Time: {second}
{mark}V >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0x0000000000000001
"""


def node(name: str, op: str = "Conv", source: str = "x") -> str:
    """Return the parser's lines of a node."""
    return NODE.format(name=name, op=op, source=source)


def tuned(layer: str, best: float = 0.1, second: float = 0.2, mark: str = "") -> str:
    """Return the lines of a layer's tuning."""
    return TUNED.format(layer=layer, best=best, second=second, mark=mark)


SUMMED = """
V =============== Computing costs for {layer}
V *************** Autotuning format combination: Half(8,1) -> Half(8,1) ***************
V --------------- Timing Runner: {layer} (CaskGemmConvolution[0x80000009])
{marks[0]}V Tactic Name: sm80_xmma_gemm_f16f16_{types[0]}_tn_n_tilesize64x64x32 Tactic: 0x0000000000000001 Time: {ms[0]}
{marks[1]}V Tactic Name: sm80_xmma_gemm_f16f16_{types[1]}_tn_n_tilesize32x32x32 Tactic: 0x0000000000000002 Time: {ms[1]}
V >>>>>>>>>>>>>>> Chose Runner Type: CaskGemmConvolution Tactic: 0x0000000000000001
"""
HALF, SINGLE = "f16f16_f16", "f16f32_f32"


def summed(first: str, second: str, ms: tuple[float, float] = (0.1, 0.2), marks: tuple[str, str] = ("", "")) -> str:
    """Return the lines of a product's tuning: the types of its two tactics' sums, their times; the first is chosen."""
    return SUMMED.format(layer="product", types=(first, second), ms=ms, marks=marks)


def dumped(weights: int) -> str:
    """Return the detailed line of the product in the engine; it has four output maps."""
    tensors = "[ { Name: x, Location: Device, Dimensions: [2,8], Format/Datatype: Half }]"
    fields = f'ParameterType: Convolution, Kernel: [1,1], OutMaps: 4, Weights: {{"Type": "Half", "Count": {weights}}}'
    return (
        f"V Engine Layer Information:\n| Name: product, LayerType: CaskGemmConvolution, Inputs: {tensors}, Outputs: "
        f"{tensors}, {fields}, TacticValue: 0x0000000000000001, StreamId: 0, Metadata: [ONNX Layer: product]"
    )


def written(name: str, kind: str, tensors: tuple[str, str], fields: str = "", dims: tuple[int, int] = (32, 32)) -> str:
    """Return the detailed line of a layer that reads and writes tensors such as ``x Int8``; ``dims`` are channels."""
    sides = []
    for tensor, channels in zip(tensors, dims, strict=True):
        label, dtype = tensor.split(" ")
        told = f"Dimensions: [1,{channels},8,8], Format/Datatype: {dtype}"
        sides.append(f"[ {{ Name: {label}, Location: Device, {told} }}]")
    rest = f"{fields}, TacticValue: 0x0000000000000001, StreamId: 0, Metadata: [ONNX Layer: {name}]"
    return f"Name: {name}, LayerType: {kind}, Inputs: {sides[0]}, Outputs: {sides[1]}{rest}"


CONVOLVED = ", ParameterType: Convolution, Kernel: [3,3], OutMaps: 32, Groups: 1"
PROFILED = """&& 8.6.1 --fp16
i === Profile (100 iterations ) ===
i    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
{rows}
i {total:11.2f} {total:12.4f}       1.0000     100.0   Total
"""


def launched(small: int, ms: float, mark: str) -> str:
    """Return a profile and the lines of layers, some of which take ``ms`` each."""
    names = [f"l{place}" for place in range(small)]
    rows = "\n".join(f"i       {ms * 100:5.2f}       {ms:.4f}       {ms:.4f}       2.0   {name}" for name in names)
    lines = "\n".join(f"{mark}| {written(name, 'PointWiseV2', ('x Half', 'y Half'))}" for name in names)
    return f"{PROFILED.format(rows=rows, total=ms * 100 * small)}V Engine Layer Information:\n{lines}\n"


TIMED = """
{mark}i GPU Compute Time: min = {run} ms, max = {run} ms, mean = {run} ms, median = {run} ms, percentile(99%) = {run} ms
{mark}i === Profile (100 iterations ) ===
i    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
i       5.00       0.0500       0.0500      50.0   a
i       3.00       0.0300       0.0300      30.0   b
i       2.00       0.0200       0.0200      20.0   c
V Engine Layer Information:
| Layer(CaskConvolution): a, Tactic: 0x0000000000000001, x (Half[2,8]) -> y (Half[2,8])
"""


@dataclass(frozen=True, slots=True)
class Example:
    """Two logs in the notation of ``tests/support/marked_logs.py``, or transformers of the emulator, with cited lines."""

    fires: str | Transformer
    quiet: str | Transformer
    cites: tuple[str, ...] = ()
    """For an emulated log: what each cited line holds."""


_FAILED_NODE = """
E ModelImporter.cpp:142: --- Begin node ---
> | Node name: odd
E ModelImporter.cpp:143: --- End node ---
"""
PARSING = {
    "TF101": Example(
        f"""> E ModelImporter.cpp:140: While parsing node number 1 [MyOp -> "y"]:
        {_FAILED_NODE}
        > E ModelImporter.cpp:151: ERROR: onnxOpCheckers.cpp:998 In function checkFallbackPluginImporter:
        > | [6] creator && "Plugin not found, are the plugin name, version, and namespace correct?"
        """,
        """E ModelImporter.cpp:140: While parsing node number 1 [Add -> "y"]:
        | Node name: odd
        | [6] Invalid Node - odd
        """,
    ),
    "TF102": Example(
        """> W IElementWiseLayer with inputs a and b: first input has type Half but second input has type Float.
        > E ITensor::getDimensions: Error Code 4: API Usage Error (add: ElementWiseOperation SUM must have same input types. But they are of types Half and Float. In validateTypes)
        """,
        "W IElementWiseLayer with inputs a and b: first input has type Half but second input has type Float.",
    ),
    "TF103": Example(
        "> E ITensor::getDimensions: Error Code 4: API Usage Error (mm: last dimension of input0 = 8 and second to "
        "last dimension of input1 = 7 but must match. In validate)",
        "E ITensor::getDimensions: Error Code 4: API Usage Error (mm: last dimension of input0 must be known. In "
        "validate)",
    ),
    "TF104": Example(
        """> W onnx2trt_utils.cpp:367: Your ONNX model has been generated with INT64 weights, while TensorRT does not natively support INT64. Attempting to cast down to INT32.
        > W onnx2trt_utils.cpp:395: One or more weights outside the range of INT32 was clamped
        """,
        "W ModelImporter.cpp:580: Make sure input x has Int64 binding.",
    ),
    "TF105": Example(
        "> W ModelImporter.cpp:580: Make sure input x has Int64 binding.",
        "W onnx2trt_utils.cpp:395: One or more weights outside the range of INT32 was clamped",
    ),
    "TF106": Example(
        "> W onnxOpImporters.cpp:4022: For loop node loop both a trip limit and a loop termination condition was set! "
        "If the number of iterations is less",
        "W onnxOpImporters.cpp:4022: For loop node loop a trip limit was set!",
    ),
    "TF107": Example(
        "> E IExecutionContext::inferShapes: Error Code 7: Internal Error (IShuffleLayer /attn/Reshape: reshaping "
        "failed for tensor: q reshape would change volume 30720 to 15360)",
        "E IExecutionContext::inferShapes: Error Code 7: Internal Error (IShuffleLayer /attn/Reshape: no shape for "
        "tensor: q)",
    ),
    "TF108": Example(
        f"""> E ModelImporter.cpp:140: While parsing node number 1 [Pad -> "y"]:
        {_FAILED_NODE}
        > | [6] Invalid Node - odd
        """,
        """E ITensor::getDimensions: Error Code 4: API Usage Error (mm: last dimension of input0 = 8 and second to last dimension of input1 = 7 but must match. In validate)
        E ModelImporter.cpp:140: While parsing node number 1 [MatMul -> "y"]:
        | Node name: mm
        | [6] Invalid Node - mm
        """,
    ),
    "TF109": Example(
        """I Parsing
        > | RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
        """,
        """I Parsing
        | RuntimeError: Expected a tensor on cuda:0
        """,
    ),
}

_LN = "/layers.0/norm1/LayerNormalization"
_ASK = f"{_LN}:fp32"
PRECISION = {
    "TF201": Example(
        Transformer(precisions="/layers.*LayerNormalization:fp32", constraints="obey"),
        Transformer(precisions=_ASK, constraints="obey", outside=(_LN,)),
        cites=(
            "LayerPrecisions: ",
            *(f"Parsing node: /layers.{i}/norm{j}/" for i in (0, 1) for j in (1, 2)),
            " metadata: ",
        ),
    ),
    "TF202": Example(
        """> W Detected layernorm nodes in FP16: ln
        > W Running layernorm after self-attention in FP16 may cause overflow. Forcing layernorm layers to run in FP32 precision can help.
        """,
        "V Found ln to be part of layer norm pattern.",
    ),
    "TF203": Example(
        f"""> && 8.6.1 --fp16 --layerPrecisions=LayerNormalization_*:fp32 --precisionConstraints=obey
        {node("/a/Conv")}
        """,
        f"""&& 8.6.1 --fp16 --layerPrecisions=/a/*:fp32 --precisionConstraints=obey
        {node("/a/Conv")}
        """,
    ),
    "TF204": Example(
        """> && 8.6.1 --fp16 --layerPrecisions=ln:fp32
        i === Build Options ===
        i Precision: FP32+FP16
        > i LayerPrecisions: ln:fp32
        """,
        """&& 8.6.1 --fp16 --layerPrecisions=ln:fp32 --precisionConstraints=prefer
        i === Build Options ===
        i Precision: FP32+FP16 (prefer precision constraints)
        i LayerPrecisions: ln:fp32
        """,
    ),
    "TF205": Example(
        "> V For layer ln a non-conforming implementation was chosen than was requested i.e. requested layer "
        "computation precision and output precision types were ignored because it resulted in faster network "
        "performance. Set BuilderFlag",
        "V For layer ln a conforming implementation was chosen",
    ),
    "TF206": Example(
        Transformer(precisions=_ASK, constraints="obey", outside=(_LN,)),
        Transformer(precisions=_ASK, constraints="obey", outside=(_LN,), kernel_type="Float"),
        cites=("LayerPrecisions: ", f"): {_LN},"),
    ),
    "TF207": Example(
        f"""> && 8.6.1 --fp16 --layerPrecisions=w:fp32 --precisionConstraints=obey
        {node("w", "Constant")}
        > V ConstShuffleFusion: Fusing w with shuffle
        """,
        f"""&& 8.6.1 --fp16 --layerPrecisions=w:fp32 --precisionConstraints=obey
        {node("w", "Constant")}
        V ConstShuffleFusion: Fusing v with shuffle
        """,
    ),
    "TF218": Example(
        Transformer(precisions=_ASK, constraints="obey", detailed=True),
        Transformer(precisions=_ASK, constraints="obey", detailed=True, kernel_type="Float"),
        cites=("LayerPrecisions: ", "Name: __myl_Kernel_myl0_0,"),
    ),
    "TF208": Example(
        """W TensorRT encountered issues when converting weights between types and that could affect accuracy.
        > W - 8 weights are affected by this issue: Detected subnormal FP16 values.
        """,
        "W TensorRT encountered issues when converting weights between types and that could affect accuracy.",
    ),
    "TF209": Example(
        "> W FP16 support requested on hardware without native FP16 support, performance will be negatively affected.",
        "W TF32 is enabled by default.",
    ),
    "TF210": Example(
        "> W The network has FP8 Q/DQ layers but the hardware does not accelerate FP8 compute. Therefore, the engine "
        "may suffer.",
        "W The network has FP8 Q/DQ layers",
    ),
    "TF211": Example(
        "> W Missing scale and zero-point for tensor t, expect fall back to non-int8 implementation for any layer "
        "consuming or producing given tensor",
        "V User overriding scale with scale and zero-point Quantization(scale: {0.03,}, zero-point: {0,})",
    ),
    "TF212": Example(
        "> W Calibrator won't be used in explicit precision mode. Use quantization aware training to generate network "
        "with Quantize/Dequantize nodes.",
        "V Configuring builder for Int8 Mode completed in 1.5 seconds.",
    ),
    "TF213": Example(
        """&& 10.16.1 --stronglyTyped
        i === Build Options ===
        > i Precision: Strongly Typed
        V Engine Layer Information:
        > | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x (Float[1,8]) -> y (Float[1,8])
        """,
        """&& 10.16.1 --stronglyTyped
        i === Build Options ===
        i Precision: Strongly Typed
        V Engine Layer Information:
        | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x (Half[1,8]) -> y (Half[1,8])
        """,
    ),
    "TF214": Example(
        """| [V] Loaded Module: tensorrt | Version: 10.12.0 | Path: ['p']
        > | [I] RUNNING | Command: polygraphy run m.onnx --trt --trt-outputs mark all
        """,
        """| [V] Loaded Module: tensorrt | Version: 10.12.0 | Path: ['p']
        | [I] RUNNING | Command: polygraphy run m.onnx --trt --trt-outputs y
        """,
    ),
    "TF215": Example(
        Transformer(casts=True),
        Transformer(casts=True, strongly_typed=True),
        cites=("node: cast_in ", "node: cast_out "),
    ),
    "TF216": Example(
        """| [I] RUNNING | Command: polygraphy run m.onnx --trt --onnxrt
        > | [E]         FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
        """,
        """| [I] RUNNING | Command: polygraphy run m.onnx --trt --onnxrt
        | [I]         PASSED | Output: 'y' | Difference is within tolerance (rel=1e-05, abs=1e-05)
        """,
    ),
    "TF250": Example(
        """| [I] RUNNING | Command: polygraphy run m.onnx --trt --validate
        | [I]     trt-runner-N0-11/22/26-10:00:00 | Validating output: y (check_inf=True, check_nan=True)
        > | [E]         NaN Detected | One or more NaNs were encountered in this output
        | [E]         FAILED | Errors detected in output: y
        """,
        """| [I] RUNNING | Command: polygraphy run m.onnx --trt --validate
        | [I]     trt-runner-N0-11/22/26-10:00:00 | Validating output: y (check_inf=True, check_nan=True)
        | [I]         PASSED | Output: y is valid
        """,
    ),
    "TF217": Example(
        f"""> V Adding network input: x with dtype: float32, dimensions: (1, 8)
        {node("add", "Add", "x")}
        > I add: broadcasting input0 to make tensors conform, dims(input0)=[1,8][NONE] dims(input1)=[4,8][NONE].
        """,
        f"""V Adding network input: x with dtype: float32, dimensions: (1, 8)
        {node("add", "Add", "weights")}
        I add: broadcasting input0 to make tensors conform, dims(input0)=[1,8][NONE] dims(input1)=[4,8][NONE].
        """,
    ),
}

_NO_IMPLEMENTATION = "E IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[a...b]}. In computeCosts)"
FAILURES = {
    "TF301": Example(
        f"""> E Error Code: 9: Skipping tactic 0x0000000000000000 due to exception Assertion vol == 1 failed.
        > {_NO_IMPLEMENTATION}
        """,
        "V Skipping CaskConvolution: No valid tactics for {ForeignNode[a...b]}",
    ),
    "TF302": Example(
        "> E Error Code: 9: Skipping tactic 0x0000000000000007 due to exception Assertion vol == 1 failed.",
        "W UNSUPPORTED_STATE: Skipping tactic 0 due to insufficient memory on requested size of 2688 detected for "
        "tactic 0x0000000000000000.",
    ),
    "TF303": Example(
        """> W UNSUPPORTED_STATE: Skipping tactic 0 due to insufficient memory on requested size of 2688 detected for tactic 0x0000000000000000.
        > W Tactic Device request: 538MB Available: 166MB. Device memory is insufficient to use tactic.
        """,
        "E Error Code: 9: Skipping tactic 0x0000000000000007 due to exception Assertion vol == 1 failed.",
    ),
    "TF304": Example(
        """V --------------- Timing Runner: c (CaskConvolution[0x80000009])
        > V Tactic: 0x0000000000000001 skipped. Scratch requested: 1115648, available: 1024
        """,
        """V --------------- Timing Runner: c (CaskConvolution[0x80000009])
        V Tactic: 0x0000000000000001 is the only option, timing skipped
        """,
    ),
    "TF305": Example(
        """&& 10.16.1 --memPoolSize=workspace:1024MiB
        i === Build Options ===
        > i Memory Pools: workspace: 0.000976562 MiB, dlaSRAM: default, dlaLocalDRAM: default, dlaGlobalDRAM: default
        """,
        """&& 10.16.1 --memPoolSize=workspace:1
        i === Build Options ===
        i Memory Pools: workspace: 1 MiB, dlaSRAM: default, dlaLocalDRAM: default, dlaGlobalDRAM: default
        """,
    ),
    "TF306": Example(
        "> V  (foreignNode) [pass.cpp:2131: run_passes] Exceeded mem budget of 2688. Need 852992",
        "V  (foreignNode) Pass pad_conv_channel is currently skipped for dynamic shapes",
    ),
    "TF307": Example(
        "> E IBuilder::buildSerializedNetwork: Error Code 1: Myelin ([tactic.cpp:1676: enumerate_tactics] Tactic "
        "Selection: no tactics to implement the operation within workspace limit. Consider)",
        "V Skipping CaskConvolution: No valid tactics for c",
    ),
    "TF308": Example(
        """> E 1: [codeGenerator.cpp::compileGraph::894] Error Code 1: Myelin (No Myelin Error exists)
        > | Internal Error: MyelinCheckException: gvn.cpp:318: CHECK(graph().ssa_validation()) failed.
        """,
        "E IBuilder::buildSerializedNetwork: Error Code 1: Myelin ([x] MyelinCheckException: graph_jit.cpp:278: "
        "CHECK(status == CUDA_SUCCESS) failed.)",
    ),
    "TF309": Example(
        """> V --------------- Timing Runner: c (CaskConvolution[0x80000009])
        > E 1: [executionContext.cpp::run::100] Error Code 1: Cuda Runtime (an illegal memory access was encountered)
        """,
        """V --------------- Timing Runner: c (CaskConvolution[0x80000009])
        E 1: [executionContext.cpp::run::100] Error Code 1: Cuda Runtime (invalid argument)
        """,
    ),
    "TF310": Example(
        "> E [checkMacros.cpp::catchCudaError::250] Error Code 1: Cuda Runtime (In catchCudaError (cudaError 35: CUDA "
        "driver version is insufficient for CUDA runtime version))",
        "E [checkMacros.cpp::catchCudaError::250] Error Code 1: Cuda Runtime (In catchCudaError (cudaError 1: invalid "
        "argument))",
    ),
    "TF311": Example(
        "> E IBuilder::buildSerializedNetwork: Error Code 9: API Usage Error (Target GPU SM 61 is not supported by "
        "this TensorRT release.)",
        "I Target GPU SM 89 is selected",
    ),
    "TF312": Example(
        "> E IBuilder::buildSerializedNetwork: Error Code 1: Myelin ([pass.cpp:337: check] Cannot compile operation "
        "'/fc/Gemm' for Turing (SM75): FP32 GEMM is not supported. In compile)",
        "V Cannot compile operation '/fc/Gemm' for Ampere",
    ),
    "TF313": Example(
        """V =============== Computing costs for c
        V *************** Autotuning format combination: Float(8,1) -> Float(8,1) ***************
        V --------------- Timing Runner: c (CaskConvolution[0x80000009])
        > V >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0xd15ea5edd15ea5ed
        """,
        f"""V =============== Computing costs for c
        V *************** Autotuning format combination: Half(8,1) -> Half(8,1) ***************
        V --------------- Timing Runner: c (CaskConvolution[0x80000009])
        V >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0xd15ea5edd15ea5ed
        {tuned("c")}
        """,
    ),
    "TF314": Example(
        "> E 2: [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (no further information)",
        "W UNSUPPORTED_STATE: Skipping tactic 0 due to insufficient memory on requested size of 2688 detected for "
        "tactic 0x0000000000000000.",
    ),
    "TF315": Example(
        "> V {ForeignNode[a...b]}: Loop has insufficient context to run reliably in auto-tuner. Falling back to "
        "heuristic estimate of execution time.",
        "V --------------- Timing Runner: {ForeignNode[a...b]} (Myelin[0x80000023])",
    ),
    "TF319": Example(
        """> E Layer: {ForeignNode[a...b]} | Tactic in replay was not provided by TensorRT as a choice for this layer.
        > E Exception caught in select_algorithms(): PolygraphyException: see above
        """,
        "W Layer: c was not found in the tactic replay. Falling back to default tactics.",
    ),
    "TF320": Example(
        "> E Algorithm selectors (TacticRecorder/TacticReplayer) is not available on TensorRT version 11.1.0.106.",
        "W It is suggested to disable layer timing cache while using AlgorithmSelector. Please refer to the guide",
    ),
    "TF321": Example(
        "> W Layer: c was not found in the tactic replay. Falling back to default tactics.",
        "E Layer: c | Tactic in replay was not provided by TensorRT as a choice for this layer.",
    ),
    "TF322": Example(
        "> E 2: [optimizer.cpp::verify_output_type::100] Error Code 2: Internal Error (Assertion failed.)",
        "E 2: [optimizer.cpp::computeCosts::100] Error Code 2: Internal Error (Assertion failed.)",
    ),
    "TF324": Example(summed(HALF, SINGLE, (0.1, 0.104), ("> ", "> ")), summed(HALF, SINGLE, (0.1, 0.106))),
    "TF325": Example(summed(HALF, HALF, marks=("> ", "")), summed(HALF, SINGLE)),
    "TF326": Example(
        f"{summed(HALF, SINGLE, marks=('> ', ''))}{dumped(8192)}", f"{summed(HALF, SINGLE)}{dumped(8188)}"
    ),
}

CONFIGURATION = {
    "TF401": Example(
        "> E IBuilder::buildSerializedNetwork: Error Code 4: API Usage Error (Network has dynamic or shape inputs, "
        "but no optimization profile has been defined. In validate)",
        """E IOptimizationProfile::isValid: Error Code 4: API Usage Error (Invalid optimization profiles for input tensors x, please ensure that they satisfy MIN<=OPT<=MAX.)
        E IBuilder::buildSerializedNetwork: Error Code 4: API Usage Error (Network has dynamic or shape inputs, but no optimization profile has been defined. In validate)
        """,
    ),
    "TF402": Example(
        """&& 10.16.1 --minShapes=x:4x8 --optShapes=x:2x8 --maxShapes=x:8x8
        i === Build Options ===
        > i Input build shape (profile 0): x=4x8+2x8+8x8
        > E IOptimizationProfile::isValid: Error Code 4: API Usage Error (Invalid optimization profiles for input tensors x, please ensure that they satisfy MIN<=OPT<=MAX.)
        """,
        """&& 10.16.1 --minShapes=x:1x8 --optShapes=x:2x8 --maxShapes=x:8x8
        i === Build Options ===
        i Input build shape (profile 0): x=1x8+2x8+8x8
        """,
    ),
    "TF346": Example(
        """i === Device Information ===
        > i Device Global Memory: 7619 MiB
        > I [MemUsageChange] Init CUDA: CPU +2, GPU -3, now: CPU 31, GPU 5751 (MiB)
        I [MemUsageChange] Init CUDA: CPU +0, GPU +0, now: CPU 31, GPU 7000 (MiB)
        """,
        """i === Device Information ===
        i Device Global Memory: 7619 MiB
        I [MemUsageChange] Init CUDA: CPU +2, GPU +3, now: CPU 31, GPU 1200 (MiB)
        """,
    ),
    "TF403": Example(
        "> w Dynamic dimensions required for input: x, but no shapes were provided. Automatically overriding shape "
        "to: 1x3x8x8",
        "I Set shape of input tensor x for optimization profile 0 to: MIN=1x3x8x8 OPT=1x3x8x8 MAX=1x3x8x8",
    ),
    "TF462": Example(
        "I === Model Options ===\nI GPU Compute Time: min = 28.4 ms, max = 30.3 ms, mean = 29.2 ms, median = 29.2 ms\n"
        "> | &&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=m.onnx --minShapes=x:1x4 --optShapes=x:64x4 "
        "--maxShapes=x:64x4 --shapes=x:1x4",
        "| &&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=m.onnx --optShapes=x:64x4 --shapes=x:64x4",
    ),
    "TF404": Example(
        "> e Static model does not take explicit shapes since the shape of inference tensors will be determined by "
        "the model itself",
        "e Failed to parse onnx file",
    ),
    "TF405": Example(
        "> E IBuilder::buildSerializedNetwork: Error Code 3: API Usage Error (Parameter check failed, condition: "
        "!config.getFlag(BuilderFlag::kFP16). In create)",
        "E IBuilder::buildSerializedNetwork: Error Code 3: API Usage Error (Parameter check failed, condition: "
        "profile->isValid(). In create)",
    ),
    "TF406": Example(
        "> E INetworkLayer::setOutputType: Error Code 3: API Usage Error (INetworkLayer::setOutputType cannot be "
        "called for a strongly typed network. In set)",
        "E INetworkLayer::setOutputType: Error Code 3: API Usage Error (no such output. In set)",
    ),
    "TF407": Example(
        """&& 10.16.1 --fp16
        > w Weakly-typed networks have been deprecated in TensorRT. You can use the AutoCast tool
        i === Build Options ===
        > i Precision: FP32+FP16
        """,
        """&& 10.16.1 --stronglyTyped
        i === Build Options ===
        i Precision: Strongly Typed
        """,
    ),
    "TF408": Example(
        "> W Unset previous flag because kREFIT, kREFIT_INDIVIDUAL and kREFIT_IDENTICAL are mutually exclusive.",
        "W Unset previous flag",
    ),
    "TF409": Example(
        "> W setHardwareCompatibilityLevel() is unsupported in TensorRT-RTX.",
        "W setHardwareCompatibilityLevel() was called",
    ),
    "TF410": Example(
        "> E IBuilder::buildSerializedNetwork: Error Code 6: API Usage Error (Unable to load library: "
        "libnvinfer_lean.so.10: cannot open shared object file)",
        "V Trying to load shared library libnvinfer_lean.so.10",
    ),
    "TF444": Example(
        """&& 8.6.1 --deploy=net.prototxt
        i === Model Options ===
        > i Format: Caffe
        """,
        """&& 8.6.1 --fp16
        i === Model Options ===
        i Format: ONNX
        """,
    ),
    "TF412": Example(
        "> W Default DLA is enabled but layer c1 is not supported on DLA, falling back to GPU.",
        "I [DlaLayer] {ForeignNode[c1...c2]}",
    ),
    "TF413": Example(
        """&& 11.1.0 --fp16
        > e Unknown option: --fp16
        """,
        """&& 11.1.0 --noTF32
        e Unknown error
        """,
    ),
    "TF415": Example(
        "> W In JIT build, strongly typed is enabled by default.",
        "W TF32 is enabled by default.",
    ),
    "TF414": Example(
        "> w --plugins flag has been deprecated, use --staticPlugins flag instead.",
        "i Loading supplied plugin library: lib.so",
    ),
}

CACHE = {
    "TF501": Example(
        """> W Could not read cache from: m.cache. A new cache will be generated and written.
        > W Could not read cache from: m.cache. A new cache will be generated and written.
        """,
        "I Loaded 5180 bytes of cache from file: m.cache",
    ),
    "TF502": Example(
        "> I Local timing cache in use. Profiling results in this builder pass will not be stored.",
        "I Global timing cache in use. Profiling results in this builder pass will be stored.",
    ),
    "TF503": Example(
        """> W Detected invalid timing cache, setup a local cache instead
        > E 4: The timing cache will not be used!
        """,
        "I Local timing cache in use. Profiling results in this builder pass will not be stored.",
    ),
    "TF504": Example(
        "> W It is suggested to disable layer timing cache while using AlgorithmSelector. Please refer to the guide",
        "I Local timing cache in use. Profiling results in this builder pass will not be stored.",
    ),
    "TF505": Example(
        """> I Loaded 5180 bytes of cache from file: m.cache
        > V Deleting timing cache: 42 entries, served 0 hits since creation.
        """,
        """I Loaded 5180 bytes of cache from file: m.cache
        V Deleting timing cache: 42 entries, served 7 hits since creation.
        """,
    ),
    "TF506": Example(tuned("c", 0.1, 0.1015, "> "), tuned("c", 0.1, 0.1031)),
    "TF507": Example(
        """V Engine Layer Information:
        > | Layer(Myelin): {ForeignNode[a...b]}, Tactic: 0x0000000000000000, x (Half[1,8]) -> y (Half[1,8])
        """,
        """V Engine Layer Information:
        | Layer(Reformat): Reformatting CopyNode for Input Tensor 0 to {ForeignNode[a...b]}, Tactic: 0x0000000000000000, x (Half[1,8]) -> y (Half[1,8])
        """,
    ),
    "TF508": Example(
        "> w * GPU compute time is unstable, with coefficient of variance = 4.13%.",
        "i GPU Compute Time: min = 1 ms, max = 2 ms, mean = 1.5 ms, median = 1.5 ms, percentile(99%) = 2 ms",
    ),
    "TF446": Example(
        """&& 10.16.1 --builderOptimizationLevel=2
        i === Build Options ===
        > i BuilderOptimizationLevel: 2
        """,
        """&& 10.16.1 --builderOptimizationLevel=3
        i === Build Options ===
        i BuilderOptimizationLevel: 3
        """,
    ),
    "TF447": Example(
        "> && 8.6.1 --deploy=net.prototxt --output=prob",
        "&& 8.6.1 --deploy=net.prototxt --output=prob --model=net.caffemodel",
    ),
    "TF509": Example(
        """&& 10.16.1 --builderOptimizationLevel=0 --timingCacheFile=m.cache
        i === Build Options ===
        > i timingCacheFile: m.cache
        > i BuilderOptimizationLevel: 0
        """,
        """&& 10.16.1 --builderOptimizationLevel=0
        i === Build Options ===
        i timingCacheFile:
        i BuilderOptimizationLevel: 0
        """,
    ),
}

_REFORMAT = "| Layer(Reformat): Reformatting CopyNode for Input Tensor 0 to c, Tactic: 0x0000000000000000, x ({0}[1,8]) -> r ({1}[1,8])"
RUNNING = {
    "TF601": Example(
        "> E 1: [stdArchiveReader.cpp::Common::46] Error Code 1: Serialization (Version tag does not match. Note: "
        "Current Version: 213, Serialized Engine Version: 205)",
        "I Loaded engine size: 12 MiB",
    ),
    "TF602": Example(
        "> E 6: The engine plan file is generated on an incompatible device, expecting compute 8.6 got compute 7.5, "
        "please rebuild.",
        "E 6: The engine plan file cannot be read, please rebuild.",
    ),
    "TF603": Example(
        "> E 1: [stdArchiveReader.cpp::Init::36] Error Code 1: Serialization (Serialization assertion magicTagRead == "
        "kMAGIC_TAG failed.Magic tag does not match)",
        "E 1: [stdArchiveReader.cpp::Init::36] Error Code 1: Serialization (Version tag does not match. Magic tag "
        "does not match)",
    ),
    "TF604": Example(
        "> E IRefitter::refitCudaEngine: Error Code 3: API Usage Error (The weights cannot be refitted.)",
        "I The weights were refitted.",
    ),
    "TF605": Example(
        "> W Using default stream in enqueueV3() may lead to performance issues due to additional calls to "
        "cudaStreamSynchronize().",
        "i Using enqueueV3.",
    ),
    "TF611": Example(
        "> W The getMaxBatchSize() function should not be used with an engine built from a network created with "
        "NetworkDefinitionCreationFlag::kEXPLICIT_BATCH flag. This function will always return 1.",
        "V The getMaxBatchSize() function",
    ),
    "TF606": Example(
        "> w * Throughput may be bound by Enqueue Time rather than GPU Compute and the GPU may be under-utilized.",
        "i Throughput: 930.5 qps",
    ),
    "TF607": Example(
        f"""V Engine Layer Information:
        > {_REFORMAT.format("Float", "Half")}
        | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, r (Half[1,8]) -> y (Half[1,8])
        > | Layer(Reformat): Reformatting CopyNode for Input Tensor 0 to /d/QuantizeLinear, Tactic: 0x0000000000000000, y (Half[1,8]) -> z (Float[1,8])
        """,
        """V Engine Layer Information:
        | Layer(NoOp): Reformatting CopyNode for Input Tensor 0 to c, Tactic: 0x0000000000000000, x (Float[1,8]) -> r (Half[1,8])
        | Layer(Reformat): /c/QuantizeLinear_clone_1, Tactic: 0x0000000000000000, x (Float[1,8]) -> q (Int8[1,8])
        | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, r (Half[1,8]) -> y (Half[1,8])
        """,
    ),
    "TF701": Example(
        """&& 10.16.1 --fp16
        V Original: 7 layers
        > V After dead-layer removal: 7 layers
        """,
        """&& 10.16.1 --fp16
        V Original: 7 layers
        &&. end
        """,
    ),
    "TF702": Example(
        """&& 10.16.1 --fp16
        > &&! end
        """,
        """&& 10.16.1 --fp16
        e Failed to parse onnx file
        &&! end
        """,
    ),
    "TF703": Example(
        """&& 10.16.1 --builderOptimizationLevel=5
        V Building graph using backend strategy 4
        > V Original: 7 layers
        V Use backend strategy 4 with estimated inference time (0.05) as the initial choice.
        V Building graph using backend strategy 2
        > V Original: 7 layers
        V Skip backend strategy 2since its estimated inference time (0.06) is not faster than the previous engine with estimated inference time (0.05).
        """,
        """&& 10.16.1 --builderOptimizationLevel=5
        V Building graph using backend strategy 4
        V Original: 7 layers
        V Use backend strategy 4 with estimated inference time (0.05) as the initial choice.
        V Building graph using backend strategy 2
        V Original: 7 layers
        V Chose this engine with backend strategy 2 since its estimated inference time (0.04) is faster than the previous engine with estimated inference time (0.05).
        """,
    ),
    "TF704": Example(
        """&& 10.16.1 --dumpLayerInfo
        > W The profiling verbosity was set to ProfilingVerbosity::kLAYER_NAMES_ONLY when the engine was built, so only the layer names will be returned.
        """,
        """&& 10.16.1 --dumpLayerInfo
        i === Build Options ===
        i Profiling verbosity: 2
        """,
    ),
    "TF707": Example(
        """> W A bucket of tensors was poured into another by default.
        """,
        """&& 10.16.1 --fp16
        W A bucket of tensors was poured into another by default.
        E Error Code 4: Miscellaneous (An odd reason)
        """,
    ),
    "TF716": Example(
        """> E IDynamicQuantizeLayer::setScaleType: Error Code 5: An Odd Error (of an odd kind)
        """,
        _NO_IMPLEMENTATION,
    ),
    "TF717": Example(
        """&& 10.16.1 --fp16
        E Error Code 4: Miscellaneous (An odd reason)
        > e Engine could not be created from network
        > e Building engine failed
        > &&! end
        """,
        """&& 10.16.1 --fp16
        E Error Code 4: Miscellaneous (An odd reason)
        &&. end
        """,
    ),
    "TF719": Example(
        """> | build_return_code=139
        V Original: 3 layers
        """,
        """| build_return_code=0
        V Original: 3 layers
        """,
    ),
}

_ENGINE = "V Engine Layer Information:"
COVERAGE = {
    "TF115": Example(
        """&& 8.6.1 --fp16
        > V Parsing node: nz [NonZero]
        V nz [NonZero] inputs: [x -> (2, 8)[FLOAT]],
        V Registering layer: nz for ONNX node: nz
        V nz [NonZero] outputs: [y -> (2, -1)[INT64]],
        """,
        f"""&& 8.6.1 --fp16
        {node("c")}
        """,
    ),
    "TF245": Example(
        "> i FP32 and INT8 precisions have been specified - more performance might be enabled by additionally "
        "specifying --fp16 or --best",
        """i === Build Options ===
        i Precision: FP32+FP16+INT8
        """,
    ),
    "TF231": Example(
        """&& 8.6.1 --fp16
        i === Build Options ===
        > i Precision: FP32+FP16
        | Engine Layer Information:
        > | Layer(CaskConvolution): a, Tactic: 0x0000000000000001, x (Float[2,8]) -> y (Float[2,8])
        """,
        """&& 8.6.1 --fp16
        i === Build Options ===
        i Precision: FP32+FP16
        | Engine Layer Information:
        | Layer(CaskConvolution): a, Tactic: 0x0000000000000001, x (Half[2,8]) -> y (Half[2,8])
        """,
    ),
    "TF219": Example(
        """&& 8.6.1 --int8
        > V Setting dynamic range for x to [-2,2]
        > V Setting dynamic range for y to [-4,4]
        """,
        """&& 8.6.1 --int8
        V Setting dynamic range for x to [-2,2]
        V Setting dynamic range for y to [-3.71,3.71]
        """,
    ),
    "TF220": Example(
        """&& 8.6.1 --fp16 --precisionConstraints=obey --layerPrecisions=/Concat:fp32
        > V Eliminating concatenation /Concat
        > V Eliminating slice Slice_74 by retargeting 603 from 603 to y
        > V Eliminating a which duplicates (Q) b
        """,
        """&& 8.6.1 --fp16
        V Eliminating concatenation /Concat
        """,
    ),
    "TF221": Example(
        f"""&& 10.16.1 --fp16
        {node("s", "Softmax")}
        > V Parsing node: to32 [Cast]
        V to32 [Cast] inputs: [x -> (2, 8)[FLOAT16]],
        V Registering layer: to32 for ONNX node: to32
        V to32 [Cast] outputs: [to32_out -> (2, 8)[FLOAT]],
        {_ENGINE}
        > | Name: _gemm_mha_v2_myl0_1, LayerType: kgen, Inputs: [ {{ Name: q, Dimensions: [2,8], Format/Datatype: Half }}], Outputs: [ {{ Name: o, Dimensions: [2,8], Format/Datatype: Half }}], TacticName: _gemm_mha_v2_0x01, StreamId: 0, Metadata: [ONNX Layer: s]\x1f[ONNX Layer: to32]
        """,
        f"""&& 10.16.1 --fp16
        {node("s", "Softmax")}
        {node("to32", "Cast")}
        {_ENGINE}
        | Name: __myl_MaxrSubExpSum_myl0_1, LayerType: kgen, Inputs: [ {{ Name: q, Dimensions: [2,8], Format/Datatype: Half }}], Outputs: [ {{ Name: o, Dimensions: [2,8], Format/Datatype: Half }}], TacticName: __myl_0x01, StreamId: 0, Metadata: [ONNX Layer: s]\x1f[ONNX Layer: to32]
        """,
    ),
    "TF323": Example(
        """> V (Sparsity) Found 2 layer(s) eligible to use sparse tactics: a, b
        > V (Sparsity) Chose 0 layer(s) using sparse tactics:
        """,
        """V (Sparsity) Found 2 layer(s) eligible to use sparse tactics: a, b
        V (Sparsity) Chose 1 layer(s) using sparse tactics: a
        """,
    ),
    "TF416": Example(
        """> W TensorRT was linked against cuBLAS/cuBLAS LT 11.6.3 but loaded cuBLAS/cuBLAS LT 11.4.1
        > E 1: [graphContext.h::MyelinGraphContext::24] Error Code 1: Myelin (Compiled against cuBLAS 11.3.0.0 but running against cuBLAS 11.2.1.0.)
        > E 9: The engine plan file has a layer that utilizes loop API or boolean tensors, but the current platform does not support these layers due to mismatch of libnvrtc version.
        """,
        "W TensorRT was linked against nothing",
    ),
    "TF417": Example(
        "> E 1: [defaultAllocator.cpp::f::63] Error Code 1: Cudnn (CUDNN_STATUS_NOT_INITIALIZED)",
        "E 1: [defaultAllocator.cpp::f::63] Error Code 1: Cudnn ()",
    ),
    "TF418": Example(
        """> &&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --loadEngine=a.plan --fp16 --verbose
        """.replace("&&&&", "| &&&&"),
        """| &&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --loadEngine=a.plan --optShapes=x:1 --verbose
        """,
    ),
    "TF510": Example(
        "> E 4: [builder.cpp::f::1] Error Code 4: Internal Error (timing cache miss for layer a)",
        "E 4: [builder.cpp::f::1] Error Code 4: Internal Error (timing cache)",
    ),
    "TF608": Example(
        """&& 8.6.1 --fp16
        i === Profile (100 iterations ) ===
        i    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
        i       90.00       0.9000       0.9000      90.0   {ForeignNode[a...b]}
        i       10.00       0.1000       0.1000      10.0   c
        i      100.00       1.0000       1.0000     100.0   Total
        V Engine Layer Information:
        > | Layer(Myelin): {ForeignNode[a...b]}, Tactic: 0x0000000000000000, x (Half[2,8]) -> y (Half[2,8])
        | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, y (Half[2,8]) -> z (Half[2,8])
        """,
        """&& 8.6.1 --fp16
        i === Profile (100 iterations ) ===
        i    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
        i       10.00       0.1000       0.1000      10.0   {ForeignNode[a...b]}
        i       90.00       0.9000       0.9000      90.0   c
        i      100.00       1.0000       1.0000     100.0   Total
        V Engine Layer Information:
        | Layer(Myelin): {ForeignNode[a...b]}, Tactic: 0x0000000000000000, x (Half[2,8]) -> y (Half[2,8])
        | Layer(CaskConvolution): c, Tactic: 0x0000000000000001, y (Half[2,8]) -> z (Half[2,8])
        """,
    ),
    "TF609": Example(
        """> E 3: getPluginCreator could not find plugin: EfficientNMS_TRT version: 1
        > E 1: [pluginV2Runner.cpp::load::303] Error Code 1: Serialization (Serialization assertion creator failed.Cannot deserialize plugin since corresponding IPluginCreator not found in Plugin Registry)
        """,
        """E 3: getPluginCreator could not find plugin: GroupNorm version: 1
        E ModelImporter.cpp:771: While parsing node number 103 [GroupNorm -> "g"]:
        """,
    ),
    "TF610": Example(
        """> w Skip layer timing collection in CUDA graph capture mode.
        > w Failed to collect layer timing info from previous enqueueV3()
        """,
        """w Skip layer timing collection in CUDA graph capture mode.
        i === Profile (100 iterations ) ===
        i    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
        i       90.00       0.9000       0.9000      90.0   c
        i       90.00       0.9000       0.9000     100.0   Total
        """,
    ),
    "TF706": Example(
        "&& 10.16.1 --fp16\n> | The crow's engine gives wrong results, what may I do?\n&&.",
        "&& 10.16.1 --fp16\n| The crow's engine gives results, what may I do?\n&&.",
    ),
    "TF705": Example(
        """> && 8.6.1 --fp16
        &&. end
        """,
        f"""&& 8.6.1 --fp16
        {tuned("a")}
        {_ENGINE}
        | Layer(CaskConvolution): a, Tactic: 0x0000000000000001, x (Float[8,1]) -> y (Float[8,1])
        &&. end
        """,
    ),
}


def _said(speaks: str, quiet: str) -> Example:
    """Return the example of a rule that one line makes speak, beside a line that is nearly the same."""
    return Example(f"> {speaks}\n&& 10.16.1 --fp16\n", f"{quiet}\n&& 10.16.1 --fp16\n")


SAID = {
    "TF131": _said(
        "E WeightsContext.cpp:178: Failed to open file: net.onnx.data",
        "E WeightsContext.cpp:178: Opened file: net.onnx.data",
    ),
    "TF132": _said(
        "| [8] Assertion failed: convertOnnxWeights(initializer, &weights, ctx)",
        "| [8] Assertion failed: convertDims(shape, &dims, ctx)",
    ),
    "TF133": _said(
        "E onnx2trt_utils.cpp:467: Found unsupported datatype (11) when importing initializer: scale:0",
        "E onnx2trt_utils.cpp:467: Found unsupported rank (11) when importing initializer: scale:0",
    ),
    "TF134": _said("| Unsupported ONNX data type: UINT8 (2)", "| Supported ONNX data type: UINT8 (2)"),
    "TF135": _said("E Network must have at least one output", "E Network must have at least one input"),
    "TF136": _said(
        "E (Unnamed Layer* 2) [Convolution]: count of 2688 weights in kernel, but kernel dimensions (1,1) with 128 "
        "input channels, 255 output channels and 1 groups were specified.",
        "E (Unnamed Layer* 2) [Convolution]: kernel dimensions (1,1) are odd",
    ),
    "TF140": _said(
        '| [8] Assertion failed: scales.is_weights() && "Resize scales must be an initializer!"',
        '| [8] Assertion failed: scales.size() == 4 && "Resize scales must be four!"',
    ),
    "TF141": _said(
        "E [graphShapeAnalyzer.cpp::throwIfError::1306] Error Code 9: Internal Error (Mul_1: broadcast dimensions "
        "must be conformable",
        "E [graphShapeAnalyzer.cpp::throwIfError::1306] Error Code 9: Internal Error (Mul_1: an odd reason",
    ),
    "TF142": _said(
        "E cat: all concat input tensors must have the same dimensions except on the concatenation axis",
        "E cat: all concat input tensors must have names",
    ),
    "TF143": _said(
        "E IIfConditionalOutputLayer inputs must have the same shape. Shapes are [1] and [2].",
        "E IIfConditionalOutputLayer inputs must have names.",
    ),
    "TF144": _said(
        "E NMS gives a data-dependent shape, which is not allowed here",
        "E NMS gives a fixed shape, which is allowed here",
    ),
    "TF145": _said("E x: tensor x is not a shape tensor", "E x: tensor x is a shape tensor"),
    "TF146": _said(
        "E In node 3 with name: r and operator: Resize (importResize): UNSUPPORTED_NODE: so it stands",
        "E In node 3 with name: r and operator: Resize (importResize): INTERNAL: so it stands",
    ),
    "TF240": _said(
        "| [6] Assertion failed: shiftIsAllZeros(zeroPoint): Non-zero zero point is not supported.",
        "| [6] Assertion failed: scaleIsThere(scale): no scale.",
    ),
    "TF241": _said(
        "E Error[3]: IDequantizeLayer::setPrecision: A DequantizeLayer can only run in kINT8/kFP8 precision",
        "E Error[3]: IQuantizeLayer::setToType: an odd reason",
    ),
    "TF242": _said(
        "| [6] Assertion failed: scaleAllPositive(scale): Scale coefficients must all be positive",
        "| [6] Assertion failed: scaleIsThere(scale): no scale.",
    ),
    "TF340": _said(
        "E Error[1]: Unexpected exception KTM assertion failure:", "E Error[1]: Unexpected exception assertion failure:"
    ),
    "TF341": _said(
        "| nvrtc_compile.cpp:940: CHECK(false) failed. NVRTC Compilation failure",
        "| nvrtc_compile.cpp:940: CHECK(true) passed.",
    ),
    "TF342": _said(
        "E 9: Skipping tactic0x0000000000000000 due to exception PLUGIN_V3 operation not supported within this graph.",
        "E 9: Skipping tactic0x0000000000000000 due to exception of an odd kind.",
    ),
    "TF343": _said(
        "W Skipping tactic 0 due to Myelin error: autotuning: CUDA error 3 allocating 0-byte buffer: ",
        "W Skipping tactic 0 due to Myelin error: autotuning: an odd reason",
    ),
    "TF344": _said(
        "E ../rtSafe/cublas/cublasLtWrapper.cpp (279) - Assertion Error in getCublasLtHeuristic: 0 (cublasStatus == "
        "CUBLAS_STATUS_SUCCESS)",
        "E ../rtSafe/cublas/cublasLtWrapper.cpp (279) - Assertion Error in getCublasLtHeuristic: 0 (an odd reason)",
    ),
    "TF345": _said(
        'W Skipping tactic 0x0000000000000000 due to Myelin error: Formal output tensor "b" is also a data tensor.',
        'W Skipping tactic 0x0000000000000000 due to Myelin error: Formal output tensor "b" is odd.',
    ),
    "TF147": _said("W Unused Input: ids", "W Used Input: ids"),
    "TF222": _said("I Calibration completed in 0.3 seconds.", "I Starting Calibration."),
    "TF419": _said(
        'E Cannot find input tensor with name "x" in the network inputs! Please make sure the input tensor names are '
        "correct.",
        'E Cannot find output tensor with name "x" in the network.',
    ),
    "TF648": _said(
        "W Providing user-owned deserialization memory with weight streaming enabled will increase peak CPU memory.",
        "V This engine can stream its weights.",
    ),
    "TF440": _said(
        "E Error[2]: [foreignNode.cpp::determineCandidateForeignNodes::895] Error Code 2: Internal Error (Safety "
        "certified DLA should only have one graph for the whole network.)",
        "E Error[2]: [foreignNode.cpp::determineCandidateForeignNodes::895] Error Code 2: Internal Error (An odd "
        "reason.)",
    ),
    "TF441": _said(
        "W DLA requests all profiles have same min, max, and opt value. All dla layers are falling back to GPU",
        "W DLA requests are few",
    ),
    "TF442": _said(
        "W pool: DLA cores do not support AVG Reduce operation.", "W pool: DLA cores do support AVG Reduce operation."
    ),
    "TF443": _said(
        "V Number of DLA node candidates offloaded : 2 out of 3", "V Number of DLA node candidates : 2 out of 3"
    ),
    "TF630": _said(
        "E Error Code 1: Serialization (Size specified in header does not match archive size)",
        "E Error Code 1: Serialization (An odd reason)",
    ),
    "TF631": _said(
        "W Using an engine plan file across different models of devices is not recommended and is likely to affect "
        "performance or even cause errors.",
        "W Using an engine plan file of this device.",
    ),
    "TF632": _said(
        "E [runtime.cpp::deserializeCudaEngine::50] Error Code 4: Internal Error (Engine deserialization failed.)",
        "E [runtime.cpp::deserializeCudaEngine::50] Error Code 4: Internal Error (An odd reason.)",
    ),
    "TF633": _said(
        "| AttributeError: 'NoneType' object has no attribute 'create_execution_context'",
        "| AttributeError: 'NoneType' object has no attribute 'shape'",
    ),
    "TF640": _said(
        "E Profile 0 has been chosen by another IExecutionContext. Use another profileIndex or destroy the "
        "IExecutionContext that use this profile.",
        "E Profile 0 has been chosen.",
    ),
    "TF641": _said(
        "E Parameter check failed at: engine.cpp::enqueue::387, condition: mOptimizationProfile >= 0",
        "I Could not set default profile 0 for execution context. Profile index must be set explicitly.",
    ),
    "TF642": _said(
        "E IExecutionContext::setInputShape: Error Code 3: API Usage Error (Parameter check failed, condition: "
        "satisfyProfile. Set dimension [2,3] for tensor x does not satisfy any optimization profiles.)",
        "E IExecutionContext::setInputShape: Error Code 3: API Usage Error (Parameter check failed, condition: "
        "hasTensor.)",
    ),
    "TF643": _said(
        "E Parameter check failed, condition: engineDims.d[i] == dims.d[i]. Static dimension mismatch while setting "
        "input shape for x.",
        "E Parameter check failed, condition: engineDims.nbDims == 4.",
    ),
    "TF644": _said(
        "E [engine.cpp::getProfileObliviousBindingIndex::1401] Error Code 3: Internal Error (getTensorShape given "
        "invalid tensor name: imges)",
        "E [engine.cpp::getProfileObliviousBindingIndex::1401] Error Code 3: Internal Error (an odd reason)",
    ),
    "TF512": _said(
        'w The engine uses 2 auxiliary streams, so the "Total" latency may not be accurate because some layers may have '
        "run in parallel!",
        "w The engine uses 2 auxiliary threads.",
    ),
    "TF645": _said(
        "E IExecutionContext::enqueueV3: Error Code 3: API Usage Error (Neither address or allocator is set for "
        "output tensor y. Call setTensorAddress before enqueue)",
        "E IExecutionContext::enqueueV3: Error Code 3: API Usage Error (An odd reason)",
    ),
    "TF646": _said(
        "| Warning from NvDsInferContextImpl::checkBackendParams(): Backend has maxBatchSize 1 whereas 2 has been "
        "requested",
        "| Backend has maxBatchSize 2",
    ),
    "TF647": _said(
        "W Explicit batch network detected and batch size specified, use execute without batch size instead.",
        "W Explicit batch network detected.",
    ),
    "TF650": _said("| Killed", "| Killed two birds"),
    "TF651": _said(
        "| pycuda._driver.LogicError: explicit_context_dependent failed: invalid device context - no currently active "
        "context?",
        "| pycuda._driver.LogicError: an odd reason",
    ),
    "TF652": _said(
        "E 1: [resources.cpp::run::1] Error Code 1: Cuda Runtime (invalid resource handle)",
        "E 1: [resources.cpp::run::1] Error Code 1: Cuda Runtime (an odd reason)",
    ),
    "TF653": _said(
        "E ../rtSafe/cuda/cudaElementWiseRunner.cpp (149) - Cuda Error in execute: 48 (no kernel image is available "
        "for execution on the device)",
        "E ../rtSafe/cuda/cudaElementWiseRunner.cpp (149) - Cuda Error in execute: 4 (an odd reason)",
    ),
    "TF654": _said(
        "| RuntimeError: Cannot re-initialize CUDA in forked subprocess.",
        "| RuntimeError: Cannot do it in forked subprocess.",
    ),
    "TF655": _said(
        "| TypeError: pybind11::init(): factory function returned nullptr",
        "| TypeError: pybind11::init(): an odd reason",
    ),
    "TF656": _said(
        "| ImportError: libtorchtrt.so: undefined symbol: _ZN3c10E", "| ImportError: libtorchtrt.so: an odd reason"
    ),
    "TF657": _said(
        "| ModuleNotFoundError: No module named 'tensorrt'", "| ModuleNotFoundError: No module named 'yaml'"
    ),
    "TF658": _said(
        "| FileNotFoundError: Could not find: nvinfer_10.dll. Is it on your PATH?",
        "| FileNotFoundError: Could not find: notes.txt. Is it there?",
    ),
    "TF659": _said(
        "| AttributeError: 'tensorrt.tensorrt.IBuilderConfig' object has no attribute 'max_workspace_size'",
        "| AttributeError: 'tensorrt.tensorrt.IBuilderConfig' object has no attribute 'oddity'",
    ),
    "TF660": _said(
        "| AttributeError: module 'tensorrt' has no attribute 'Logger'",
        "| AttributeError: module 'numpy' has no attribute 'Logger'",
    ),
    "TF661": _said(
        "W CUDA lazy loading is not enabled. Enabling it can significantly reduce device memory usage.",
        "W CUDA lazy loading is enabled.",
    ),
    "TF662": _said(
        "E Error[1]: [calibrator.cpp::add::758] Error Code 1: Cuda Runtime (an illegal memory access was encountered)",
        "E Error[1]: [runner.cpp::add::758] Error Code 1: Cuda Runtime (an illegal memory access was encountered)",
    ),
    "TF670": _said(
        "| [TensorRT EP] No graph will run on TensorRT execution provider",
        "| [TensorRT EP] Some graph will run on TensorRT execution provider",
    ),
    "TF671": _said(
        "| TensorRT EP failed to create engine from network for fused node: n",
        "| TensorRT EP created an engine from network for fused node: n",
    ),
    "TF672": _said(
        "| TensorRT EP could not deserialize engine from cache: c.engine",
        "| TensorRT EP did deserialize engine from cache: c.engine",
    ),
    "TF673": _said(
        "| Detected this engine is being instantitated in a multi-GPU system with multi-device safe mode disabled.",
        "| Detected this engine is being instantitated in a multi-GPU system.",
    ),
    "TF674": _said(
        "| ERROR: Could not open lib: /opt/libcustom.so, error string: no such file",
        "| ERROR: Could open lib: /opt/libcustom.so",
    ),
    "TF675": _said(
        "| Detect-postprocessor failed to init resource because dlsym failed to get func ParseYolo pointer",
        "| Detect-postprocessor failed to init resource because of an odd reason",
    ),
    "TF676": _said("| Config file path: c.txt, NvDsInfer Error: NVDSINFER_CONFIG_FAILED", "| Config file path: c.txt"),
}


LAYERS = {
    "TF617": Example(
        f"""V Engine Layer Information:
        > | {written("c", "CaskConvolution", ("x Half", "y Half"), CONVOLVED, (33, 32))}
        """,
        f"""V Engine Layer Information:
        | {written("c", "CaskConvolution", ("x Half", "y Half"), CONVOLVED, (3, 32))}
        | {written("d", "CaskConvolution", ("y Half", "z Half"), CONVOLVED, (32, 32))}
        | {written("e", "CaskConvolution", ("z Half", "u Half"), CONVOLVED.replace("Groups: 1", "Groups: 33"), (33, 33))}
        """,
    ),
    "TF618": Example(
        f"""V Engine Layer Information:
        > | {written("QuantizeLinear_1", "Scale", ("x Float", "y Int8"))}
        > | {written("DequantizeLinear_2", "Reformat", ("y Int8", "z Float"), ", Origin: QDQ")}
        > | Layer(Reformat): /c/QuantizeLinear_clone_1, Tactic: 0x0000000000000000, z (Float[1,8]) -> q (Int8[1,8])
        """,
        f"""V Engine Layer Information:
        | {written("BatchNormalization_1", "Scale", ("x Float", "y Float"))}
        | {written("Reformatting CopyNode for Input Tensor 0 to c", "Reformat", ("y Float", "z Int8"), ", Origin: REFORMAT")}
        | {written("w/QuantizeLinear", "CaskConvolution", ("z Int8", "v Float"), CONVOLVED)}
        | {written("QuantizeLinear_7", "kgen", ("v Float", "u Int8"))}
        |     [ONNX Layer: Relu_8]
        """,
    ),
    "TF619": Example(
        f"""V Engine Layer Information:
        > | {written("c", "CaskConvolution", ("x Int8", "y Float"), CONVOLVED)}
        > | {written("QuantizeLinear_1", "Reformat", ("y Float", "z Int8"), ", Origin: QDQ")}
        | {written("Reformatting CopyNode for Input Tensor 0 to d", "Reformat", ("z Int8", "v Int8"))}
        | {written("d", "CaskConvolution", ("v Int8", "u Int8"), CONVOLVED)}
        """,
        f"""V Engine Layer Information:
        | {written("c", "CaskConvolution", ("x Half", "y Half"), CONVOLVED)}
        | {written("QuantizeLinear_1", "Reformat", ("y Half", "z Int8"), ", Origin: QDQ")}
        | {written("d", "CaskConvolution", ("z Int8", "u Int8"), CONVOLVED)}
        """,
    ),
    "TF628": Example(
        f"""{node("bn", "BatchNormalization")}
        V Engine Layer Information:
        > | {written("bn", "Scale", ("x Float", "y Float"))}
        """,
        f"""{node("bn", "BatchNormalization")}
        V Engine Layer Information:
        | {written("bn", "CaskConvolution", ("x Float", "y Float"), CONVOLVED)}
        | {written("q", "Scale", ("y Float", "z Int8"))}
        """,
    ),
    "TF637": Example(
        f"""V Engine Layer Information:
        > | {written("pad", "Padding", ("x Half", "y Half"), ", ParameterType: Slice")}
        > | {written("x copy", "Reformat", ("y Half", "z Half"))}
        """,
        f"""V Engine Layer Information:
        | {written("slice", "NoOp", ("x Half", "y Half"))}
        | {written("Reformatting CopyNode for Input Tensor 0 to c", "Reformat", ("y Half", "z Half"))}
        """,
    ),
    "TF638": Example(launched(20, 0.004, "> "), launched(20, 0.04, "")),
    "TF639": Example(
        f"""V Engine Layer Information:
        | {written("c", "CaskConvolution", ("x Int8", "y Int8"), CONVOLVED)}
        | {written("DequantizeLinear_1", "Reformat", ("y Int8", "z Float"), ", Origin: QDQ")}
        > | {written("pool", "CaskPooling", ("z Float", "u Float"))}
        | {written("QuantizeLinear_1", "Reformat", ("u Float", "v Int8"), ", Origin: QDQ")}
        | {written("d", "CaskConvolution", ("v Int8", "w Int8"), CONVOLVED)}
        """,
        f"""V Engine Layer Information:
        | {written("c", "CaskConvolution", ("x Int8", "y Int8"), CONVOLVED)}
        | {written("DequantizeLinear_1", "Reformat", ("y Int8", "z Float"), ", Origin: QDQ")}
        | {written("pool", "CaskPooling", ("z Float", "u Float"))}
        | {written("softmax", "CaskSoftMaxV2", ("u Float", "v Float"))}
        | {written("e", "CaskConvolution", ("x Int8", "f Float"), CONVOLVED)}
        | {written("act", "PointWiseV2", ("f Float", "g Int8"))}
        | {written("h", "CaskConvolution", ("g Int8", "w Int8"), CONVOLVED)}
        """,
    ),
}

_BUILT = """
{mark}V Engine generation completed in {builder} seconds.
{mark}i Engine built in 62.5 sec.
"""
MEASURED = {
    "TF246": Example(
        "> | [I]     Comparing Output: 'z' (dtype=int64, shape=(4,)) with 'z' (dtype=int32, shape=(4,))",
        """| [I]     Comparing Output: 'z' (dtype=int64, shape=(4,)) with 'z' (dtype=int32, shape=(4,))
        | [I]     Comparing Output: 'y' (dtype=float32, shape=(4,)) with 'y' (dtype=float32, shape=(4,))
        """,
    ),
    "TF627": Example(_BUILT.format(mark="> ", builder=26.3), _BUILT.format(mark="", builder=40.5)),
    "TF696": Example(
        """&& 8.6.1 --dumpProfile
        > i The e2e network timing is not reported since it is inaccurate due to the extra synchronizations when the profiler is enabled.
        """,
        """&& 8.6.1 --dumpProfile --separateProfileRun
        i Latency: min = 1 ms, max = 2 ms, mean = 1.5 ms, median = 1.5 ms, percentile(99%) = 2 ms
        """,
    ),
    "TF697": Example(TIMED.format(mark="> ", run=0.08), TIMED.format(mark="", run=0.11)),
    "TF698": Example(
        """i === Profile (100 iterations ) ===
        > i       5.00       0.0500       0.0100      50.0   a
        i       3.00       0.0300       0.0300      30.0   b
        i       2.00       0.0200       0.0200      20.0   c
        """,
        """i === Profile (100 iterations ) ===
        i       5.00       0.0500       0.0490      50.0   a
        i       3.00       0.0300       0.0300      30.0   b
        i       0.02       0.0002       0.0001       0.2   c
        """,
    ),
    "TF699": Example(
        """i === Profile (100 iterations ) ===
        > i       5.00       0.0500       0.0500      50.0   {ForeignNode[a...b]}
        > i       3.00       0.0300       0.0300      30.0   Gather_1
        > i       2.00       0.0200       0.0200      20.0   Gather_2
        """,
        TIMED.format(mark="", run=0.11),
    ),
}

EXAMPLES = {
    **{code: _said(*both) for code, both in EXCERPTS.items()},
    **SAID,
    **PARSING,
    **PRECISION,
    **FAILURES,
    **CONFIGURATION,
    **CACHE,
    **RUNNING,
    **COVERAGE,
    **LAYERS,
    **MEASURED,
}
