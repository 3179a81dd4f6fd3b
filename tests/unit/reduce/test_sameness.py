"""Two runs of a check, part by part: the same failure, or another one."""

from __future__ import annotations

import itertools
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.for_each import for_each
from trtforensics.bisection.runner.command import Ended
from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec
from trtforensics.bisection.search import Verdict
from trtforensics.reduce.failure import Failure, Names, Sameness, failure_of, paths_of

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = Names(
    {"/a/Resize": "Resize", "/b/Add": "Add"},
    {"/a/out": "/a/Resize", "/b/out": "/b/Add", "two words": "/b/Add", "y": "/b/Add", "z": "/a/Resize"},
    frozenset({"x"}),
    {"y": "y", "/a/out": "", "z": "z"},
)
TRACEBACK = """Traceback (most recent call last):
  File "{folder}/check.py", line {line}, in <module>
    main()
    ~~~~^^
  File "{folder}/{file}", line 12, in {function}
    np.testing.assert_allclose(golden, outputs)
  File "/usr/lib/python3.12/site-packages/numpy/testing/utils.py", line 1504, in {library}
    raise AssertionError(msg)
{error}: {message}
"""
FRAMES = {
    "folder": "/home/me",
    "line": 3,
    "file": "check.py",
    "function": "compare",
    "library": "assert_allclose",
    "error": "AssertionError",
    "message": "not equal",
}
TENSORRT = (
    "[11/22/2026-17:05:59] [TRT] [E] [{file}::{function}::{line}] Error Code {code}: Internal Error ({message})\n"
)
ERRORS = {"file": "builder.cpp", "function": "build", "line": 415, "code": 10, "message": "no tactic for /a/Resize"}


def failed(text: str, status: int = 1, folder: str = "/w/out/probes/0001-abcdef", names: Names = NAMES) -> Failure:
    values = {"model": f"{folder}/model.onnx", "engine": f"{folder}/engine", "probe": Path(folder).name}
    spec = ProbeSpec(folder, "/w", None, "check", values)
    with tempfile.TemporaryDirectory() as logs:
        Path(logs, "check.log").write_text(text)
        outcome = ProbeOutcome(Verdict.BAD, "", None, (Ended(status, 1.0, len(text)),))
        return failure_of(Path(logs), outcome, replace(names, paths=paths_of(spec)))


def traceback(**changed: object) -> str:
    return TRACEBACK.format(**{**FRAMES, **changed})


def tensorrt(**changed: object) -> str:
    return TENSORRT.format(**{**ERRORS, **changed})


OTHER = {
    "status": (("no\n", 3), ("no\n", 4), "it ended with status 4"),
    "signal": (("no\n", -11), ("no\n", 134), "it ended by signal 6"),
    "signal, not status": (("no\n", 1), ("no\n", -6), "it ended by signal 6"),
    "error code": ((tensorrt(), 1), (tensorrt(code=4), 1), "code is"),
    "function": ((tensorrt(), 1), (tensorrt(function="solve"), 1), "it stopped in builder.cpp: solve"),
    "source file": ((tensorrt(), 1), (tensorrt(file="graph.cpp"), 1), "it stopped in graph.cpp: build"),
    "frame": ((traceback(), 1), (traceback(function="load"), 1), "frame is check.py: load: AssertionError"),
    "frame's file": ((traceback(), 1), (traceback(file="golden.py"), 1), "frame is golden.py: compare"),
    "exception": ((traceback(), 1), (traceback(error="KeyError"), 1), "check.py: compare: KeyError"),
    "message": ((traceback(), 1), (traceback(message="shapes differ"), 1), "it says AssertionError: shapes differ"),
    "code in a message": (("CUDA error 700 here\n", 1), ("CUDA error 2 here\n", 1), "it says CUDA 2"),
    "exit status in a message": (("exit status 3\n", 1), ("exit status 4\n", 1), "it says exit status 4"),
    "a file of the user's": (("no /w/a.npz\n", 1), ("no /w/b.npz\n", 1), "it says no /w/b.npz"),
    "assertion in C++": (
        ("m: a.cpp:3: int f(): Assertion `x > 3' failed.\n", -6),
        ("m: a.cpp:3: int f(): Assertion `y < 3' failed.\n", -6),
        "it says a check fails: # must be less than #",
    ),
    "debugger's frame": (
        ("#0  0x00007f in raise () from /lib/libc.so\n#1  0x0000aa in nv::run (this=0x1) at src/run.cpp:12\n", -11),
        ("#0  0x00007f in raise () from /lib/libc.so\n#1  0x0000aa in nv::map (this=0x1) at src/run.cpp:12\n", -11),
        "frame is run.cpp: nv::map",
    ),
    "another output of the original": (("NaN in output 'y'\n", 1), ("NaN in output 'z'\n", 1), "the output z"),
}
SAME = {
    "status of a shell": (("no\n", -11), ("no\n", 139)),
    "line numbers and library frames": ((traceback(), 1), (traceback(line=99, library="check_inf"), 1)),
    "where the check is": ((traceback(), 1), (traceback(folder="/home/you"), 1)),
    "numbers": (("3 of 12 differ by 0.25\n", 1), ("1 of 64 differ by 1e-3\n", 1)),
    "temporary files": (("no /tmp/tmpa1b2c3d4/m.plan\n", 1), ("no /tmp/tmpz9y8x7w6/m.plan\n", 1)),
    "temporary names": (("no tmpa1b2c3d4\n", 1), ("no tmp_9y8x7w6\n", 1)),
    "hashes": (("cache 12ab34cd56 lost\n", 1), ("cache ffee0011aa99 lost\n", 1)),
    "days": (("Mon Nov 23 20:12:26 2026 no\n", 1), ("Tue Dec  1 01:00:00 2026 no\n", 1)),
    "tensors": (("ValueError: /b/out is wrong\n", 1), ("ValueError: x is wrong\n", 1)),
    "names that hold spaces": (("KeyError: 'two words'\n", 1), ("KeyError: '/a/out'\n", 1)),
    "names inside of a finding": ((tensorrt(), 1), (tensorrt(message="no tactic for /a/Resize", line=9), 1)),
    "the result of a cut": (("NaN in output 'y'\n", 1), ("NaN in output '/a/out'\n", 1)),
    "Polygraphy's command": (
        ("no\n[E] FAILED | Runtime: 0.2s | Command: polygraphy run {m} a\n", 1),
        ("no\n[E] FAILED | Runtime: 3.1s | Command: polygraphy run b\n", 1),
    ),
}


