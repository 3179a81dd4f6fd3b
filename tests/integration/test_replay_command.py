"""``replay`` as a user runs it: exit codes, streams, what Polygraphy makes of what is written, and real logs."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tests.support.replays import CONV, ENTRIES, POOL, made
from tests.support.repository import LOGS
from trtforensics import cli
from trtforensics.model.replay import ReplayForm
from trtforensics.replay.writing import signed, to_text
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from trtforensics.model.replay import ReplayTensor

    Run = Callable[..., SimpleNamespace]
    RunProcess = Callable[..., subprocess.CompletedProcess[str]]

LOG = LOGS / "emulated-trtexec-8.6.log"
PRINTED = {"FLOAT": "Float", "HALF": "Half", "INT8": "Int8", "INT32": "Int32", "INT64": "Int64", "BOOL": "Bool"}


@pytest.fixture
def run_here(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process: starting one takes longer than most of what is tested here."""

    def go(*arguments: str | Path) -> SimpleNamespace:
        code = cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=captured.out, stderr=captured.err)

    return go


def test_show_prints_every_layer_and_parse_does_the_same(tmp_path: Path, run_here: Run) -> None:
    path = made(tmp_path)
    shown = run_here("replay", "show", path)
    assert shown.returncode == 0
    assert "tactic replay of 3 layers, form F5, written by Polygraphy 0.49.2 and later" in shown.stdout
    assert (
        f"{POOL.layer}\n  line 36  runner 0x8000002f  tactic 0xa7a495ee24d0c659 (-6366799123142621607)" in shown.stdout
    )
    assert "in   HALF(392,1:8,56,8)" in shown.stdout
    assert run_here("parse", path).stdout == shown.stdout
    assert run_here("parse", path, "--json").stdout == run_here("replay", "show", "--json", path).stdout


def test_show_json_is_exact(tmp_path: Path, run_here: Run) -> None:
    document = json.loads(run_here("replay", "show", made(tmp_path, ReplayForm.F4), "--json").stdout)
    assert (document["schema"], document["kind"], document["form"]) == (1, "replay", "F4")
    assert document["polygraphy"] == {"written_by": "0.46.0 to 0.49.1", "read_by": "0.46.0 and later"}
    assert document["entries"][1] == {
        "layer": "pool1",
        "runner_id": 0x8000002F,
        "tactic": "0xa7a495ee24d0c659",
        "inputs": [
            {"dtype": "HALF", "format": "HWC8", "strides": [392, 1, 56, 8], "vectorized_dim": 1, "components": 8}
        ],
        "outputs": [
            {"dtype": "HALF", "format": "HWC8", "strides": [392, 1, 56, 8], "vectorized_dim": 1, "components": 8}
        ],
        "line": document["entries"][1]["line"],
    }
    assert (document["shadowed"], document["problems"]) == ([], [])


def test_no_control_character_of_a_name_reaches_the_terminal(tmp_path: Path, run_here: Run) -> None:
    path = made(tmp_path, entries=(replace(CONV, layer="a\x1b[31m\n\u202eb"),))
    for action in ("show", "lint"):
        shown = run_here("replay", action, path).stdout
        assert not {"\x1b", "\u202e"} & set(shown)
    assert "a␛[31m␊" in run_here("replay", "show", path).stdout
    path.write_text(path.read_text().replace("Algorithm", "X"))
    assert "\x1b" not in run_here("replay", "lint", path).stdout


def test_a_replay_comes_through_a_pipe_and_compressed(tmp_path: Path, run: RunProcess) -> None:
    path = made(tmp_path)
    with path.open("rb") as stream:
        shown = run("replay", "show", "-", stdin=stream)
    assert shown.stdout.replace("<stdin>", str(path)) == run("replay", "show", path).stdout
    packed = tmp_path / "replay.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert "gzip data, which Polygraphy does not read" in " ".join(run("replay", "show", packed).stdout.split())


