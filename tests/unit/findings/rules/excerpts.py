"""For rules that report what a line says outright: such a line, and one that is nearly the same."""

from __future__ import annotations

EXCERPTS = {
    "TF6112": (
        "| [TRT-LLM] [RANK 1] [E] Hang detected on rank 1 in PyExecutor.\nI a",
        "| [TRT-LLM] [RANK 1] [I] No hang was seen on rank 1 in PyExecutor.\nI a",
    ),
    "TF489": (
        "| /usr/bin/ld: cannot find /nest/lib: file format not recognized\nI a",
        "| /usr/bin/ld: warning: /nest/lib: file format was recognized\nI a",
    ),
    "TF490": (
        "|   Could NOT find Crow (missing: CROW_LIBRARY)\nI a",
        "| -- Could NOT find Crow (missing: CROW_LIBRARY)\nI a",
    ),
    "TF491": (
        "| CMake Error at CMakeLists.txt:7 (message):\n|   Crow is not in /nest\nI a",
        "| CMake Warning at CMakeLists.txt:7 (message):\n|   Crow is not in /nest\nI a",
    ),
    "TF492": ("| error: crow.txt: patch does not apply\nI a", "| Applied patch to 'crow.txt' cleanly.\nI a"),
    "TF493": ("| gmake: Makefile: No such file or directory\nI a", "| gmake: Entering directory '/nest'\nI a"),
    "TF494": ("| -- Configuring incomplete, errors occurred!\nI a", "| -- Configuring done\nI a"),
    "TF495": (
        "| crow 1.2 requires nest==3.0, but you have nest 4.0 which is incompatible.\nI a",
        "| Collecting nest==3.0 (from crow)\nI a",
    ),
    "TF496": (
        "| ERROR: Cannot install crow and nest because these package versions have conflicting dependencies.\nI a",
        "| Successfully installed crow-1.2 nest-3.0\nI a",
    ),
    "TF497": (
        "| tensorrt_cu12_bindings   10.3.0\n> | tensorrt_cu12_libs   10.1.0\nI a",
        "| tensorrt_cu12_bindings   10.3.0\n| tensorrt_cu12_libs   10.3.0\nI a",
    ),
    "TF260": (
        "| WARNING: INT8 not supported by platform. Trying FP16 mode.\nI a",
        "| WARNING: INT8 is supported by the platform.\nI a",
    ),
    "TF168": (
        "| It looks like this model contains foldable nodes that produce large outputs.\nI a",
        "| It looks like this model contains nodes that produce large outputs.\nI a",
    ),
    "TF6110": ("|   Min duration satisfied : NO\nI a", "|   Min duration satisfied : Yes\nI a"),
    "TF6111": (
        "| COMMAND_STARTED {'command': 'F', 'config_key': 'a', 'runner_name': 'b'}\n| O {'status': CommandStatus.FAIL}",
        "| COMMAND_STARTED {'command': 'F', 'config_key': 'a', 'runner_name': 'b'}\n| O {'status': CommandStatus.OK}",
    ),
    "TF483": (
        '| RuntimeError: Tried to call pure virtual function "IProfiler_pyimpl::report_layer_time"',
        '| RuntimeError: Tried to call the function "IProfiler_pyimpl::report_layer_time"',
    ),
    "TF487": (
        "| [ERROR] Exception caught in get_batch(): KeyError: 'warp'",
        "| An exception was caught in get_batch",
    ),
    "TF488": (
        "| warp.h:31:7: error: looser exception specification on virtual function 'virtual void Warp::log()'",
        "| warp.h:31:7: warning: exception specification of 'virtual void Warp::log()'",
    ),
    "TF484": (
        "E 1: [graphContext.h::~MyelinGraphContext::41] Error Code 1: Myelin (Error 709 destroying stream '0x7f01'.)",
        "E 1: [graphContext.h::~MyelinGraphContext::41] Error Code 1: Myelin (Error 708 destroying stream '0x7f01'.)",
    ),
    "TF481": (
        "| ValueError: (InvalidArgument) some trt inputs dynamic shape info not set, check the INFO log above.",
        "| ValueError: (InvalidArgument) some trt inputs dynamic shape info is set, check the INFO log above.",
    ),
    "TF482": (
        "| python3: can't open file 'tools/fold.py': [Errno 2] No such file or directory",
        "| python3: can open file 'tools/fold.py'",
    ),
    "TF515": (
        "| Avg request latency: 900 usec (queue 800 usec + compute input 9 usec + compute infer 90 usec)",
        "| Avg request latency: 900 usec (queue 400 usec + compute input 99 usec + compute infer 400 usec)",
    ),
    "TF516": (
        "V crow (Myelin[0x80000023]) profiling completed in 140.5 seconds. Fastest Tactic: 0x0000000000000001 Time: 1",
        "V crow (Myelin[0x80000023]) profiling completed in 14.5 seconds. Fastest Tactic: 0x0000000000000001 Time: 1",
    ),
    "TF485": (
        "| ERROR: Failed building wheel for crow",
        "| Building wheel for crow (setup.py): finished with status 'done'",
    ),
    "TF259": (
        "| mAP of the PyTorch crow: 0.512\n> | mAP of the TensorRT crow: 0.431",
        "| mAP of the PyTorch crow: 0.512\n| mAP of the TensorRT crow: 0.509",
    ),
    "TF258": (
        "W Int8 Calibration is using randomly generated input data.",
        "W Int8 Calibration is using generated input data.",
    ),
    "TF514": (
        "I Average on 10 runs - GPU latency: 2.5 ms - Host latency: 3 ms (end to end 5 ms, enqueue 0.5 ms)",
        "I Average on 10 runs - GPU latency: 2.5 ms - Host latency: 3 ms (end to end 3.1 ms, enqueue 0.5 ms)",
    ),
    "TF6081": (
        "| WARN nvinfer gstnvinfer.cpp:643:gst_nvinfer_logger:<a> [UID = 1]: deserialize engine from file :/a failed",
        "| deserialized trt engine from :/a",
    ),
    "TF479": (
        "| libnvinfer.so: error adding symbols: file in wrong format",
        "| libnvinfer.so: error adding symbols: file in a format",
    ),
    "TF478": ("| Enabling PyTorch fallback as no engine was found.", "| an engine was found"),
    "TF513": (
        "W No implementation obeys reformatting-free rules, at least 4 reformatting nodes are needed",
        "W An implementation obeys the rules",
    ),
    "TF467": ("| libnvinfer.so.8: file too short", "| libnvinfer.so.8: file too long"),
    "TF468": ("| libc.so.6: version `GLIBC_2.34' not found", "| libc.so.6: version GLIBC_2.34 found"),
    "TF469": ('| could not select device driver "" with capabilities: [[gpu]].', "| could not select a driver"),
    "TF470": ("| libgomp.so.1: cannot allocate memory in static TLS block", "| libgomp.so.1: memory in a static block"),
    "TF471": ("| #error -- unsupported GNU version! gcc versions later than 8", "| #error -- GNU version"),
    "TF354": ("| Failed, NCCL error allreducePlugin.cpp:400 'unhandled system error'", "| NCCL version 2.19.3"),
    "TF472": ("| PMIX ERROR: ERROR in file gds_ds12_lock_pthread.c at line 168", "| PMIX started"),
    "TF473": ("| NotImplementedError: Unsupported architecture: Qwen3ForCausalLM", "| architecture: Qwen3ForCausalLM"),
    "TF474": (
        "| Unknown type name '__torch__.torch.classes.tensorrt.Engine':",
        "| type name '__torch__.torch.classes.tensorrt.Engine'",
    ),
    "TF475": (
        "| TensorRT mismatch. Compiled against version 5.0.2, but loaded 5.1.2.",
        "| TensorRT. Compiled against version 5.0.2",
    ),
    "TF239": ("| Number of TensorRT candidate segments: 0", "| Number of TensorRT candidate segments: 3"),
    "TF476": ("| inconsistent data type: TYPE_FP32 is inferred from model pre", "| data type: TYPE_FP32 is inferred"),
    "TF251": ("| Calibration table does not match calibrator algorithm type.", "| Calibration table read"),
    "TF329": (
        "| #assertion/plugin/common/checkMacrosPlugin.cpp,195",
        "| #assert/plugin/common/checkMacrosPlugin.cpp,195",
    ),
    "TF477": ("| E: Unable to locate package tensorrt", "| E: Unable to locate package cowsay"),
    "TF612": ("| Generating '/tmp/nsys-me/nsys-report-5bde.qdstrm'", "| Generating '/tmp/nsys-report.sqlite'"),
    "TF137": ("| [TRT] CaffeParser: Could not open file net.prototxt", "| [TRT] CaffeParser: done with net.prototxt"),
    "TF138": ("E UffParser: Validator error: tile: Unsupported operation _Tile_TRT", "E Parser: Validator error"),
    "TF139": ('| a.hpp:1: Assertion `f && "Unable to load weight file."\' went wrong', "| weight file a.wts loaded"),
    "TF148": ("| [5] Assertion failed: ctx->tensors().count(inputName)", "| [5] Assertion failed: tensors(inputName)"),
    "TF149": ("| [8] Assertion failed: axis >= 0 && axis < nbDims", "| [8] Assertion failed: axis == 1"),
    "TF150": (
        "| RuntimeError: In node 4 (importFallbackPluginImporter): UNSUPPORTED_NODE",
        "| RuntimeError: In node 4 (importPluginV2): INVALID_NODE",
    ),
    "TF151": ("| ERROR: builtin_op_importers.cpp:12 In function importMod:", "| ERROR: In function parseGraph:"),
    "TF152": (
        "| INVALID_VALUE: the parser only supports TensorRT INetworkDefinitions with an explicit batch dimension.",
        "| INVALID_VALUE: the parser only supports networks.",
    ),
    "TF153": ("| Failed to parse ONNX model from file: net.onnx", "| Parsed ONNX model from file: net.onnx"),
    "TF154": ("W ONNX model has a newer ir_version (0.0.6) than this parser", "W ONNX model has ir_version (0.0.6)"),
    "TF155": (
        "| [7] Assertion failed: _importer_ctx.tensors().at(output.name()).is_tensor()",
        "| [7] Assertion failed: tensors().at(0)",
    ),
    "TF156": (
        "| [8] Assertion failed: This version of TensorRT only supports floor nearest_mode!",
        "W This version of TensorRT does not support parser.set_builder_config(). Some flags may not work correctly.",
    ),
    "TF157": ("| Description: Assertion failed: dims.nbDims == 3", "| Description: Assertion failed: dims.size() == 3"),
    "TF223": (
        "E Calibration failure occurred with no scaling factors detected. Why?",
        "E Calibration failure occurred.",
    ),
    "TF257": ("W Tensor conv_7 is uniformly zero.", "W Tensor conv_7 is zero."),
    "TF224": (
        "E 2: [quantization.cpp::DynamicRange::65] Error Code 2: Internal Error (Assertion min_ <= max_ failed.)",
        "E 2: [quantization.cpp::DynamicRange::65] Error Code 2: Internal Error (Assertion min_ > 0 failed.)",
    ),
    "TF158": (
        "E Error Code 4: Internal Error (/Add: output shape can not be computed)",
        "E Error Code 4: Internal Error (/Add: output shape)",
    ),
    "TF159": (
        "E Repeated layer name: conv1 (layers must have distinct names)",
        "V Repeated name: [conv1]",
    ),
    "TF450": ("| bash: trtexec: command not found", "| bash: nvcc: command not found"),
    "TF247": (
        "E ../builder/cudnnBuilderWeightConverters.cpp (631) - Assertion Error in assertRegionTightlyFitsTensor: 0 (a)",
        "E ../builder/cudnnBuilderWeightConverters.cpp (631) - Assertion Error in assertRegionFits: 0 (a)",
    ),
    "TF248": (
        "E [weightConvertors.cpp::quantizeBiasCommon::310] Error Code 2: Internal Error (Assertion getter(i) != 0)",
        "E [weightConvertors.cpp::quantizeScale::310] Error Code 2: Internal Error (Assertion getter(i) > 0 failed. )",
    ),
    "TF448": (
        "E Default DLA is enabled but layer fc is not supported on DLA and falling back to GPU is not enabled.",
        "E Default DLA is enabled and layer fc is supported on DLA.",
    ),
    "TF449": (
        "E x: for dimension number 0 in profile 0 does not match network definition (got min=1)).",
        "E x: the number of dimensions is 4",
    ),
    "TF243": (
        "E Setting dynamic range is only allowed when there are no Q/DQ layers in the Network.",
        "E Setting dynamic range is allowed.",
    ),
    "TF244": (
        "E Error Code 2: Internal Error (w: Quantized constant is only allowed before DQ or PLUGIN_V2 node)",
        "E Error Code 2: Internal Error (w: Quantized constant is allowed)",
    ),
    "TF316": (
        "E Error Code 9: Internal Error (Networks with QuantizeLayer layers require hardware with Int8 support.)",
        "E Error Code 9: Internal Error (Networks require hardware.)",
    ),
    "TF626": (
        "| pycuda._driver.LogicError: cuMemcpyHtoDAsync failed: invalid argument",
        "| pycuda._driver.LogicError: cuMemcpyHtoDAsync failed: misaligned address",
    ),
    "TF665": (
        "| Error Code 3: API Usage Error (SymbolAddress for getCreators could not be loaded)",
        "| Error Code 3: API Usage Error (getCreators is loaded)",
    ),
    "TF445": ("E Cannot create DLA engine, 0 not available", "E Cannot create a file, 0 bytes available"),
    "TF160": (
        "E 4: Error Code 4: Shape Error (reshape dimension with more than one -1 wildcard. Reshaping [2,3] to [-1,-1])",
        "E 4: Error Code 4: Shape Error (reshape dimension with one -1 wildcard)",
    ),
    "TF161": (
        "E Loop API is not supported on this configuration. This may be because TensorRT is statically linked.",
        "E Loop API is slow on this configuration",
    ),
    "TF162": (
        "| [!] Failed to parse ONNX model. Does the model file exist and contain a valid ONNX model?",
        "| [!] Failed to parse ONNX model attributes",
    ),
    "TF348": (
        "| Assertion failed: Unsupported architecture (fmhaRunner.cpp:87)",
        "| Assertion failed: odd architecture",
    ),
    "TF451": (
        "| EP_FAIL : Users need to specify all the dynamic shape inputs with associated profiles if they want",
        "| EP_FAIL : Users need to specify all the dynamic shape inputs",
    ),
    "TF629": (
        "E 4: Error Code 4: Internal Error (IRuntime::getEngineHostCodeAllowed() is false.)",
        "E 4: Error Code 4: Internal Error (IRuntime::getEngine() is false.)",
    ),
    "TF649": (
        "| No corresponding output TRT Tensor found for TorchScript output: 951",
        "| No corresponding output found for TorchScript output: 951",
    ),
    "TF452": (
        "E dla/dlaUtils.cpp (171) - DLA Error in deserialize: 7 (Failure to load program.)",
        "E dla/dlaUtils.cpp (171) - deserialize: 7",
    ),
    "TF664": ("| failed to build CUDA engine", "| building CUDA engine"),
    "TF163": (
        "| In node 614 (parseGraph): INVALID_NODE: Invalid Node - /ArgMax",
        "| In node 614 (parseGraph): /ArgMax",
    ),
    "TF164": (
        "E 2: [graphShapeAnalyzer.cpp::erase::1138] Error Code 2: Internal Error (Assertion !mValueMapUndo failed. )",
        "E 2: [graphShape.cpp::erase::1138] Error Code 2: Internal Error (Assertion !mValueMapUndo failed. )",
    ),
    "TF165": (
        "E Error Code 2: Internal Error (Assertion sliceOutDims[i] <= inputDims.d[i] failed. )",
        "E Error Code 2: Internal Error (Assertion sliceDims[i] <= inputDims.d[i] failed. )",
    ),
    "TF600": (
        "E Destroying a builder object before destroying objects it created leads to undefined behavior.",
        "E Destroying a builder object after objects it created.",
    ),
    "TF349": (
        "E Skipping tactic 0x0000000000000000 due to exception [t.cpp] Could not infer output types for operation: 4",
        "E Skipping tactic 0x0000000000000000 due to exception [t.cpp] Could not infer output",
    ),
    "TF453": ("E Invalid IOFormat", "E Invalid format"),
    "TF666": (
        "| Model 'tensorrt_llm' loading failed with error: key 'use_paged' not found",
        "| Model 'tensorrt_llm' loading failed",
    ),
    "TF249": (
        "E 2: [optimizer.cpp::filterQDQFormats::4422] Assertion !n->candidateRequirements.empty() failed. odd",
        "E 2: [optimizer.cpp::filterQDQFormats::4422] Assertion n->candidateRequirements.size() > 1 failed. odd",
    ),
    "TF347": (
        "E 2: Internal Error (Assertion !layerImpls.empty() failed. /a/NonZero has no runners that implement it In f)",
        "E 2: Internal Error (Assertion !layerImpls.empty() failed. /a/NonZero has runners)",
    ),
    "TF420": (
        "| RuntimeError: tensorrt is only a placeholder project on PyPI.org repository.",
        "| RuntimeError: tensorrt is a project on PyPI.org repository.",
    ),
    "TF421": ("| /usr/bin/ld: cannot find -lnvinfer", "| /usr/bin/ld: cannot find -lpng"),
    "TF422": (
        "E 4: Error Code 4: Internal Error (kOPT values for profile 0 violate shape constraints: broadcast)",
        "E 4: [shapeCompiler.cpp::check::832] Error Code 4: Internal Error (kOPT values for profile 0 are odd)",
    ),
    "TF423": (
        "E 3: API Usage Error (kPREFER_PRECISION_CONSTRAINTS cannot be set if kOBEY_PRECISION_CONSTRAINTS is set.)",
        "E 3: API Usage Error (kPREFER_PRECISION_CONSTRAINTS is set.)",
    ),
    "TF613": ("| Segmentation fault (core dumped)", "| Segmentation done"),
    "TF614": ("| terminate called after throwing an instance of 'std::bad_alloc'", "| terminate called by its user"),
    "TF615": (
        "E 2: [nodes.cpp::read::1] Error Code 2: Internal Error (Assertion x->type() == y failed. )",
        "E 2: [nodes.cpp::read::1] Error Code 2: An Odd Error (an odd reason)",
    ),
    "TF616": (
        "E IBuilderConfig::setDeviceType: Error Code 3: API Usage Error (of an odd kind)",
        "E Parameter check done at: ../builder/BuilderConfig.cpp::setDeviceType::177",
    ),
    "TF620": (
        "E Parameter check failed at: engine.cpp::setDims::940, condition: engineDims.nbDims == dims.nbDims",
        "E Parameter check failed at: engine.cpp::setBindingDimensions::940, condition: engineDims.nbDims == 3",
    ),
    "TF621": (
        "E Parameter check failed at: engine.cpp::setDims::938, condition: mEngine.bindingIsInput(bindingIndex)",
        "E Parameter check failed at: engine.cpp::setBindingDimensions::938, condition: bindingIndex > 0",
    ),
    "TF622": ("| Cuda failure: 35", "| Cuda failures: none"),
    "TF623": (
        "E [pluginV2DynamicExtRunner.cpp::execute::115] Error Code 2: Internal Error (Assertion status failed. )",
        "E [convRunner.cpp::execute::115] Error Code 2: Internal Error (Assertion status failed. )",
    ),
    "TF624": (
        "E ../cuda/caskConvolutionRunner.cpp (317) - Cask Error in checkCaskExecError<false>: 7 (Cask Convolution)",
        "E ../cuda/caskConvolutionRunner.cpp (317) - Odd Error in checkCaskExecError<false>: 7 (Cask Convolution)",
    ),
    "TF625": (
        "E attention: could not find any supported formats consistent with input/output data types",
        "E attention: found supported formats",
    ),
    "TF634": (
        "| operator (): open engine failed",
        "| WARNING: Deserialized engine of file path: /opt/a.engine",
    ),
    "TF635": (
        "E INVALID_ARGUMENT: Cannot deserialize with an empty memory buffer.",
        "E INVALID_ARGUMENT: Cannot deserialize twice.",
    ),
    "TF636": (
        "| TllmException: Assertion failed: d == a + length (gptAttentionCommon.cpp:320)",
        "| TllmException: Assertion failed: d == a (gptAttentionCommon.cpp:320)",
    ),
    "TF663": (
        "| AttributeError: module 'numpy' has no attribute 'bool'.",
        "| AttributeError: module 'numpy' has no attribute 'odd'.",
    ),
    "TF667": (
        "| AttributeError: 'tensorrt.tensorrt.ICudaEngine' object has no attribute 'num_io_tensors'",
        "| AttributeError: 'tensorrt.tensorrt.ICudaEngine' object has no attribute 'oddity'",
    ),
    "TF668": (
        "| AttributeError: type object 'tensorrt.tensorrt.BuilderFlag' has no attribute 'FP16'",
        "| AttributeError: type object 'torch.dtype' has no attribute 'FP16'",
    ),
    "TF669": (
        "| TypeError: f(): incompatible function arguments. The following argument types are supported:",
        "| TypeError: f(): odd arguments.",
    ),
    "TF677": (
        "| unable to load model 'm', TensorRT backend supports only GPU device",
        "| load model 'm', TensorRT backend supports every GPU device",
    ),
    "TF678": (
        "| Invalid argument: unable to find 'libtriton_tensorrt_plan.so' for model 'm'",
        "| Invalid argument: unable to find a reason for model 'm'",
    ),
    "TF679": (
        "| tensor 'x': the model expects 4 dimensions but the model configuration specifies 3 dimensions",
        "| tensor 'x': the model expects 4 dimensions",
    ),
    "TF680": (
        '| FAIL : LoadLibrary failed with error 126 "" when trying to load "onnxruntime_providers_tensorrt.dll"',
        '| LoadLibrary loaded "onnxruntime_providers_tensorrt.dll"',
    ),
    "TF681": (
        "| EP_FAIL : TensorRT EP could not open shared library from lib.so",
        "| TensorRT EP opened shared library from lib.so",
    ),
    "TF682": (
        "| FAIL : TensorRT input: 1 has no shape specified. Please run shape inference on the onnx model first.",
        "| TensorRT input: 1 has a shape.",
    ),
    "TF683": (
        "| ERROR: Method requested cannot be compiled by Torch-TensorRT.TorchScript.",
        "| Method requested was compiled by Torch-TensorRT.TorchScript.",
    ),
    "TF684": ("| RuntimeError: Building TensorRT engine failed", "| Building TensorRT engine done"),
    "TF685": ("| AssertionError: TensorRT plugin should be compiled.", "| TensorRT plugin is compiled."),
    "TF686": (
        "| UserWarning: Specified provider 'TensorrtExecutionProvider' is not in available provider names.",
        "| UserWarning: Specified provider 'TensorrtExecutionProvider' is used.",
    ),
    "TF687": (
        "| Python exception: trtexec execution fails, log has been written to a.log",
        "| trtexec execution ends, log has been written to a.log",
    ),
    "TF688": (
        "| [TensorRT-LLM] Assertion failed: mpiSize == tp * pp (runtime)",
        "| [TensorRT-LLM] Assertion failed: mpiSize > 0 (runtime)",
    ),
    "TF689": ("| Error: operator (): expects 8 input planes", "| operator (): takes 8 input planes"),
    "TF226": (
        "| [TRT]    requested fasted precision for device GPU without providing valid calibrator, disabling INT8",
        "| [TRT]    native precisions detected for GPU:  FP32, FP16",
    ),
    "TF227": ("| W segment.cc:954] Total nonconverted OPs: 4", "| W segment.cc:954] Total nonconverted OPs: 0"),
    "TF228": (
        "| W TF-TRT Warning: Engine creation for TRTEngineOp_0_0 failed. The native segment will be used instead.",
        "| W trt_engine_op.cc:9] Engine creation for TRTEngineOp_0_0",
    ),
    "TF230": (
        "| I trt_engine_op.cc:733] Building a new TensorRT engine for import/TRTEngineOp_0 input shapes: [[1,4]]",
        "| I trt_engine_op.cc:733] Building a new engine",
    ),
    "TF232": (
        "| W TF-TRT Warning: Cannot replace segment 2 consisting of 6 nodes by A reason: No inputs (keeping x)",
        "| I convert_graph.cc:913] Replaced segment 0 consisting of 6 nodes by TRTEngineOp_000_000.",
    ),
    "TF233": (
        "| [TRT-LLM] [W] max_seq_len 3000 is larger than max_position_embeddings 1500 * rotary scaling 1",
        "| [TRT-LLM] [I] max_seq_len is 3000, max_position_embeddings 3000",
    ),
    "TF234": (
        "| The graph consists of 9 Total Operators, of which 8 operators are supported, 88.89% coverage",
        "| The graph consists of 9 Total Operators",
    ),
    "TF352": (
        "| RuntimeError: Prompt length (5000) exceeds maximum input length (4096).",
        "| The max KV cache length is 2049.",
    ),
    "TF229": (
        (
            "| WARNING: [Torch-TensorRT] - For input x, found user specified input dtype as Half, "
            "however when inspecting the graph, the input type expected was inferred to be Float"
        ),
        "| WARNING: [Torch-TensorRT] - For input x.1, found user specified input dtype as Float",
    ),
    "TF690": ("| TF-TRT Warning: Could not find TensorRT", "| TF-TRT found TensorRT"),
    "TF691": (
        "| [E:onnxruntime:] Non-zero status code returned while running Reshape node. Name:'r' Status Message: odd",
        "| [E:onnxruntime:] Zero status code returned while running Reshape node.",
    ),
    "TF692": (
        "| AttributeError: 'Tensor' object has no attribute '_trt'",
        "| AttributeError: 'Tensor' object has no attribute 'odd'",
    ),
    "TF693": (
        "| [TensorRT-LLM][ERROR] maxTokensInPagedKvCache (128) must be large enough to process one sequence",
        "| [TensorRT-LLM][ERROR] maxTokensInPagedKvCache is 128",
    ),
    "TF694": (
        "| [TensorRT-LLM][ERROR] Assertion: When reuse is set, model has to be built with paged context FMHA",
        "| [TensorRT-LLM][INFO] The model was built with paged context FMHA",
    ),
    "TF695": (
        "| [TensorRT-LLM][ERROR] Input tensor 'host_pointers_0' not found; expected shape: (-1, 1)",
        "| [TensorRT-LLM][INFO] Input tensor 'host_pointers_0' found",
    ),
    "TF718": ("| RuntimeError: something odd", "| something odd"),
    "TF911": (
        "E wrap.cu:31: nn::Warp::Warp(const void*, size_t): Assertion `at == begin + bytes' failed.",
        "E wrap.cu:31: nn::Warp::Warp(int, int): Assertion `at == begin + bytes' failed.",
    ),
    "TF912": ("E Packed kernels run on Hopper and Blackwell only", "E Packed kernels run on Thursdays only"),
    "TF913": ("E --reportThing is not there without DLA cores", "E --reportThing is not there without cores"),
    "TF914": ("E Not enough device memory for 3 slots", "E Not enough slots"),
    "TF915": ("E cudaMallocHost returned a null pointer", "E malloc returned a null pointer"),
    "TF916": ("E The plugin library vendor.so was not understood", "E The plugin vendor was not understood"),
    "TF917": ("E Cannot write the results to the file out/times.csv", "E Cannot reach the results"),
    "TF918": ("E Failed to set the colour.", "E Failed: the colour."),
    "TF919": ("E The refitter lacks weights for conv3, refit again", "E The fitter lacks weights for conv3"),
    "TF920": ("E Alpha and beta are mutually exclusive", "E getAlpha() should not be used with beta"),
    "TF921": ("E This file wants version 9 of the runtime", "E This file wants a runtime"),
    "TF922": ("E The optimization profile 3 is not there", "E The thing 3 is not there"),
    "TF923": ("E Give --depth a whole number, it is 2.5", "E Give depth a whole number, it is 2.5"),
    "TF924": ("E The zero point has to be 0.", "E The point has to be 0."),
    "TF925": ("E The slope must be a constant.", "E The slope must be a letter."),
    "TF926": ("E Slope cannot be dynamic.", "E Slope cannot be green."),
    "TF927": ("E Slope wants FP16 values.", "E Slope wants green values."),
    "TF928": ("E Slope wants rank 3.", "E Slope wants row 3."),
    "TF929": ("E Slope works on the last axis only.", "E Slope works on the last day only."),
    "TF930": ("E Slope and input have other shapes.", "E Slope and input have other colours."),
    "TF931": ("E Slope takes 2 or 3 inputs.", "E Slope takes 2 or 3 days."),
    "TF932": ("E Slope has no cubic mode.", "E Slope has no cubic."),
    "TF933": ("E Top 4000 exceeds 3840", "E Top 4000 meets 3840"),
    "TF934": ("E The tool was opened twice", "E The tool was opened"),
    "TF935": ("E The plugin Warp gave status 3", "E The thing Warp gave status 3"),
    "TF936": ("E Warping is unsupported here", "E Warping is fine here"),
    "TF937": ("E Colour mauve was not found", "E Mauve colour"),
    "TF938": ("E Mauve and green do not match", "E Mauve and green"),
    "TF939": ("E [TRT] 3: Validation failed: isMauve(mGreen)", "E [TRT] 3: Validation: isMauve(mGreen)"),
    "TF940": ("E It could not be done", "E It is done"),
    "TF166": (
        '| [8] Assertion failed: legalUINT8 && "TensorRT does not support UINT8 types for intermediate tensors!"',
        "| [8] Assertion failed: legalInt",
    ),
    "TF167": (
        "E Error Code 4: Internal Error (r: inputs to IRecurrenceLayer have different dimensions.)",
        "E Error Code 4: Internal Error (r: inputs are here)",
    ),
    "TF225": (
        "I Generated calibration scales using calibration cache.",
        "I Reading Calibration Cache for calibrator: MinMaxCalibration",
    ),
    "TF327": (
        "E plugin node attention requires 12 bytes of scratch space, but only 3 is available",
        "E plugin node attention requires scratch space",
    ),
    "TF328": (
        "E Serialized engine contains plugin, but no plugin factory was provided.",
        "E Serialized engine contains a plugin.",
    ),
    "TF350": (
        "W The CUDA context changed between createInferBuilder and buildSerializedNetwork.",
        "W The CUDA context is new.",
    ),
    "TF351": (
        "| PyCUDA ERROR: The context stack was not empty upon module cleanup.",
        "| PyCUDA ERROR: another one.",
    ),
    "TF424": (
        "E Cudnn Error in initializeCommonContext: 1 (Could not initialize cudnn, please check cudnn installation.)",
        "E Cudnn Error in execute: 8",
    ),
    "TF480": ("| [E] stoi", "| [E] stoi read 3 numbers"),
    "TF425": ("| model format 'custom' not supported by jetson-inference", "| model format 'custom'"),
    "TF456": (
        "E execute: Parameter check failed, condition: batchSize > 0 && batchSize <= mEngine.getMaxBatchSize()",
        "E execute: Parameter check failed, condition: batchSize > 0",
    ),
    "TF457": (
        "| Warning: Encountered known unsupported method torch.Tensor.new_zeros",
        "| Warning: Encountered known method torch.Tensor.new_zeros",
    ),
    "TF458": ("E FAILED_ALLOCATION: basic_string::_S_construct null not valid", "E FAILED_ALLOCATION: basic_string"),
    "TF459": (
        "| ERROR nvinfer: [UID = 1]: Could not find output coverage layer for parsing objects",
        "| ERROR nvinfer: [UID = 1]: Could not find output for parsing objects",
    ),
    "TF454": ("E Model missing or format not recognized", "E Model format recognized"),
    "TF455": (
        "E BuilderFlag::kDIRECT_IO specified but no conformant implementation exists",
        "E BuilderFlag::kDIRECT_IO specified",
    ),
    "TF511": (
        "| [TensorRT EP] Could not read timing cache from: a.timing. A new timing cache will be generated and written.",
        "| [TensorRT EP] Could not read the file a.timing",
    ),
    "TF116": (
        "| [8] No importer registered for op: ATen",
        "| [8] No importer for op: ATen",
    ),
    "TF117": (
        '| C++ exception with description "Attribute not found: axes" thrown',
        '| C++ exception with description "axes"',
    ),
    "TF118": (
        "| ERROR: builtin_op_importers.cpp:241 In function combineTensorsElementwise:",
        "| ERROR: In function combineTensors:",
    ),
    "TF119": (
        "| In node 5 (importUnsqueeze): Assertion failed: volume == get_shape_size(old_shape)",
        "| In node 5 (importUnsqueeze): Assertion failed: volume == 3",
    ),
    "TF120": (
        "E Internal Error (Reshape_6: IShuffleLayer applied to shape tensor must have 0 or 1 reshape dimensions)",
        "E Internal Error (Reshape_6: IShuffleLayer has dimensions)",
    ),
    "TF121": (
        "| Failed to sort model topologically, exiting ...",
        "| The model is sorted topologically",
    ),
    "TF122": (
        "E onnx2trt_utils.cpp:748: Found unsupported datatype (8) when importing initializer: names",
        "E onnx2trt_utils.cpp:748: importing initializer: names",
    ),
    "TF254": (
        "E Error Code 2: Internal Error (Assertion mIndex >= 0 failed.symbol is not concrete)",
        "E Error Code 2: Internal Error (Assertion mIndex >= 0 failed.)",
    ),
    "TF255": (
        "E [pluginV2Runner.cpp::getInputHostScale::88] Error Code 2: Internal Error (Assertion scales.size() == 1)",
        "E [pluginV2Runner.cpp::getInput::88] Error Code 2: Internal Error (Assertion scale)",
    ),
    "TF256": (
        "| Net TRT outputs don't match with the original model. Cosine sim score: nan Threshold: 0.99",
        "| Net TRT outputs match the original model. Cosine sim score: 0.999",
    ),
    "TF353": (
        "E Input 0's element type (int8) differs from input 1's element type (float)",
        "E Input 0's element type is float",
    ),
    "TF426": (
        "| ValueError: could not broadcast input array from shape (12) into shape (24)",
        "| ValueError: could not reshape the array",
    ),
    "TF427": (
        "| RuntimeError: expected scalar type Half but found Float",
        "| RuntimeError: expected scalar type Half",
    ),
    "TF428": (
        "| AttributeError: 'tensorrt.tensorrt.Builder' object has no attribute 'colour'",
        "| AttributeError: 'Builder' object has no attribute 'colour'",
    ),
    "TF429": (
        "| OpenCV is required to run INT8 calibrator",
        "| OpenCV runs the INT8 calibrator",
    ),
    "TF430": (
        "| Failed to read image for calibration",
        "| Read image for calibration",
    ),
    "TF431": (
        "| INT8_CALIB_BATCH_SIZE not set",
        "| INT8_CALIB_BATCH_SIZE is set",
    ),
    "TF432": (
        "| unable to autofill for 'net', either all model tensor configuration should specify their dims or none.",
        "| autofilled 'net'",
    ),
    "TF466": (
        "| W tensorrt.cc:1044] The specified dimensions in model config for net hints that batching is unavailable",
        "| The specified dimensions in model config for net are read",
    ),
    "TF433": (
        "| unable to autofill for 'net', configuration specified invalid profile 3 .",
        "| configuration specified profile 3 for 'net'",
    ),
    "TF434": (
        "| Assertion failed: position_ids: expected 2 dims, provided 3 dims",
        "| Assertion failed: position_ids: expected, provided",
    ),
    "TF435": (
        "| Assertion failed: max_context_len <= mMaxContextLength",
        "| Assertion failed: max_context_len <= 5",
    ),
    "TF436": (
        "| Assertion failed: freeBlockIterator.has_value()",
        "| Assertion failed: blockIterator.has_value()",
    ),
    "TF437": (
        "| AssertionError: The value updated is not the same shape as the original.",
        "| The value updated has the shape of the original.",
    ),
    "TF439": (
        "| Loading TensorRT engine: net.onnx",
        "| Loading TensorRT engine: net.engine",
    ),
    "TF460": (
        "| RuntimeError: Error while setting the input shape",
        "| RuntimeError: the input shape",
    ),
    "TF461": (
        "| Expected input tensors to have device cuda, found device cpu",
        "| Expected input tensors to have device cuda",
    ),
    "TF941": (
        "E Unable to create shuffle layer from node: 37",
        "E Unable: shuffle layer from node: 37",
    ),
    "TF235": (
        "| INFO:tensorflow:Linked TensorRT version: (0, 0, 0)",
        "| INFO:tensorflow:Linked TensorRT version: (8, 0, 0)",
    ),
    "TF237": (
        "| WARNING: [Torch-TensorRT] - Mean converter disregards dtype",
        "| WARNING: [Torch-TensorRT] - Mean converter takes dtype",
    ),
    "TF238": (
        "| WARNING: [Torch-TensorRT] - There may be undefined behavior using dynamic shape and aten::size",
        "| WARNING: [Torch-TensorRT] - There may be behavior using dynamic shape and aten::size",
    ),
    "TF236": (
        "| the result of get_provider is: ['CPUExecutionProvider']",
        "| Creating ONNX-Runtime Inference Session with providers: ['CPUExecutionProvider']",
    ),
    "TF465": (
        "| ** WARN: <parse_osd:946>: Unknown key 'border-color' for group [osd]",
        "| ** WARN: <parse_osd:946>: known key 'border-color' of group [osd]",
    ),
    "TF943": ("E Request 12 was cancelled by its client", "E Request 12 was ended"),
    "TF944": ("E cpu is invalid for the backend", "E cpu is the backend"),
    "TF942": (
        "E Builder creation failed",
        "E Builder creation worked",
    ),
    "TF123": (
        "E (Unnamed Layer* 88) [Constant]: invalid weights type of Bool",
        "E (Unnamed Layer* 88) [Constant]: weights of Bool",
    ),
    "TF124": (
        "E ratio: network input that is shape tensor must have type Int32",
        "E ratio: network input must have type Int32",
    ),
    "TF463": (
        "W a.cpp:5: Attribute bias not found in plugin node! Ensure that the plugin creator has a default value",
        "W a.cpp:5: Attribute bias found in plugin node",
    ),
    "TF464": (
        "| builder.cpp::setMaxBatchSize::135, condition: batchSize > 0 && batchSize <= MAX_BATCH_SIZE",
        "| builder.cpp::setMaxBatchSize::135, condition: batchSize > 0",
    ),
    "TF6000": (
        "| TypeError: 'NoneType' object is not iterable",
        "| AttributeError: 'NoneType' object has no attribute 'create_execution_context'",
    ),
    "TF6001": (
        "| AssertionError",
        "| AssertionError: batch size must be 1",
    ),
    "TF6002": (
        "| NotImplementedError",
        "| NotImplementedError: only batch 1",
    ),
    "TF6003": (
        "| TypeError: __init__() got an unexpected keyword argument 'workspace_size'",
        "| TypeError: forward() takes positional arguments",
    ),
    "TF6004": (
        "| AttributeError: module 'onnx' has no attribute 'mapping'",
        "| AttributeError: module 'numpy' has no attribute 'bool'",
    ),
    "TF6005": (
        "| AttributeError: 'Namespace' object has no attribute 'use_int8'",
        "| AttributeError: 'Tensor' object has no attribute '_trt'",
    ),
    "TF6006": (
        "| KeyError: 'model.layers.0.self_attn.q_proj.weight'",
        "| a key error came up",
    ),
    "TF6007": (
        "| ValueError: not enough values to unpack (expected 3, got 2)",
        "| ValueError: values to unpack",
    ),
    "TF6008": (
        "| IndexError: list index out of range",
        "| list index in range",
    ),
    "TF6009": (
        "| NameError: name 'onnx' is not defined",
        "| name 'onnx' is defined",
    ),
    "TF6010": (
        "| AssertionError: Torch not compiled with CUDA enabled",
        "| Torch compiled with CUDA enabled",
    ),
    "TF6011": (
        "| _pickle.UnpicklingError: invalid load key, 'v'.",
        "| valid load key",
    ),
    "TF6012": (
        "| Exporting the operator 'aten::grid_sampler' to ONNX opset version 11 is not supported.",
        "| ONNX export of the model took 3 s",
    ),
    "TF6013": (
        "| GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1))",
        "| guard on data",
    ),
    "TF6014": (
        "| RuntimeError: Error(s) in loading state_dict for TRTModule:",
        "| state_dict was loaded",
    ),
    "TF6015": (
        "| RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x512 and 1024x10)",
        "| sizes of tensors match",
    ),
    "TF6016": (
        "| ValueError: ndarray is not C-contiguous",
        "| ndarray is C-contiguous",
    ),
    "TF6017": (
        "| TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()",
        "| can convert cuda:0 device type tensor",
    ),
    "TF6018": (
        "| We don't have an op for aten::floor_divide but it isn't a special case.  Argument types: int, int,",
        "| We have an op for aten::mul",
    ),
    "TF6019": (
        "| RuntimeError: Target aten.convolution.default does not support `transposed=True`",
        "| Target platform does support it",
    ),
    "TF6020": (
        "| Unsupported ATen data type Byte",
        "| Supported ATen data type Byte",
    ),
    "TF6021": (
        "| TypeError: Descriptors cannot not be created directly.",
        "| Descriptors were created directly",
    ),
    "TF6022": (
        "| ValueError: Message onnx.ModelProto exceeds maximum protobuf size of 2GB: 3405691582",
        "| below the maximum protobuf size",
    ),
    "TF6023": (
        "| ValidationError: Your model ir_version 10 is higher than the checker's (9).",
        "| model ir_version 8 is fine",
    ),
    "TF6024": (
        "| HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /api",
        "| ./llama is a local folder",
    ),
    "TF6025": (
        "| RuntimeError: Numpy is not available",
        "| numpy is available",
    ),
    "TF6026": (
        "| json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "| JSONDecodeError: none",
    ),
    "TF6027": (
        "| UnicodeDecodeError: 'utf-8' codec can't decode byte 0x80 in position 0: invalid start byte",
        "| codec can decode all",
    ),
    "TF6028": (
        '| OSError: [WinError 126] The specified module could not be found. Error loading "C:\\x\\nvinfer.dll"',
        "| [WinError 2] The system cannot find the file specified",
    ),
    "TF6029": (
        "| RuntimeError: TensorRT does not currently build wheels for Tegra systems",
        "| TensorRT builds wheels for Tegra systems",
    ),
    "TF6030": (
        "| AssertionError: Unsupported AWQ quantized checkpoint format",
        "| AssertionError: Unsupported image format",
    ),
    "TF6031": (
        "| OverflowError: can't convert negative value to size_t",
        "| negative values are allowed",
    ),
    "TF6032": (
        "| checker.ValidationError: No Op registered for BatchedNMS_TRT with domain_version of 12",
        "| No Op registered",
    ),
    "TF6040": (
        "| [TensorRT-LLM][ERROR] Assertion failed: a == b (/src/cpp/tensorrt_llm/runtime/x.cpp:12)",
        "| [TensorRT-LLM][INFO] Assertion failed: x (/src/a.cpp:1)",
    ),
    "TF6041": (
        "| The engine is built with max_num_tokens=128, while trying to benchmark on 8192 tokens",
        "| max_num_tokens=128",
    ),
    "TF6042": (
        "| Exception during initialization: a.cc:480 GetSupportedList graph_build.Resolve().IsOK() was false",
        "| GetSupportedList graph_build.Resolve().IsOK() was true",
    ),
    "TF6043": (
        "| nms [PluginV2Ext]: PluginV2Layer must be V2DynamicExt when there are runtime input dimensions.",
        "| PluginV2Layer must be V2DynamicExt",
    ),
    "TF6033": (
        "| ModuleNotFoundError: No module named 'tensorrt_bindings'",
        "| No module named 'tensorrt'",
    ),
    "TF6034": (
        "| polygraphy: error: argument {run}: invalid choice: 'debug' (choose from 'run')",
        "| polygraphy: error: argument list",
    ),
    "TF6035": (
        "| FileNotFoundError: [Errno 2] No such file or directory: 'yolo.onnx'",
        "| [Errno 9] Bad file descriptor",
    ),
    "TF6036": (
        "| PermissionError: [Errno 13] Permission denied: '/models/1'",
        "| [Errno 9] Bad file descriptor",
    ),
    "TF6045": (
        "| unexpected shape for input 'images' for model 'yolo'. Expected [-1,3,640,640], got [1,3,384,640].",
        "| the shape for input 'images' is as expected",
    ),
    "TF6044": (
        "| addScale::1, condition: scale.count > 0 ? (scale.values != nullptr) : (scale.values == nullptr)",
        "| kernel weights has count 12 but 5184 was expected",
    ),
    "TF6046": (
        "| W session_state.cc:1162 Some nodes were not assigned to the preferred execution providers",
        "| All nodes were assigned to the preferred execution providers",
    ),
    "TF6047": (
        "| model.cpp:93: bool Model::LoadEngine(): Assertion `engine->getNbBindings() == 2' failed.",
        "| engine->getNbBindings() is 2",
    ),
    "TF6048": (
        "| can not find output named yolo-det",
        "| found output named prob",
    ),
    "TF6050": (
        "| ModuleNotFoundError: No module named 'tensorrt_llm.models.llama.weight'",
        "| ModuleNotFoundError: No module named 'tensorrt'",
    ),
    "TF6051": (
        "| `rope_scaling` must be a dictionary with two fields, `type` and `factor`, got {'factor': 8.0}",
        "| `rope_scaling` is a dictionary",
    ),
    "TF6052": (
        "| ** ERROR: <main:630>: Failed to parse config file 'app.txt'",
        "| Parsed config file 'app.txt'",
    ),
    "TF6070": (
        '| [gstreamer]    (no element "omxh264dec")',
        '| gst_element_factory_make: element factory "nvinferserver" found',
    ),
    "TF6071": ("| streaming stopped, reason not-negotiated (-4)", "| streaming stopped, reason eos"),
    "TF6072": ("| streaming stopped, reason error (-5)", "| ERROR from primary_gie: data stream ended"),
    "TF6073": ("| ERROR from source: Resource not found.", "| Opened resource for reading"),
    "TF6074": ("| [OpenGL] failed to open X11 server connection.", "| nvbufsurftransform: got EGL display connection"),
    "TF6075": ("| Could not open device '/dev/video0' for reading and writing.", "| Identified device '/dev/video0'"),
    "TF6076": ("| gstnvstreammux.c: Output height not set", "| Output width set to 1920"),
    "TF6077": (
        "| gstnvtracker: Failed to initialize low level lib.",
        "| gstnvtracker: Loading low-level lib at /opt/nvidia/deepstream/lib/libnvds_nvmultiobjecttracker.so",
    ),
    "TF6078": ("| gst_nvvconv_transform: NvBufSurfTransform Failed", "| NvBufSurfTransform done"),
    "TF6079": ("| WARNING from sink: A lot of buffers are being dropped.", "| A lot of buffers are being shown."),
    "TF6080": ("| [image] failed to load 'images/x.jpg'", "| [image] loaded 'images/x.jpg'  (1024x683, 3 channels)"),
    "TF6082": (
        "| This container was built for NVIDIA Driver Release 410 or later",
        "| This container was built for CPU",
    ),
    "TF6083": ("| Failed to initialize NVML: Unknown Error", "| NVML initialized"),
    "TF6049": (
        "| tensorrt : Depends: libnvinfer8 (= 8.5.1-1+cuda11.8) but 8.6.1.6-1+cuda12.0 is to be installed",
        "| tensorrt : Depends: libnvinfer8",
    ),
    "TF6092": (
        "| NodeDef mentions attr 'profile_strategy' not in Op<name=TRTEngineOp",
        "| NodeDef mentions attr 'a' not in Op<name=Cast",
    ),
    "TF6085": (
        "| CUDNN failure 1: CUDNN_STATUS_NOT_INITIALIZED ; GPU=0 ; hostname=h ; expr=cudnnCreate(&cudnn_handle_);",
        "| CUDA success 0 ; GPU=0",
    ),
    "TF6101": (
        "| Infer Context default input_layer is not a image[CHW]",
        "| Infer Context default input_layer is data",
    ),
    "TF6096": ("| Num classes mismatch. Configured: 4, detected by network: 9", "| Num classes: 4"),
    "TF6089": ("| could not find engine cache /nets/a.engine", "| found engine cache file /nets/a.engine"),
    "TF6086": (
        "| The requested API version [24] is not available, only API versions [1, 17] are supported in this build.",
        "| The requested API version [18] is available",
    ),
    "TF6100": ("| Invalid TensorRT EP option: trt_timing_cache_path", "| TensorRT EP option: trt_fp16_enable"),
    "TF6087": ("| External data path does not exist: model.onnx.data", "| GetFileLength for ./model.onnx_data gave 12"),
    "TF6088": (
        "| 24 Memcpy nodes are added to the graph main_graph for CUDAExecutionProvider.",
        "| No Memcpy nodes are added",
    ),
    "TF6090": (
        "| Expected serialized_info[ABI_TARGET_IDX] == ABI_VERSION to be true but got false",
        "| Program targets the Torch-TensorRT Runtime ABI Version (8)",
    ),
    "TF6091": (
        "| Unable to import quantize op. Please install modelopt library",
        "| quantization op imported from modelopt",
    ),
    "TF6093": (
        "| TensorFlow has not been built with TensorRT support",
        "| Tensorflow has been built with TensorRT support",
    ),
    "TF6094": (
        "| Loaded TensorRT 8.2.1 but linked TensorRT 7.2.2. A few requirements must be met:",
        "| Loaded TensorRT 8.2.1",
    ),
    "TF6095": ("| NotFoundError: Container TF-TRT does not exist", "| Container TF-TRT exists"),
    "TF6097": (
        "| Poll failed for model directory 'yolo': unexpected platform type  for yolo",
        "| Polled model directory 'yolo'",
    ),
    "TF6098": ("| Internal: Unable to initialize shared memory key 'k'", "| Initialized shared memory key 'a'"),
    "TF6099": ("| failed to connect to all addresses", "| connected to all addresses"),
    "TF6069": (
        "| ensemble 'pipeline' depends on 'detector' which has no loaded version",
        "| ensemble 'pipeline' depends on 'detector'",
    ),
    "TF6067": (
        "| The checkpoint you are trying to load has model type `phi4` but Transformers does not recognize it",
        "| The checkpoint has model type `qwen3`",
    ),
    "TF6065": (
        "| libtensorrt_llm_executor_static.a: file format not recognized; treating as linker script",
        "| libtensorrt_llm.so: file format recognized",
    ),
    "TF6064": ("| TensorRTBackend is not in the backend registry", "| RTMDetHead is in the mmdet::model registry"),
    "TF6063": ("| mmdet==2.28.0 is used but incompatible. Please install mmdet>=3.0.0", "| MMCV==2.1.0 is used"),
    "TF6062": (
        "| [mmdeploy] [error] Net backend not found: ncnn, available backends: []",
        "| Net backend found: tensorrt",
    ),
    "TF6061": ("| `a` with Call id: 12 failed", "| `a` with Call id: 1 finished"),
    "TF6115": (
        "| TensorRT: export failure 3.1s: failed to load ONNX file: /data/net.onnx",
        "| failed to load ONNX file",
    ),
    "TF6059": (
        "| model='a.onnx' should be a *.pt PyTorch model to run this method",
        "| model='yolov8n.pt' is a PyTorch model",
    ),
    "TF6057": (
        "| torch.onnx.OnnxExporterError: Failed to export the model to ONNX.",
        "| torch.onnx exported the model",
    ),
    "TF6056": (
        "| TracerWarning: Converting a tensor to a Python float might cause the trace to be incorrect.",
        "| Converting a tensor to a Python boolean",
    ),
    "TF6055": (
        "| Provided key x.1 for dynamic axes is not a valid input/output name",
        "| Provided key output for dynamic axes",
    ),
    "TF6054": (
        "| cuDNN version incompatibility: PyTorch was compiled against (9, 1, 0) but found runtime version (8, 9, 7)",
        "| PyTorch was compiled  against (8, 9, 2)",
    ),
}
"""By code: the line with which the rule must speak, and the look-alike where it must not."""