@for_each("part", OTHER)
def test_another_failure(part: str) -> None:
    one, other, says = OTHER[part]
    assert says in failed(*one).difference(failed(*other), Sameness.STRICT)


@for_each("part", SAME)
def test_the_same_failure(part: str) -> None:
    one, other = (failed(*each) for each in SAME[part])
    assert (one.difference(other, Sameness.STRICT), other.difference(one, Sameness.STRICT)) == ("", "")


@for_each(("part", "pair"), list(itertools.chain(OTHER.items(), SAME.items())))
def test_loosely_only_the_end_and_the_finding_count(part: str, pair: tuple[tuple[str, int], ...]) -> None:
    one, other = failed(*pair[0]), failed(*pair[1])
    assert bool(one.difference(other, Sameness.LOOSE)) == (part in {"signal", "signal, not status"})


LINES = """Traceback (most recent call last):
  File "/tmp/{temporary}/check.py", line {pid}, in main
ValueError: {dir}/model.onnx ({relative}, probe {probe}): engine {dir}/engine at {address} in process {pid} of \
/tmp/{temporary}/a after {seconds} s
"""


def text_of(folder: str, numbers: Mapping[str, object], temporary: str) -> str:
    relative = f"{folder.removeprefix('/w/')}/engine"
    return LINES.format(dir=folder, probe=Path(folder).name, relative=relative, temporary=temporary, **numbers)


runs = st.tuples(
    st.from_regex(r"/w/[a-z]{1,8}/probes/[0-9]{4}-[0-9a-f]{6}", fullmatch=True),
    st.fixed_dictionaries(
        {
            "pid": st.integers(1, 4_194_304),
            "seconds": st.floats(0, 1e5).map(lambda seconds: f"{seconds:.3f}"),
            "address": st.integers(0, 2**64 - 1).map(hex),
        }
    ),
    st.from_regex(r"[A-Za-z0-9_]{6,12}", fullmatch=True),
)


@settings(max_examples=20)
@given(runs, runs)
def test_what_another_run_or_probe_has_otherwise_does_not_count(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    first, second = (failed(text_of(*run), folder=run[0]) for run in (one, other))  # type: ignore[arg-type]
    assert replace(first, lines=()) == replace(second, lines=())
    assert (
        first.form
        == "ValueError: {model} ({engine}, probe {probe}): engine {engine} at # in process # of /tmp/#/a after # s"
    )


def test_a_second_look_takes_out_what_differs_from_run_to_run() -> None:
    first, second = failed("lost worker amber of pool\n", 3), failed("lost worker azure of pool\n", 4)
    original = first.seen_again(second)
    assert original.varies == ("status",)
    assert original.difference(failed("lost worker black of pool\n", 5), Sameness.STRICT) == ""
    assert original.difference(failed("lost worker black of rest\n", 5), Sameness.STRICT).startswith("it says")
    assert original.difference(failed("no\n", -6), Sameness.STRICT) == "it ended by signal 6"


def test_messages_of_different_lengths_do_not_count_at_all() -> None:
    original = failed("lost one\n").seen_again(failed("lost one or two\n"))
    assert original.varies == ("form",)
    assert original.difference(failed("found\n"), Sameness.STRICT) == ""


def test_any_output_stands_for_one_that_is_gone() -> None:
    whole = failed("NaN in output y\n")
    names = replace(NAMES, expected=whole.outputs, outputs={"z": "z", "/a/out": ""})
    assert whole.outputs == ("y",)
    for output in ("z", "/a/out"):
        assert whole.difference(failed(f"NaN in output {output}\n", names=names), Sameness.STRICT) == ""


def test_an_output_that_a_check_names_tells_no_operator() -> None:
    report = "[E]     NaN Detected | One or more NaNs were encountered in this output\n"
    report += "[E]     FAILED | Errors detected in output: {}\n"
    whole, cut = failed(report.format("y")), failed(report.format("/a/out"))
    assert (whole.code, whole.operator, whole.named, whole.outputs) == ("TF250", "", ("/b/Add",), ("y",))
    assert whole.difference(cut, Sameness.STRICT) == ""


def test_paths_are_known_from_where_the_command_runs_and_behind_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    folder = str(tmp_path / "link")
    spec = ProbeSpec(folder, str(tmp_path), None, "", {"model": f"{folder}/model.onnx", "probe": "0001-aaaaaa"})
    names = replace(NAMES, paths=paths_of(spec))
    for spelled in (f"{folder}/model.onnx", f"{tmp_path}/real/model.onnx", "link/model.onnx", "model.onnx"):
        assert names.blanked(f"cannot read {spelled}.") == "cannot read {model}.", spelled
    assert names.blanked("my_model.onnx") == "my_model.onnx"
    assert re.fullmatch(r"\{dir\}/other", names.blanked(f"{folder}/other"))