@pytest.mark.parametrize("action", ["show", "lint", "convert"])
def test_what_is_no_replay_ends_with_one_sentence(action: str, tmp_path: Path, run_here: Run) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"replay": {"a": ]}')
    done = run_here("replay", action, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"trtforensics: error: {path}:1:18: this is no JSON: a value should stand before ']}}'. "
        "Mend or replace the file.\n"
    )


def test_lint_says_no_with_exit_code_1(tmp_path: Path, run: RunProcess) -> None:
    path = tmp_path / "replay.json"
    assert run("replay", "convert", LOG, "-o", path).returncode == 0
    fine = run("replay", "lint", path, "--log", LOG)
    assert fine.returncode == 0
    assert fine.stdout.endswith("0 errors, 0 warnings, 1 note; the log offers 7 of 7 entries as pinned\n")
    path.write_text(path.read_text().replace('"tactic": 1001', '"tactic": 77'))
    wrong = run("replay", "lint", path, "--log", LOG)
    assert wrong.returncode == 1
    assert 'error [tactic-not-offered] at .replay["/head/Softmax + /head/TopK"].tactic\n' in wrong.stdout
    assert f"  {path}:199:23 /head/Softmax + /head/TopK\n" in wrong.stdout
    document = json.loads(run("replay", "lint", path, "--log", LOG, "--json").stdout)
    assert (document["kind"], document["against"]) == ("replay-lint", [str(LOG)])
    assert document["summary"] == {"entries": 7, "accepted": 6, "error": 1, "warning": 0, "note": 1}
    problem = next(one for one in document["problems"] if one["severity"] == "error")
    assert (problem["code"], problem["line"], problem["column"]) == ("tactic-not-offered", 199, 23)


def test_lint_without_a_log_judges_the_file_alone(tmp_path: Path, run_here: Run) -> None:
    path = made(tmp_path)
    assert run_here("replay", "lint", path).returncode == 0
    path.write_text(path.read_text().replace("DataType.HALF", "HALF"))
    done = run_here("replay", "lint", path)
    assert done.returncode == 1
    assert "error [datatype] (4 times)" in done.stdout
    assert "What to do: Write `DataType.HALF`." in done.stdout


def test_convert_to_stdout_and_to_a_file_give_the_same_bytes(tmp_path: Path, run_here: Run) -> None:
    path, out = made(tmp_path, ReplayForm.F4), tmp_path / "out.json"
    printed = run_here("replay", "convert", path)
    assert printed.stdout == to_text(ENTRIES)
    assert run_here("replay", "convert", path, "-o", out).stdout == ""
    assert out.read_text() == printed.stdout
    report = json.loads(run_here("replay", "convert", LOG, "-o", out, "--json").stdout)
    assert (report["kind"], report["to"], report["entries"], report["output"]) == ("replay-convert", "F5", 7, str(out))
    assert {one["why"] for one in report["left_out"]} == {
        "a ForeignNode is one entry: which kernels it runs inside cannot be pinned",
        "TensorRT prints no choice for a reformat layer",
    }


def test_a_refused_conversion_leaves_the_destination_alone(tmp_path: Path, run_here: Run) -> None:
    path, out = made(tmp_path, ReplayForm.F2), tmp_path / "out.json"
    out.write_text("old")
    done = run_here("replay", "convert", path, "-o", out)
    assert (done.returncode, out.read_text()) == (2, "old")
    assert "has no inputs[0].strides in form F2, and form F5 needs it" in done.stderr
    assert run_here("replay", "convert", path, "-o", path).returncode == 2
    assert "needs -o" not in run_here("replay", "convert", path, "--to", "F1").stderr
    assert "Name OUT with `-o`" in run_here("replay", "convert", path, "--to", "F1", "--json").stderr


