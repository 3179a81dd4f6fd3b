"""What lines that no rule reads tell of a run, in several wordings, each beside a line that is nearly the same."""

from __future__ import annotations

import numpy as np

from tests.support.for_each import for_each
from trtforensics.parsers.lines.unread import ASIDES, UnreadLines
from trtforensics.parsers.text.line_index import LineIndex

WORDINGS: dict[str, tuple[list[str], list[str]]] = {
    "prompt": (
        [
            "me@box:~/a$ trtexec --onnx=a",
            "    (a) me@box:~/b (copy)$ python c.py",
            "(env) [10:05:00] root@c1:/w# ls",
            "[me@box a]$ l",
        ],
        ["to me@box.org"],
    ),
    "cell": (["In [3]: !trtexec --onnx=a", "In [12]:"], ["Cell In [3]: x"]),
    "typed_trtexec": (
        ["trtexec --onnx=a.onnx", "$ time ./bin/trtexec --onnx=a", r"C:\trt> trtexec.exe --onnx=a", "!trtexec --help"],
        ["use trtexec --onnx", "trtexec: not found"],
    ),
    "typed_polygraphy": (
        ["polygraphy run a.onnx --trt", "+ /usr/bin/polygraphy convert a.onnx"],
        ["polygraphy is"],
    ),
    "traceback": (
        ["Traceback (most recent call last):", "RuntimeError     Traceback (most recent call last)"],
        ["Traceback:"],
    ),
    "raised_error": (["RuntimeError: no engine", "pycuda._driver.LogicError: failed", "EOFError"], ["An Error: x"]),
    "raised_exception": (["Exception", "torch.jit.frontend.MyException: x"], ["this Exception: x"]),
    "raised_ort": (
        ["onnxruntime.capi.onnxruntime_pybind11_state.Fail: [ONNXRuntimeError]"],
        ["pybind11_state.Fail: x"],
    ),
    "raised_cell": (["RuntimeError      Traceback (most recent call last)"], ["Traceback (most recent call last):"]),
    "own_type": (
        [
            "Enabled FP16 precision",
            "Converting to TF-TRT FP32...",
            "TensorRT: building FP16 engine",
            "Using TensorRT FP16 Inference",
            "precision : int8",
            "Dtype:     float16",
        ],
        ["KV Cache Dtype:         FP8", "input_dtype : int8", "using Floats", "Precision: see below"],
    ),
    "own_mode": (["INT8 mode enabled"], ["INT8 mode is off"]),
    "own_model": (
        ["--model meta-llama/Llama-2-7b", "Model:   meta/Llama-2", "benchmark : Benchmark.BERT"],
        ["Model: loaded", "--model a"],
    ),
    "own_model_onnx": (["from path a/alexnet.onnx...", "a.onnx"], ["open a.onnx_b1.engine", "a.onnx.1.engine"]),
    "own_model_caffe": (["a/b.caffemodel"], ["b.caffemodel.1.engine"]),
    "own_gpu": (
        ["|   0  Tesla M60           On   | 0", 'Device 0: "NVIDIA A10"', "GPU: NVIDIA GeForce RTX 3060 (8.6)"],
        ["Copyright NVIDIA Corporation", "GPU of NVIDIA is used"],
    ),
    "own_tensorrt": (
        [
            "TensorRT: starting export with TensorRT 10.3.0...",
            "TensorRT version: 8.6.1",
            "trt.__version__ = 10.0.1",
            "a.trt9.1.0.dev4.plan",
        ],
        ["TensorRT version: new", "TensorRT 8"],
    ),
    "own_library": (["opened dynamic library libnvinfer.so.6"], ["opened dynamic library libnvinfer_plugin.so.6"]),
    "own_program": (["Ultralytics 8.3.1 on CUDA:0", "Ultralytics YOLOv8.1.9 on"], ["Ultralytics YOLO"]),
    "own_batch": (
        ["with batch_size 1 --", "batch size=4, n=5", "batch_size: 8"],
        ["batch size: 1x3", "batch size 0.5", "batches 3"],
    ),
    "own_shape": (
        ['TensorRT: input "x" with shape(1, 3, 8, 8) DataType.FLOAT', "binding to input 0 x  dims (b=1 c=3) size=4"],
        ["output with shape(1, 3)", "binding to output 0 x  dims (b=1)"],
    ),
    "own_size": (
        ["saved as 'a.engine' (22.7 MB)", "saved as a.engine (1 MB)", "Engine size: 12 MiB"],
        ["saved as 'a.onnx' (3 MB)"],
    ),
    "typed_other": (
        ["$ python3 a.py --x", "  (e) $ CUDA_VISIBLE_DEVICES=0 ./run.sh", "~/b$ ls", "bash-5.1$ a"],
        ["a $ python3 a.py", "$ 5"],
    ),
    "typed_by_root": (["# ./a --b", "+ python3 a.py"], ["# python is fast", "# FP16", "+ 3 more"]),
    "typed_in_windows": ([r"PS C:\a b> python c.py", r"(e) D:\a>yolo predict"], [r"C:\a\b.py:3: error"]),
    "typed_themed": (["\u276f ./a", "➜  a git:(main) ✗ python b.py"], ["a \u276f b"]),
    "typed_python": (
        ["python a.py", "CUDA_VISIBLE_DEVICES=1 python3 -u b/c.py --d", "python3 -m a.b --c"],
        ["python is slow", "python3: can't open file a.py", "run python a.py"],
    ),
    "typed_here": (["./a -b c", "./build/d"], ["./a.cpp:3: error", "./a.onnx is there", "see ./a b", "./a: not found"]),
    "typed_make": (['make run ARGS="--a=b"'], ["make sure A=1", "make: *** no rule", "make all"]),
    "own_version": (
        [
            "CUDA runtime version: 12.2",
            "PyTorch version: 2.1.0+cu118",
            "torch.__version__: 2.0.1",
            "Driver Version: 535.5",
        ],
        ["a version 3.1", "Driver Version of it"],
    ),
    "own_cuda": (
        ["| Driver Version: 510.39.01  CUDA Version: 11.6 |", "CUDA version: 12.2"],
        ["CUDA Version of it"],
    ),
    "own_gpu_memory": (["| 30%   41C    P8    30W / 350W |   2151MiB / 24576MiB |      0%"], ["MiB / 3 of them"]),
    "own_dims": (
        ["Input shape: torch.Size([128, 3, 8, 8])", "input_shape = (1,3)"],
        ["Input shape of the model", "DEBUG:a.impl.select:The input shape is (1, 7)"],
    ),
    "own_profile": (
        ["            {x [min=[1, 3], opt=[4, 3], max=[8, 3]]}", "profile: input {min [1, 3], opt [1, 3], max [1, 3]}"],
        ["x [min=1, max=3]"],
    ),
    "own_named": (["TP Size:\t\t1", "Scheduling Policy:  Guaranteed No Evict"], ["TP Size: 1", "size:   1"]),
    "llm_weights": (["[I] Use 2.05 GB for model weights."], ["Use it for model weights"]),
    "llm_limits": (["[I] max_seq_len=2049, max_num_requests=8, max_num_tokens=9"], ["max_seq_len=2049 is too long"]),
    "own_port": (
        ["Started HTTPService at 0.0.0.0:8000", "INFO: Uvicorn running on http://0.0.0.0:80 (Press)"],
        ["Listening on a socket"],
    ),
    "ort_placed": (["All nodes placed on [AExecutionProvider]. Number of nodes: 3"], ["Number of nodes: 3"]),
    "own_export_time": (["Export complete (360.55s)"], ["Export complete, 3 s"]),
    "own_title": (["Notebook: Serving of ResNet-50"], ["A Notebook: Serving"]),
    "mlperf_target": (
        [
            "target_qps : 73730",
            "target_latency (ns): 15000000",
            ':::MLLOG {"key": "effective_server_target_qps", "value": 33000, "time_ms": 3.1}',
        ],
        ["the target_qps : 3"],
    ),
    "mlperf_sut": (
        ["SUT name : crow server", ':::MLLOG {"key": "sut_name", "value": "crow", "time_ms": 3.1}'],
        ["the SUT name : crow"],
    ),
    "mlperf_least": (
        [
            "min_duration (ms): 600000",
            "min_query_count : 7",
            ':::MLLOG {"key": "effective_min_duration_ms", "value": 600000, "time_ms": 3.1}',
        ],
        ["min_duration is 7", "min_query_count : 0"],
    ),
    "ort_provider": (
        ["[TensorRT EP] TensorRT provider options: device_id: 0, trt_fp16_enable: 1"],
        ["TensorRT provider options: none"],
    ),
    "ort_subgraphs": (
        ["Graph is partitioned and number of subgraphs running on TensorRT execution provider is 3"],
        ["number of subgraphs running on CPU is 3"],
    ),
    "ort_whole": (
        ["[TensorRT EP] Whole graph will run on TensorRT execution provider"],
        ["Whole graph will run on CPU"],
    ),
    "tftrt_lazy": (["Could not find TRTEngineOp_0_3 in TF-TRT cache. This can"], ["Could not find a in the cache"]),
    "served_missing": (
        [
            "| crow | 1       | UNAVAILABLE: Internal: unable to load |",
            "| nest | -       | Not loaded: No model version was found |",
            "{'name': 'a', 'version': 1, 'state': 'UNAVAILABLE'}",
        ],
        ["| crow | 1 | READY |", "UNAVAILABLE: Internal"],
    ),
    "own_saved": (
        ["Saving INT8 model to /models/a/1", "SavedModel written to: /models/a.pb", "Results saved to out.csv"],
        ["It was saved to disk", "written to the cache"],
    ),
    "own_release": (["NVIDIA Release 22.12 (build 5)"], ["NVIDIA Release notes"]),
    "own_jetpack": (["R35.2 JetPack 5.1"], ["JetPack is installed"]),
    "own_request": (
        [
            '1.2.3.4 - - [30/May/2022 12:15:05] "POST /predict HTTP/1.1" 200 -',
            'INFO: 1.2.3.4:48 - "GET /v HTTP/1.1" 200 OK',
        ],
        ['https://h:443 "GET /a HTTP/1.1" 200 0', 'x - "GET /v HTTP/1.1" 404 Not Found'],
    ),
    "own_wall": (["Wall time: 1min 3s"], ["CPU times: user 2 s"]),
    "own_layers": (["   -- layers       72"], ["-- bindings 2"]),
    "served_model": (
        ["| a_b     | 1       | READY  |"],
        ["| a | 1 | UNAVAILABLE: x |"],
    ),
    "served_item": (
        ["{'name': 'a', 'version': 1, 'state': 'READY'}"],
        ["{'name': 'a', 'version': 1, 'state': 'UNAVAILABLE'}"],
    ),
    "triton_instance": (["Created instance a_0_1 on GPU 0 with"], ["Created instance a_0_1 on CPU"]),
    "triton_version": (["| server_version         | 2.49.0    |"], ["| server_id | 3 |"]),
    "tftrt_unconverted": (
        ["There are 4 ops of 2 types in the graph that are not converted to TensorRT: Sub, (For more information"],
        ["There are 4 ops"],
    ),
    "tftrt_unloaded": (["TF-TRT Warning: Could not find TensorRT"], ["TF-TRT Warning: x"]),
    "tftrt_engine": (
        ["TensorRT node TRTEngineOp_0 added for segment 0 consisting of 9 nodes succeeded."],
        ["TensorRT node TRTEngineOp_0 added for segment 0 consisting of 9 nodes failed: x."],
    ),
    "llm_tokens_cached": (["Using 410880 tokens in paged KV cache."], ["Using tokens in paged KV cache"]),
    "own_input": (
        ["0   INPUT  kFLOAT images   3x640x640    min: 1x3x640x640   opt: 1x3x640x640   Max: 8x3x640x640"],
        ["1   OUTPUT kFLOAT out 3x4", "INPUT image"],
    ),
    "traceback_frame": (['  File "a.py", line 3, in f', 'a.py", line 3, in f'], ["a.py line 3"]),
    "traceback_top": (['  File "a.py", line 3, in <module>'], ['  File "a.py", line 3, in main']),
    "own_gtest": (["[  PASSED  ] 12 tests.", "[  FAILED  ] 1 test, listed below:"], ["[  FAILED  ] Trt.Builds"]),
    "own_pytest": (["=== 1 failed, 2 passed in 3.2s ===", "= 2 passed in 3s ="], ["1 failed, 2 passed in 3s"]),
    "own_failure": (
        [
            "App run failed",
            "error: creating server: Internal - failed to load all models",
            "TensorRT: export failure 3s",
            "SUMMARY: submission has errors",
            "ERROR from element parse-7: Could not decode stream.",
            "ERROR: from element /GstPipeline:pipeline0/GstFileSrc:filesrc0: Resource not found.",
            "Error: gst-stream-error-quark: Internal data stream error. (1): gstbasesrc.c(3055): a",
        ],
        ["App failed", "WARNING from element sink: A lot of buffers are being dropped.", "ERROR from sink"],
    ),
    "own_success": (
        [
            "App run successful",
            "Finished: SUCCESS",
            "Job succeeded",
            "SUMMARY: submission looks OK",
            "status    = succeeded",
            '  "status": "success",',
        ],
        ["App run", "status succeeded before the rest failed", "exit status", "CUDA_SUCCESS", "SUCCESS rate 3 %"],
    ),
    "own_end_success": (["** SUCCESS **", "+ SUCCESS: the engine works"], ["CUDA_SUCCESS", "SUCCESS rate 3 %"]),
    "own_end": (
        ["Finish", "[INFO] Finished.", "Test all finish!", "10:05:01 - INFO - Finished successfully"],
        ["Finishing", "finish the build", "Refinish"],
    ),
    "own_end_done": (["Done.", "all done!", "is done"], ["done with step 1", "Loading... done", "undone", "50% done"]),
    "own_end_complete": (["Completed", "[INFO] Complete in 3.5 s"], ["Completing", "incomplete"]),
    "own_goal": (
        [
            "Succeeded building engine!",
            "** INFO: <bus_callback:217>: Received EOS. Exiting ...",
            "Succeed building serialized engine!",
            "nvstreammux: Successfully handled EOS for source_id=0",
            "Successfully built the engine.",
            "Successfully exported TensorRT model",
            "Succeeded running model in TensorRT!",
            "Engine saved to a.plan",
            "Engine Saved.",
            "Engine created.",
            "TensorRT: export success ok 31.5s, saved as 'a.engine' (9.1 MB)",
            "Export complete (34.2s)",
            "Convert finished successfully.",
            "Build engine successfully!",
            "Build finished",
            "Done Converting to TF-TRT INT8",
            "Total time of building all 1 engines: 00:05:00",
            "INFO:tensorflow:Assets written to: saved/assets",
            "Engine is saved at x",
            "completed building CUDA engine",
            "[TRT-LLM] [I] Total time of building all engines: 00:01:02",
            "Converted TensorRT model done.",
            "10:05:01 - mmdeploy - INFO - All process success.",
        ],
        [
            "Engine is not saved",
            "the engine will be saved to a",
            "Successfully created engine context",
            "Successfully loaded engine",
            "build success rate",
            "Engine built for another GPU",
            "serialize engine to file: a",
            "Failed to save: engine not written",
            "Successfully created plugin",
            "model done",
            "engine loading done",
        ],
    ),
    "step_failure": (["bench_failure=1", "a: load_failure=0 (2 s)"], ["load_failure=10.5", "no_failure=none"]),
    "step_rc": (["export_rc=2", "export_rc=0, next"], ["rc=2", "src=2"]),
    "step_status": (["infer_status=127"], ["exit_status=1", "http_status=2000"]),
    "step_code": (["build_return_code=141", "x_exit_code=0"], ["return_code=1", "source_code=1"]),
    "make_code": (["make: *** [all] Error 2", "make[1]: *** [Makefile:8: engine] Error 141"], ["*** [all] Error"]),
    "own_importing": (["Beginning ONNX file parsing", "Loading ONNX file from path a.onnx"], ["parsing arguments"]),
    "own_inferring": (["Time per inference: 3.5 ms", "infer time: 8 ms", "Inference time: 1"], ["inference.py"]),
    "own_building": (
        [
            "I trt_engine_op.cc:7] Building a new TensorRT engine for A",
            "Building TRT engine: a.onnx -> a.trt",
            "Building the TensorRT Engine",
            "Creating engine for the model",
            "Start to build engine",
        ],
        [
            "Rebuilding the engine took 3 s",
            "failed building engine",
            "Creating engine context",
            "Building engine: failed",
            "Completed creating the engine",
            "Finished building engine",
            "Done building the engine",
            "After generating engine a",
        ],
    ),
    "own_built": (
        [
            "INFO:_TRTInterpreter:Build TRT engine elapsed time: 0:00:03.3",
            "TensorRT: export success ok 479.3s",
            "serialize cuda engine to file: /m/a.engine successfully",
            "build engine in 7.5 Sec",
            "INFO:Builder:Serializing engine to file: /m/a.engine",
        ],
        ["TensorRT: export failure", "build engine in FP16"],
    ),
    "own_loaded": (
        ["[UID = 1]: deserialized trt engine from :/a.engine", "[UID 1]: Load new model:/a.txt sucessfully"],
        ["Deserialize engine failed"],
    ),
    "own_latency": (
        ["Latency = 19,41 ms | FPS = 51,53", "Inference time: 1.2 s", "Network       CPU  24.41ms  CUDA  23.46ms"],
        ["Latency: min 3", "latency of v2 3 ms", "Completed in 3 ms", "total latency: 28.5 sec", "Total latency: 3 s"],
    ),
    "own_fps": (
        ["Latency = 19,41 ms | FPS = 51,53", "Average FPS: 30"],
        ["FPS of v2", "**PERF:  FPS 0 (Avg)", "**PERF:  0.00 (0.00)", "FPS: 0"],
    ),
    "own_perf": (["**PERF:  29.97 (30.01)\t", "**PERF:  {'a0': 59.7, 'a1': 0.0}"], ["**PERF:  FPS 0 (Avg)"]),
    "own_rebuilding": (["/a.engine failed to match config params, trying rebuild"], ["trying rebuild of the nest"]),
    "own_end_built": (
        ["-- Build files have been written to: /nest", "Successfully installed crow-1.2", "[100%] Built target crow"],
        ["[ 50%] Built target crow", "Successfully built the engine"],
    ),
    "build_stopped": (["ninja: build stopped: subcommand failed."], ["the build stopped"]),
    "own_architectures": (["-- GPU architectures: 86-real", "compute capabilities: 8.6"], ["GPU architectures: all"]),
    "mlperf_result": (
        [
            "Result: result_90.00_percentile_latency_ns: 14250, Result is VALID",
            ':::MLLOG {"key": "result_mean_latency_ns", "value": 7, "time_ms": 3.1}',
        ],
        ["result_of_it: 3"],
    ),
    "mlperf_system": (["[I] build/engines/A30x1/crow/Offline/crow.plan"], ["build/engines/crow.plan"]),
    "navigator_status": (["O.COMMAND_FINISHED {'status': CommandStatus.OK}"], ["the status is CommandStatus.OK"]),
    "navigator_best": (["O.BEST_MODEL_PICKED {'config_key': 'crow', 'runner_name': 'Nest'}"], ["BEST_MODEL_PICKED {}"]),
    "triton_loading": (['I0101 08:00:00.1 1 model_lifecycle.cc:4] "loading: crow:1"'], ["loading: the nest"]),
    "triton_loaded": (["I0101 08:00:00.1 1 a.cc:8] \"successfully loaded 'crow'\""], ["loaded 'crow'"]),
    "tftrt_segment": (["Replaced segment 3 consisting of 17 nodes by TRTEngineOp_0"], ["Replaced segment 3"]),
    "tftrt_left_op": (["        - Mul -> 5x"], ["Mul -> 5x", "- Mul -> many"]),
    "of_cmake": (["-- The CXX compiler identification is GNU 13.3.0"], ["cmake is there"]),
    "of_pip": (["Installing collected packages: crow"], ["pip is there"]),
    "llm_option": (["[I] Set max_batch_size to 8.", "Set gemm_plugin to float16."], ["Set gemm_plugin to None."]),
    "llm_quantised": (["'quant_algo': 'W4A16_AWQ'", "Use the weight only quantization int4"], ["quant_algo: None"]),
    "llm_beams": (["TRTGptModel maxBeamWidth: 4"], ["TRTGptModel maxBeams: 4"]),
    "llm_inputs": (["TRTGptModel maxInputLen: 3071 = maxSequenceLen - 1"], ["maxInputLen: 7"]),
    "llm_at_once": (["TRTGptModel maxNumTokens: 8192"], ["maxNumTokens: 7"]),
    "llm_fraction": (["fraction is set 0.85, kv size is 7", "free_gpu_memory_fraction=0.9"], ["fraction is set 85"]),
    "own_build_time": (
        [
            "case 3, build time:  13701.181 ms",
            "Build TRT engine elapsed time: 0:00:03.345",
            "Time taken to build: 2 s",
            "build engine in 7.5 Sec",
            "Total time of building all 2 engines: 00:01:02",
            "TensorRTOptimizer: Graph size after: 4 nodes (-112), 3 edges (-118), time = 332.5ms.",
        ],
        ["build time unknown"],
    ),
    "own_end_passed": (["Passed", "  Passed!"], ["Passed 3 of 4", "It Passed"]),
    "own_end_upper": (["PASSED", "* PASSED *"], ["PASSED 3 of 4", "It PASSED"]),
    "ort_fallback": (
        ["Falling back to ['CUDAExecutionProvider', 'CPUExecutionProvider'] and retrying."],
        ["Falling back"],
    ),
    "llm_version": (
        ["[TensorRT-LLM] TensorRT-LLM version: 0.16.0", "[TensorRT-LLM] TensorRT LLM version: 1.1.0"],
        ["TensorRT-LLM Version:\t\t0.16.0"],
    ),
    "llm_processes": (["[TensorRT-LLM][INFO] MPI size: 8, MPI local size: 8, rank: 7"], ["MPI size: unknown"]),
    "llm_pytorch": (["[TRT-LLM] [I] Using LLM with PyTorch backend"], ["PyTorch backend"]),
    "signalled": (
        ["Command terminated by signal 11", "Command 'x' died with <Signals.SIGSEGV: 11>."],
        ["terminated by signal handler"],
    ),
    "finished_cleanly": (["[x-1]: process has finished cleanly [pid 3]"], ["process has finished"]),
    "killed_job": (["./b.sh: line 12:   345 Killed     python b.py"], ["line 12: Killed"]),
    "build_failed": (["Failed to build engine", "Unable to build engine"], ["Failed to build"]),
    "interrupted": (["KeyboardInterrupt", "^C", "make: *** [Makefile:6: run] Interrupt"], ["Interrupted system call"]),
    "ended_badly": (["Terminated", "Illegal instruction (core dumped)"], ["Terminated by peer"]),
    "return_code": (
        [
            "python_return_code=1",
            "Process finished with exit code 0",
            "exit status 1",
            "Command exited with 141",
            "Exit status: 139",
            "returncode=-11",
            "Command exited with non-zero status 1",
            "returned a non-zero code: 2",
            "build_exit_code=137",
        ],
        ["the exit code is unknown", "exited with 3 errors", "return code 3.5x"],
    ),
    "own_result": (
        [
            "result=FAIL",
            "Result is : VALID",
        ],
        ["fp32_result=FAIL", "result_validity is VALID"],
    ),
    "own_usage": (["Error: No such option: --x", "a.py: error: unrecognized arguments: -y"], ["No such option"]),
    "own_none": (["- Engines built: 0", "Succeeded: 0/9"], ["built: 10", "Failed: 0", "completed: 0.5 s"]),
    "own_gate": (["  accuracy: [PASSED] F1: 90.8 (Threshold=89.9)", "accuracy: [FAILED] f: 1"], ["accuracy: [0.1] f"]),
    "own_row_check": (
        ["0        PyTorch       ✅        5.9", "| FP16 | ✅ | 3 ms |", "│ 1   ┆ ONNX ┆ ✅ ┆ 5"],
        ["ONNX: export success ✅ 1.4s", "✅ done", "[ok] a  ✅ built"],
    ),
    "own_row_pass": (["FP16 net   PASS   0.2 ms", "| int8 | PASSED |"], ["it did PASS", "a  PASSING"]),
    "own_row_cross": (
        ["4       TensorRT       ❌        0.0   NaN", "| CoreML | ❌️ | - |", "3  OpenVINO  ❎  11"],
        ["ERROR ❌️ no", "Export ❌ failed"],
    ),
    "own_row_fail": (["fp8 attention   FAIL", "| a.onnx | FAILED | 3 |"], ["FAIL  a", "it may FAIL"]),
    "own_cells_pass": (["128,64,0.5,SUCCESS"], ["a, b,SUCCESS"]),
    "own_cells_fail": (["128,256,FAILED,FAILED,Run Failed"], ["a, b, FAILED"]),
    "own_row_empty": (["4                TensorRT        NaN           NaN"], ["TensorRT NaN 3.0", "ONNX  NaN  NaN"]),
    "own_banner": (["&&&& PASSED A net agrees."], ["&& PASSED"]),
    "own_result_upper": (["RESULT: PASS", "TEST RESULT = FAILED"], ["RESULTS: 3"]),
    "own_tests": (
        [
            "All tests are passed!!",
            "ALL TESTS PASSED",
            "Accuracy test FAILED",
            ':::MLLOG {"key": "result_validity", "value": "INVALID", "time_ms": 3.1}',
        ],
        ["All tests run", "result_validity is VALID"],
    ),
    "loaded_file": (
        [
            "deserialized trt engine from :/m/a.engine",
            "Loading /m/b.engine for TensorRT inference...",
            "Serialized TensorRT engine loaded from model.trt",
        ],
        [
            "Loading model.onnx",
            "deserialize engine from file :/a.engine failed",
            "Engine saved to a.engine",
            "Loading trt engines",
        ],
    ),
    "loaded_file_said": (["Device:0.GPU: [0] ./c.plan has been successfully loaded."], ["It has been loaded"]),
    "own_loop": (
        ["    376 µs ± 3 µs per loop (mean)", "17.6 ms ± 176 µs per loop (mean ± std. dev. of 7 runs, 10 loops each)"],
        ["3 ms per loop"],
    ),
    "own_answer": (
        ["class 0001 - 0.647910  (dog)", 'Output [Text 0 Beam 0]: "a"', "Prompt: 'a', Generated text: 'b'"],
        ["Output: a"],
    ),
    "own_closed": (
        ["server.cc:295] All models are stopped, unloading models", "Application shutdown complete."],
        ["All models are loaded"],
    ),
    "triton_backend": (["TRITONBACKEND_Initialize: onnxruntime"], ["TRITONBACKEND_Finalize: onnxruntime"]),
    "own_serving": (
        [
            "Started GRPCInferenceService at 0.0.0.0:8001",
            "Application startup complete.",
            "{'name': 'a', 'version': 1, 'state': 'READY'}",
        ],
        ["Started it"],
    ),
    "own_rate": (
        ["Throughput: 189 images/s", "Average throughput: 3393.46 images/second", "throughput: 17.4 infer/sec"],
        ["Throughput: 12 qps", "Throughput: images/s", "throughput, 3 images/s"],
    ),
    "own_rate_said": (["Images processed per second= 1598", "images per second: 12.5"], ["per second: 3"]),
    "saved_file": (
        [
            "[TRT-LLM] [I] Serializing engine to a/rank0.engine...",
            "INFO:EngineBuilder:Serializing engine to file: b.engine",
            "[UID = 1]: serialize cuda engine to file: /a folder/c.engine successfully",
            "TensorRT: export success 3.5s, saved as 'd.engine' (1.5 MB)",
            "Engine saved to e/f.trt (2 MB)",
        ],
        ["Serializing engine", "Engine saved to disk", "Engine saved to a.engine.log"],
    ),
    "said_error": (
        ["ERROR: ../nvdsinfer/a.cpp:58 Cannot", "12 0x3 ERROR nvinfer x", "[ERROR] x", "[a.cu:5]: Failed to run"],
        ["ERRORS: 3"],
    ),
    "own_accuracy": (["accuracy=76.064%", "Accuracy: 0.761", "Top-1 accuracy: 76 %"], ["accuracy: 12", "accuracy 1%"]),
    "own_map": (["    all    128    929   0.651   0.55   0.619   0.445"], ["    person   61    254   0.8 0.6 0.7 0.5"]),
    "mlperf_setting": (
        [
            "Scenario : Offline",
            "test_mode : AccuracyOnly",
            ':::MLLOG {"key": "effective_scenario", "value": "Server", "time_ms": 3.1}',
        ],
        ["No Mode: b"],
    ),
    "llm_load": (["[TensorRT-LLM][INFO] Engine load time 11062 ms"], ["Engine load time: 3"]),
    "llm_latency": (["[BENCHMARK] tokens_per_sec 143.72 latency(ms) 3562.471 compute_cap sm89"], ["latency(ms) | 3"]),
    "llm_batch": (["TRTGptModel maxBatchSize: 8"], ["maxBatchSize: 8"]),
    "llm_sequence": (["TRTGptModel maxSequenceLen: 256"], ["maxSequenceLen: 256"]),
    "mlperf_summary": (
        ["MLPerf Results Summary", ':::MLLOG {"key": "loadgen_version", "value": "3.1", "time_ms": 3.1}'],
        ["MLPerf"],
    ),
    "mlperf_test": (["main.cc:9] Starting running actual test.", "Finished running actual test."], ["Starting test"]),
    "mlperf_latency": (["99.90 percentile latency (ns)   : 181", "Mean latency (ns) : 5"], ["target_latency (ns): 0"]),
    "mlperf_rate": (
        ["Samples per second: 12.5", ':::MLLOG {"key": "result_samples_per_second", "value": 9.5, "time_ms": 3.1}'],
        ["Samples: 3"],
    ),
    "llm_requests": (["Request Throughput (req/sec):   147.55", "Request Throughput (req/sec): 1"], ["Throughput: 3"]),
    "llm_tokens": (
        [
            "[BENCHMARK] precision float16 tokens_per_sec 143.72 x",
            "Token Throughput (tokens/sec):  8",
            "Total Token Throughput (tokens/sec): 1",
        ],
        ["tokens: 3"],
    ),
    "tftrt_version": (
        [
            "utils.cc:102] Loaded TensorRT version: 8.2.3",
            "INFO:tensorflow:Loaded TensorRT version: (8, 2, 3)",
        ],
        ["Linked TensorRT version: 8.2.3"],
    ),
    "of_mlperf": (["Running harness for bert benchmark", "./build/bin/harness_bert --x"], ["a harness"]),
    "of_triton": (["I01 model_lifecycle.cc:46] loading"], ["triton kernel"]),
    "of_triton_server": (["exec tritonserver"], ["triton server", "libtritonserver.so: cannot open"]),
    "of_deepstream": (["NvDsInferContext[UID 1]", "deepstream-app -c a.txt"], ["a deep stream"]),
    "of_tensorrt_llm": (["[TRT-LLM] [I] a", "trtllm-build --x"], ["TensorRT LLM"]),
    "of_torch_tensorrt": (["torch_tensorrt.compile(m)", "site-packages/torch_tensorrt/_compile.py"], ["torch2trt"]),
    "of_tf_trt": (["TF-TRT Warning: Could not find TensorRT", "node TRTEngineOp_0"], ["tf and trt"]),
    "of_onnxruntime": (["[ONNXRuntimeError] : 1", "['TensorrtExecutionProvider']"], ["onnxruntime_precision=1"]),
    "of_jetson": (["jetson-inference:  ", "detectNet -- loading"], ["jetson clocks"]),
    "of_ros": (["[component_container-1] x", "[INFO] [launch]: All log files"], ["ros"]),
    "of_python": (
        [
            "Traceback (most recent call last):",
            '  File "a.py", line 3, in <module>',
            "in: DataType.HALF (1, 3)",
            "run.py[line:7] - INFO: a",
        ],
        ['File "a.onnx"', "run.py: 7", "DataType.HALFWAY"],
    ),
    "own_item": (["raw_result=FAIL", "fp16_result=PASS"], ["result=FAIL", "raw_result=1.5"]),
    "own_off": (["full_check_enabled=False"], ["enabled=False", "full_check_enabled=True"]),
    "own_options": (["INFO: Namespace(batch=4, onnx='a.onnx')"], ["Namespace()", "namespace(a=1)"]),
    "trt_listed": (["==== TensorRT Network ====", "==== TensorRT Engine ===="], ["==== TensorRT results ===="]),
    "trt_replay_listed": (
        ["        Algorithm: (Implementation: 21, Tactic: 7) | Inputs: (x)"],
        ["Algorithm: (Implementation: 21"],
    ),
    "trt_replays_compared": (
        ["Found potentially bad tactics:", "Could not determine potentially bad tactics."],
        ["bad tactics"],
    ),
    "trt_capable": (["Graph is fully supported by TensorRT; Will not report errors."], ["Graph is supported"]),
    "trt_incapable": (
        ["    Operator | Count   | Reason   | Nodes", "Stack trace | Operator  | Node    | Reason"],
        ["Operator | Count | Time", "| Reason "],
    ),
    "poly_listed": (["==== ONNX Model ====", "==== TensorFlow Graph ===="], ["=== ONNX Model ==="]),
    "poly_data_listed": (
        ["==== Run Results (2 runners) ====", "==== Data (1 iterations) ===="],
        ["==== Data (x) ===="],
    ),
    "poly_linted": (["LINT | Name: a, Op: B | No Op registered", "[E] LINT | a"], ["SPLINT | a"]),
    "poly_sparsity": (["Checking the sparsity pattern of 7 tensors."], ["the sparsity pattern"]),
    "sample_profile": (["   TensorRT layer name    Runtime, %  Invocations  Runtime, ms"], ["TensorRT layer name: a"]),
    "sample_profile_row": (
        ["  conv 1 + relu  15.6%    10   1.82", "a  0.0%  1  0.00"],
        ["a 15.6% of 10 calls", "a 1% 2 3"],
    ),
    "sample_profile_end": (["========== net total runtime = 11.6 ms =========="], ["total runtime = 11.6"]),
    "own_layer_time": (["layer a/1 + b - 0.5 ms"], ["layer network time - 4.5 ms", "layer a - 4 s"]),
    "mlperf_token": (
        ["99.90 percentile first token latency (ns)   : 181", "Mean Time to Output Token (ns) : 5"],
        ["ttft_latency (ns): 1", "99.90 percentile latency (ns) : 4"],
    ),
    "poly_tensors": (["    ---- 1 Graph Input(s) ----"], ["---- Inference Input(s) ----"]),
    "poly_model_saved": (["Saving ONNX model to: a/b.onnx"], ["Saving ONNX model to: polygraphy_debug.onnx"]),
    "poly_model_before": (["Original Model:"], ["Original Model: 7 MB"]),
    "poly_model_after": (["New Model:"], ["New Model: 7 MB"]),
    "poly_pruned": (["Finished pruning 3 tensors."], ["pruning 3 tensors"]),
    "poly_stripped": (["Finished stripping 3 weights"], ["stripping"]),
    "poly_reconstructed": (["Finished reconstructing 3 weights"], ["reconstructing"]),
    "poly_scripted": (["Writing script to: a.py"], ["Writing script to: a.sh"]),
    "poly_cast": (["Converting float tensors to float16"], ["Converting tensors"]),
    "poly_reducing": (["Reducing model outputs", "Reducing model inputs"], ["Reducing model size"]),
    "poly_precision": (
        ["Selecting first 3 layer(s) to run in higher precision", "try the last 3 layer(s) in higher precision"],
        ["in higher precision"],
    ),
    "poly_plugins": (["the following plugins matched:"], ["plugins matched"]),
    "of_cpp": (["terminate called after x", "sample.cpp:12) failed", "[run.cpp:7:main] a"], ["sample.cpp"]),
    "asserted": (
        [
            "b: a.cpp:12: f(): Assertion `x > 0' failed.",
            "Assertion failed: nest, file C:\\crow\\nest.cpp, line 12",
            'python: a.h:3: T A<B>::c(): Assertion `0 && "d"\' failed.',
        ],
        ["a.cu:9: block: [0,0,0], thread: [1,0,0] Assertion `i < n` failed.", "Assertion failed: x"],
    ),
    "crashed": (
        ["Segmentation fault (core dumped)", "Aborted (core dumped)", "Thread 1 received signal SIGABRT, Aborted."],
        ["Aborted the search"],
    ),
    "terminated": (["terminate called without an active exception"], ["terminate"]),
    "host_killed": (["Killed", "Out of memory: Killed process 3"], ["I Killed it"]),
}
"""Lines by what they tell, then lines that do not."""


def told(text: str) -> set[str]:
    index = LineIndex(text.encode() + b"\n")
    return {kind for _, kind, _ in UnreadLines().told(index, np.arange(len(index))).asides}


@for_each("kind", WORDINGS)
def test_each_wording_is_told_and_its_look_alike_is_not(kind: str) -> None:
    rows, others = WORDINGS[kind]
    assert [row for row in rows if kind not in told(row)] == []
    assert [row for row in others if kind in told(row)] == []


def test_every_aside_has_wordings() -> None:
    assert WORDINGS.keys() == ASIDES.keys()


def test_a_line_that_is_met_again_tells_the_same() -> None:
    reader, index = UnreadLines(), LineIndex(b"Killed\nx\n" * 300)
    for _ in range(2):
        asides = reader.told(index, np.arange(len(index))).asides
        assert [line for line, _, _ in asides] == [*range(0, len(index), 2)]
