"""The next command that a finding proposes."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from trtforensics.findings.steps.commands import (
    autocast,
    logged,
    polygraphy_run,
    profile,
    reduce,
    sanitize,
    timings_kept,
    trtexec,
    typed,
    unused_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.findings.case import Case

BODY = "\nV Original: 1 layers"
POLYGRAPHY = "| [I] RUNNING | Command: /usr/bin/polygraphy run m.onnx --trt --fp16 --onnxrt --atol 1e-5"


def test_the_next_command_is_the_logs_own_with_flags_replaced(case_of: Callable[[str], Case]) -> None:
    case = case_of(f"&& 10.16.1 --fp16 --memPoolSize=workspace:1 --saveEngine=a b.plan{BODY}")
    assert trtexec(case, "--memPoolSize=workspace:8", without=("--fp16",)) == (
        "trtexec --onnx=m.onnx '--saveEngine=a b.again.plan' --verbose --memPoolSize=workspace:8"
    )


@pytest.mark.parametrize(
    ("notation", "flag"),
    [
        ("&& 10.16.1 --workspace", "--workspace=8"),
        ("&& 8.0.3 --fp16", "--memPoolSize=workspace:8"),
        ("&& 11.1.0 --stronglyTyped", "--fp16"),
        ("&& 10.16.1 --fp16", "--fp16"),
        ("&& 10.16.1 --loadEngine=a.plan", "--fp16"),
        ("&& 10.16.1 --skipInference", "--dumpProfile"),
        ("&& 8.0.3 --buildOnly", "--dumpProfile"),
        ("V Parsing", "--dumpProfile"),
        (POLYGRAPHY, "--dumpProfile"),
    ],
    ids=["gone", "not yet", "gone in 11", "there already", "loads", "skips", "builds only", "no command", "Polygraphy"],
)
def test_there_is_no_command_for_a_flag_without_effect(
    notation: str, flag: str, case_of: Callable[[str], Case]
) -> None:
    assert trtexec(case_of(notation + BODY), flag) == ""


PASSED = f"{BODY}\n&&."
SHAPES = "--minShapes=x:1x3 --optShapes=x:2x3 --maxShapes=x:4x3"


@pytest.mark.parametrize(
    ("options", "flags", "without", "command"),
    [
        ("--fp16", ["--useCudaGraph"], (), "--useCudaGraph"),
        (SHAPES, ["--useCudaGraph"], (), "--shapes=x:2x3 --useCudaGraph"),
        (f"{SHAPES} --shapes=x:1x3", ["--useCudaGraph"], (), "--shapes=x:1x3 --useCudaGraph"),
        ("--plugins=p.so --dumpProfile", [], ["--dumpProfile"], "--plugins=p.so"),
        ("--skipInference", ["--dumpProfile"], (), "--dumpProfile"),
        ("--timingCacheFile=a.cache --exportTimes=t.json", ["--useCudaGraph"], (), "--exportTimes=t.again.json"),
    ],
    ids=["build flags", "optimised shapes", "shapes", "without", "built only", "exports"],
)
def test_what_changes_the_run_alone_loads_the_engine_that_was_saved(
    options: str, flags: list[str], without: list[str], command: str, case_of: Callable[[str], Case]
) -> None:
    words = trtexec(case_of(f"&& 10.16.1 {options} --saveEngine=a.plan{PASSED}"), *flags, without=without).split()
    assert words[:2] == ["trtexec", "--loadEngine=a.plan"]
    assert {*words[2:]} - {"--verbose"} == {*command.split(), *flags}


@pytest.mark.parametrize(
    ("notation", "flag"),
    [
        (f"&& 10.16.1 --saveEngine=a.plan{PASSED}", "--fp16"),
        (f"&& 10.16.1 --saveEngine=a.plan{BODY}", "--useCudaGraph"),
        (f"&& 10.16.1 --saveEngine=a.plan --stripWeights{PASSED}", "--useCudaGraph"),
        (f"&& 10.16.1 --saveEngine=a.plan --minShapes=x:1{PASSED}", "--useCudaGraph"),
        (f"&& 10.16.1 --saveEngine=a.plan{PASSED}\n&& 10.16.1 --fp16 --saveEngine=a.plan{PASSED}", "--useCudaGraph"),
    ],
    ids=["another build", "no verdict", "weights are missing", "shapes are missing", "replaced by the next build"],
)
def test_an_engine_is_not_loaded_where_it_does_not_answer(
    notation: str, flag: str, case_of: Callable[[str], Case]
) -> None:
    command = trtexec(case_of(notation), flag)
    assert "--onnx=m.onnx" in command
    assert "--saveEngine=a.again.plan" in command


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("a.plan", "a.again.plan"),
        ("d.v1/model", "d.v1/model.again"),
        (r"C:\a.b\model.x.trt", r"C:\a.b\model.x.again.trt"),
        ("a.again.plan", "a.again.again.plan"),
        ("/dev/null", "/dev/null"),
    ],
)
def test_what_a_command_writes_has_another_name(path: str, other: str, case_of: Callable[[str], Case]) -> None:
    case = case_of(f"&& 10.16.1 --saveEngine={path} --timingCacheFile={path} --errorOnTimingCacheMiss{BODY}")
    command = trtexec(case, "--fp16")
    assert f"--saveEngine={other} --timingCacheFile={other} " in command
    assert "--errorOnTimingCacheMiss" not in command, "it would refuse the new cache"


def test_polygraphy_writes_to_other_files_too(case_of: Callable[[str], Case]) -> None:
    case = case_of(f"{POLYGRAPHY} --save-engine=a.plan --save-tactics t.json{BODY}")
    assert "--save-engine=a.again.plan --save-tactics t.again.json" in polygraphy_run(case, "-vv")
    cached = case_of(f"{POLYGRAPHY} --save-timing-cache t.cache{BODY}")
    (step,) = timings_kept(cached)
    assert step.command.endswith("--save-timing-cache t.again.cache --load-timing-cache t.cache")


def test_files_of_the_users_are_not_written_over(case_of: Callable[[str], Case]) -> None:
    first = "| &&&& RUNNING TensorRT.trtexec [TensorRT v101601] # trtexec --onnx={}.onnx\nV Original: 1 layers"
    case = case_of(first.format("mixed"))
    assert autocast(case).command.endswith("--onnx_path mixed.onnx --output_path mixed.again.onnx")
    assert "--onnx=mixed.again.onnx" in typed(case).command
    assert sanitize(case_of(first.format("folded"))).command.endswith("-o folded.again.onnx")


def test_commands_of_one_log_write_to_files_of_their_own(case_of: Callable[[str], Case]) -> None:
    case = case_of(f"&& 10.16.1 --fp16{PASSED}\n&& 10.16.1 --int8{PASSED}\n&& 10.16.1 --fp16{PASSED}")
    cases = [replace(case, build=build) for build in case.log.builds]
    assert [unused_name(each, "again.log") for each in cases] == ["again.log", "again.2.log", "again.log"]


def test_what_tensorrt_11_does_by_itself_is_not_asked_for(case_of: Callable[[str], Case]) -> None:
    case = case_of(f"&& 11.1.0 --stronglyTyped{BODY}")
    assert trtexec(case, "--useCudaGraph") == ""
    (step,) = profile(case, "measure")
    assert step.command.endswith("--verbose --dumpProfile")


def test_an_option_that_trtexec_refused_is_left_out(case_of: Callable[[str], Case]) -> None:
    case = case_of("&& 11.1.0 --fp16 --odd\ne Unknown option: --odd")
    assert trtexec(case, "--dumpProfile") == "trtexec --onnx=m.onnx --verbose --dumpProfile"


def test_types_of_layers_join_those_that_were_given(case_of: Callable[[str], Case]) -> None:
    case = case_of(f"&& 10.16.1 --layerPrecisions=a:fp16{BODY}")
    assert "--layerPrecisions=a:fp16,b:fp32" in trtexec(case, "--layerPrecisions=b:fp32")


def test_strong_typing_goes_without_precisions(case_of: Callable[[str], Case]) -> None:
    case = case_of(f"&& 10.16.1 --fp16 --best --layerPrecisions=a:fp16{BODY}")
    assert trtexec(case, "--stronglyTyped") == "trtexec --onnx=m.onnx --verbose --stronglyTyped"


def test_timings_are_kept_by_the_tool_of_the_log(case_of: Callable[[str], Case]) -> None:
    (step,) = timings_kept(case_of(f"&& 10.16.1 --fp16{BODY}"))
    assert step.command.endswith("--timingCacheFile=timing.cache")
    (step,) = timings_kept(case_of(f"| [11/21/2026-10:00:00] [TRT] [V] {BODY[3:]}"))
    assert (step.command, "set_timing_cache" in step.what) == ("", True)
    (step,) = timings_kept(case_of(f"{POLYGRAPHY}{BODY}"))
    assert step.command.startswith("polygraphy run m.onnx --trt --fp16 ")
    kept = "I Global timing cache in use. Profiling results in this builder pass will be stored."
    assert timings_kept(case_of(f"&& 10.16.1{BODY}\n{kept}")) == ()


def test_what_a_log_holds_is_not_asked_for(case_of: Callable[[str], Case]) -> None:
    assert profile(case_of(f"&& 10.16.1 --dumpProfile{BODY}"), "measure") == ()
    (step,) = profile(case_of(f"&& 8.6.1{BODY}"), "measure")
    assert step.command.endswith("--dumpProfile --separateProfileRun")


def test_polygraphy_keeps_the_settings_of_either_tool(case_of: Callable[[str], Case]) -> None:
    own = case_of(f"{POLYGRAPHY}{BODY}")
    assert polygraphy_run(own, "--atol", "1e-3", reduced=False) == "polygraphy run m.onnx --trt --onnxrt --atol 1e-3"
    shapes = "--minShapes=x:1x3 --optShapes=x:2x3 --maxShapes=x:4x3"
    other = case_of(f"&& 8.6.1 --fp16 {shapes} --plugins=libp.so{BODY}")
    assert polygraphy_run(other, "--onnxrt") == (
        "polygraphy run m.onnx --trt --fp16 --trt-min-shapes 'x:[1,3]' --trt-opt-shapes 'x:[2,3]' "
        "--trt-max-shapes 'x:[4,3]' --plugins libp.so --onnxrt"
    )


def test_a_command_is_logged_with_both_streams(case_of: Callable[[str], Case]) -> None:
    assert logged(case_of(f"&& 8.6.1{BODY}"), "--verbose") == "trtexec --onnx=m.onnx --verbose > again.log 2>&1"
    assert logged(case_of(f"V {BODY[3:]}")) == ""


@pytest.mark.parametrize(
    ("log", "build"),
    [
        (f"&& 10.16.1 --fp16 --saveEngine=a.plan{BODY}", "trtexec --fp16 --verbose --onnx={model}"),
        (f"&& 10.16.1 --timingCacheFile=t.cache --exportTimes=t.json{BODY}", "trtexec --verbose --onnx={model}"),
        (f"{POLYGRAPHY}{BODY}", "polygraphy run {model} --trt --fp16"),
        (f"{POLYGRAPHY} --save-engine a.plan -v{BODY}", "polygraphy run {model} --trt --fp16 --onnxrt --atol 1e-5 -v"),
        (f"{POLYGRAPHY.partition(' run')[0]} convert m.onnx -o a{BODY}", "polygraphy convert {model} -o {engine}"),
    ],
    ids=["trtexec", "files of trtexec", "polygraphy", "files of polygraphy", "convert"],
)
def test_a_reduction_builds_each_probe_as_the_log_says(log: str, build: str, case_of: Callable[[str], Case]) -> None:
    words = shlex.split(reduce(case_of(log)).command)
    assert words[:2] + words[3:4] == ["trtforensics", "reduce", "--build"]
    assert words[2].endswith(".onnx")
    assert words[4].startswith(build)


def test_there_is_no_reduction_without_a_model(case_of: Callable[[str], Case]) -> None:
    assert not reduce(case_of(BODY[1:])).command