def test_mix_writes_good_with_the_named_layers_of_bad(tmp_path: Path, run_here: Run) -> None:
    good, bad, out = made(tmp_path), tmp_path / "bad.json", tmp_path / "mixed.json"
    changed = replace(CONV, tactic=7)
    bad.write_text(to_text((changed, *ENTRIES[1:])))
    done = run_here("replay", "mix", "--good", good, "--bad", bad, "--take", CONV.layer, "-o", out)
    assert (done.returncode, done.stdout, out.read_text()) == (0, "", bad.read_text())
    wrong = run_here("replay", "mix", "--good", good, "--bad", bad, "--take", "conv1", "-o", out)
    assert wrong.returncode == 2
    assert "has no entry of a layer 'conv1'" in wrong.stderr
    report = run_here("replay", "mix", "--good", good, "--bad", bad, "--take", POOL.layer, "-o", out, "--json")
    assert json.loads(report.stdout) == {
        "schema": 1,
        "kind": "replay-mix",
        "output": str(out),
        "form": "F5",
        "taken": [POOL.layer],
        "cut": [],
    }


def test_mix_names_the_formats_across_the_cut(tmp_path: Path, run_here: Run) -> None:
    path, out = tmp_path / "replay.json", tmp_path / "mixed.json"
    run_here("replay", "convert", LOG, "-o", path)
    done = run_here(
        "replay", "mix", "--good", path, "--bad", path, "--take", "/stem/pool/MaxPool", "--log", LOG, "-o", out
    )
    conv, pool = "/stem/conv/Conv + /stem/act/Relu", "/stem/pool/MaxPool"
    next_conv = "/body/conv/Conv + PWN(PWN(/body/act/Sigmoid), /body/act/Mul)"
    assert done.stderr.splitlines() == [
        f"across the cut: {conv!r} -> {pool!r}: HALF(2048,1:8,64,2) on both sides",
        f"across the cut: {pool!r} -> {next_conv!r}: HALF(512,1:8,32,2) on both sides",
    ]


def polygraphy(*arguments: str | Path) -> str:
    """Run Polygraphy, which needs some TensorRT to decode types: that of the RTX package."""
    pytest.importorskip(
        "tensorrt_rtx", reason="Polygraphy decodes types by a TensorRT, and tensorrt_rtx is not installed"
    )
    command = [sys.executable, "-c", "from polygraphy.tools import main; main()", *map(str, arguments)]
    environment = {**os.environ, "POLYGRAPHY_USE_TENSORRT_RTX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_polygraphy_reads_what_convert_writes(tmp_path: Path, run_here: Run) -> None:
    path = tmp_path / "replay.json"
    run_here("replay", "convert", LOG, "-o", path)
    inspected = polygraphy("inspect", "tactics", path)
    for entry in load_replay(str(path)).entries:
        assert f"Layer: {entry.layer}" in inspected
        tactic = signed(entry.tactic or 0)
        assert f"Implementation: {entry.implementation}, Tactic: {tactic})" in inspected


WRITE = """
import sys
from polygraphy.backend.trt.algorithm_selector import TacticReplayData
TacticReplayData.load(sys.argv[1]).save(sys.argv[2])
"""


@pytest.mark.slow
def test_polygraphy_writes_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip(
        "tensorrt_rtx", reason="Polygraphy decodes types by a TensorRT, and tensorrt_rtx is not installed"
    )
    ours, theirs = made(tmp_path, entries=(*ENTRIES, replace(CONV, layer='é "quoted" \x1e'))), tmp_path / "theirs.json"
    environment = {**os.environ, "POLYGRAPHY_USE_TENSORRT_RTX": "1"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", WRITE, ours, theirs], check=True, env=environment)
    assert ours.read_bytes() == theirs.read_bytes()


COMBINATION = re.compile(r"Autotuning format combination: (.*) -> (.*?) (?:\{key: .*\} )?\*{5,}$")
TIMED = re.compile(r"-{5,} Timing Runner: (.*) \((\w+)\[(0x[0-9a-f]{8})\]\)$")
CHOSE = re.compile(r">{5,} Chose Runner Type: (\w+) Tactic: (0x[0-9a-f]{16})$")
CACHED = re.compile(
    r"\] (?P<layer>[^\[\]].*) \[(?P<ins>[^\[\]]*) -> (?P<outs>[^\[\]]*)\] got cached result: (?P<runner>\w+), "
    r"tactic (?P<tactic>0x[0-9a-f]{16}),"
)
DUMPED = re.compile(
    r"Layer\((\w+)\): (.*?), Tactic: (0x[0-9a-f]{16}), |Name: (.*?), LayerType: .*?, TacticValue: (0x[0-9a-f]{16})"
)


def facts_of(lines: list[str]) -> Iterator[tuple[str, str, str, str, str, int]]:
    """Read, without the product, layer, runner, tactic, inputs, outputs and line of every choice and cached result."""
    combination, layer = ("", ""), ""
    for number, line in enumerate(lines, 1):
        if found := COMBINATION.search(line):
            combination = (found[1], found[2])
        elif found := TIMED.search(line):
            layer = found[1]
        elif found := CHOSE.search(line):
            yield layer, found[1], found[2], *combination, number
        elif found := CACHED.search(line):
            yield found["layer"], found["runner"], found["tactic"], found["ins"], found["outs"], number


def printed(tensors: tuple[ReplayTensor, ...]) -> str:
    texts = [tensor.text for tensor in tensors]
    return ", ".join(PRINTED[text.partition("(")[0]] + "(" + text.partition("(")[2] for text in texts)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("hack-trtexec-result-02-trt8600.log", 8),
        ("hack-trtexec-result-02-trt101401.log", 10),
        ("hack-trtexec-result-02-trt101600.log", 10),
    ],
)
def test_a_replay_of_a_real_log_says_what_greps_say(
    name: str, layers: int, corpus: Path, tmp_path: Path, run_here: Run
) -> None:
    log, path = corpus / "buildlog" / name, tmp_path / "replay.json"
    assert run_here("replay", "convert", log, "-o", path).returncode == 0
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    facts = {fact[:5] for fact in facts_of(lines)}
    ids = {found[2]: int(found[3], 16) for line in lines if (found := TIMED.search(line))}
    dumped = {(found[2] or found[4], found[3] or found[5]) for line in lines if (found := DUMPED.search(line))}
    entries = load_replay(str(path)).entries
    assert len(entries) == layers
    runner_of = {identifier: runner for runner, identifier in ids.items()}
    for entry in entries:
        tactic = f"0x{entry.tactic:016x}"
        fact = (entry.layer, runner_of[entry.runner_id or 0], tactic, printed(entry.inputs), printed(entry.outputs))
        assert fact in facts, f"{name}: no line of the log says {fact}"
        assert (entry.layer, tactic) in dumped or entry.layer.startswith("{ForeignNode["), entry.layer
    no_ops = {found[2] or found[4] for line in lines if "NoOp" in line and (found := DUMPED.search(line))}
    in_dump = {layer for layer, _ in dumped if not layer.startswith("Reformatting") and "_myl" not in layer} - no_ops
    without_kernel = {
        "gemm1.bias + ONNXTRT_Broadcast",
        "gemm2.bias + ONNXTRT_Broadcast_2",
        "gemm2.bias + ONNXTRT_Broadcast_4",
    }
    expected = {layer for layer in in_dump if not layer.startswith("{ForeignNode[")} - without_kernel
    assert {entry.layer for entry in entries if not entry.layer.startswith("{ForeignNode[")} == expected


@pytest.mark.corpus
def test_a_build_log_is_no_replay_and_a_replay_no_build_log(corpus: Path, run_here: Run, tmp_path: Path) -> None:
    done = run_here("replay", "show", corpus / "buildlog" / "hack-trtexec-result-02-trt8600.log")
    assert done.returncode == 2
    assert "is a log, no replay. `trtforensics replay convert LOG` makes one of it." in done.stderr
    refused = run_here("parse", made(tmp_path), "--kind", "build-log")
    assert refused.returncode == 2
    assert "is a tactic replay. `trtforensics parse`, `replay lint` and `diff` read it." in refused.stderr


def test_help_of_every_action_has_an_example(run_here: Run) -> None:
    for action in ("show", "lint", "convert", "mix"):
        done = run_here("replay", action, "--help")
        assert done.returncode == 0
        assert f"example: trtforensics replay {action} " in done.stdout
    assert run_here("replay").returncode == 2
    assert run_here("replay", "convert", "x", "--to", "F6").stderr.startswith("trtforensics: error: replay: convert: ")
