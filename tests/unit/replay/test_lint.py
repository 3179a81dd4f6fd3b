"""Lint says whether a replay will be accepted: every finding on a replay made of a log and then edited."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.support.onnx_model import model
from tests.support.replays import build_of
from tests.support.repository import LOGS
from trtforensics.engines.joining import select_build
from trtforensics.errors import ForensicsError
from trtforensics.model.replay import Problem, ProblemSeverity, ReplayEntry
from trtforensics.parsers.notation.names import members
from trtforensics.replay.edges import DataflowNode, operators_of
from trtforensics.replay.from_log import replay_of
from trtforensics.replay.lint import Lint
from trtforensics.replay.writing import to_text
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.replay import ReplayFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import Build

ONE_PROFILE = "emulated-trtexec-8.6"
TWO_PROFILES = "emulated-python-10.16-two-profiles"
THREE_PASSES = "emulated-trtexec-10.16-three-passes"
CONV = "/stem/conv/Conv + /stem/act/Relu"
FOREIGN = "{ForeignNode[/block/norm/LayerNormalization.../head/fc/Gemm]}"

Entries = dict[str, ReplayEntry]


def entries_of(name: str) -> Entries:
    return dict(_entries_of(name))


@cache
def _entries_of(name: str) -> Entries:
    log = load_build_log([str(LOGS / f"{name}.log")])
    made, _ = replay_of(select_build(log, None), log.source)
    return {entry.layer: entry for entry in made.entries}


def linted(entries: Entries, build: Build, folder: Path, nodes: tuple[DataflowNode, ...] = ()) -> Lint:
    path = folder / "replay.json"
    path.write_text(to_text(entries.values()))
    file = ReplayFile(str(path))
    lint = Lint(file.replay, file.place)
    lint.against_build(build, "build.log")
    lint.against_edges(nodes)
    return lint


def only(report: Lint, *ignored: str) -> Problem:
    (problem,) = (p for p in report.problems if p.code not in {"foreign-nodes", *ignored})
    return problem


@pytest.mark.parametrize("name", [ONE_PROFILE, TWO_PROFILES, THREE_PASSES])
def test_a_replay_of_a_log_is_accepted_by_it(name: str, tmp_path: Path) -> None:
    entries = entries_of(name)
    report = linted(entries, build_of(name), tmp_path)
    assert report.accepted == len(entries) > 6
    assert [p.code for p in report.problems if p.severity is not ProblemSeverity.NOTE] == []


def with_dtype(entry: ReplayEntry, dtype: str) -> ReplayEntry:
    return replace(entry, inputs=(replace(entry.inputs[0], dtype=dtype),))


EDITS: dict[str, tuple[str, Callable[[ReplayEntry], ReplayEntry], str, str, str]] = {
    "another tactic": (
        CONV,
        lambda e: replace(e, tactic=0xABC),
        "tactic",
        "tactic-not-offered",
        "never offered tactic 0x0000000000000abc for Half(1024,1:8,32,1) -> Half(2048,1:8,64,2)",
    ),
    "another runner": (
        CONV,
        lambda e: replace(e, implementation=0x8000002F),
        "implementation",
        "wrong-runner",
        "of 'CaskConvolution' only, which is not runner 0x8000002f",
    ),
    "another type": (
        CONV,
        lambda e: with_dtype(e, "INT8"),
        "inputs[0].dtype",
        "format-not-offered",
        "inputs[0].dtype is INT8, there HALF",
    ),
    "another stride": (
        CONV,
        lambda e: replace(e, outputs=(replace(e.outputs[0], strides=(1, 2, 3, 4)),)),
        "outputs[0].strides",
        "format-not-offered",
        "outputs[0].strides is HALF(1,2:8,3,4), there Half(2048,1:8,64,2)",
    ),
    "another packing": (
        CONV,
        lambda e: replace(e, outputs=(replace(e.outputs[0], components=4),)),
        "outputs[0].components_per_element",
        "format-not-offered",
        "components_per_element is 4, there 8",
    ),
    "one input too many": (
        CONV,
        lambda e: replace(e, inputs=e.inputs * 2),
        "inputs",
        "format-not-offered",
        "inputs is 2 tensors, there 1 tensors",
    ),
    "HALF turned to FLOAT in a ForeignNode": (
        FOREIGN,
        lambda e: with_dtype(e, "FLOAT"),
        "inputs[0].dtype",
        "foreign-node-dtype",
        "inputs[0].dtype is FLOAT; with all else as pinned, the log offers this ForeignNode with HALF there: Half(",
    ),
    "a tactic in a ForeignNode": (
        FOREIGN,
        lambda e: replace(e, tactic=5),
        "tactic",
        "tactic-not-offered",
        "where 0x0000000000000000 was chosen",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_field_is_found_at_its_place(name: str, tmp_path: Path) -> None:
    layer, change, field, code, what = EDITS[name]
    entries = entries_of(ONE_PROFILE)
    entries[layer] = change(entries[layer])
    report = linted(entries, build_of(ONE_PROFILE), tmp_path)
    problem = only(report)
    assert (problem.code, problem.severity, problem.layer) == (code, ProblemSeverity.ERROR, layer)
    assert problem.field == f'.replay["{layer}"].{field}'
    assert what in problem.what
    key = field.rpartition(".")[2].partition("[")[0]
    line = (tmp_path / "replay.json").read_text().splitlines()[problem.span.line - 1]
    assert f'"{key}": ' in line or code == "format-not-offered"
    assert report.accepted == len(entries) - 1


def test_the_seed_case_says_what_to_do_instead(tmp_path: Path) -> None:
    entries = entries_of(ONE_PROFILE)
    entries[FOREIGN] = with_dtype(entries[FOREIGN], "FLOAT")
    problem = only(linted(entries, build_of(ONE_PROFILE), tmp_path))
    assert problem.next_step.startswith("Restore HALF; for FLOAT, change the network")


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("/stem/conv/Conv", "renamed-layer", f"nearest is '{CONV}', which has '/stem/conv/Conv' of it"),
        ("/stem/conv/Conv + other", "renamed-layer", "/stem/conv/Conv"),
        (f"{CONV} [profile 1]", "wrong-profile", f"the build has '{CONV}'"),
        ("nothing/like/it", "missing-layer", "nor one with a member of it"),
        ("Reformatting CopyNode for Input Tensor 9 to a", "missing-layer", "puts in no such reformat"),
    ],
)
def test_a_name_that_the_build_lacks_is_explained(name: str, code: str, says: str, tmp_path: Path) -> None:
    entries = entries_of(ONE_PROFILE)
    entries[CONV] = replace(entries[CONV], layer=name)
    report = linted(entries, build_of(ONE_PROFILE), tmp_path)
    problem = only(report, "unpinned-layer")
    assert (problem.code, problem.severity, problem.layer) == (code, ProblemSeverity.ERROR, name)
    assert says in problem.what
    (unpinned,) = (p for p in report.problems if p.code == "unpinned-layer")
    assert (unpinned.layer, unpinned.severity, unpinned.span.file) == (
        CONV,
        ProblemSeverity.WARNING,
        str(LOGS / f"{ONE_PROFILE}.log"),
    )


def test_a_layer_of_the_engine_that_was_not_tuned_is_not_called_wrong(tmp_path: Path) -> None:
    build = build_of(ONE_PROFILE)
    untuned = copy(build)
    untuned.choices = [choice for choice in build.choices if choice.layer != CONV]
    problem = only(linted(entries_of(ONE_PROFILE), untuned, tmp_path))
    line = next(layer.span.line for layer in build.engine_layers if layer.name == CONV)
    assert (problem.code, problem.severity, problem.layer) == ("not-tuned", ProblemSeverity.NOTE, CONV)
    assert f"the engine has this layer (log line {line})" in problem.what


def test_a_suffix_of_a_profile_that_does_not_exist_is_wrong(tmp_path: Path) -> None:
    entries = entries_of(TWO_PROFILES)
    pool = entries.pop("node_max_pool2d [profile 1]")
    entries["new"] = replace(pool, layer="node_max_pool2d [profile 2]")
    problem = only(linted(entries, build_of(TWO_PROFILES), tmp_path), "unpinned-layer")
    assert problem.code == "wrong-profile"
    assert "'node_max_pool2d', 'node_max_pool2d [profile 1]'" in problem.what


def test_what_only_the_cache_knew_is_not_called_wrong(load: Callable[[str], object], tmp_path: Path) -> None:
    lines = (LOGS / f"{THREE_PASSES}.log").read_text(encoding="utf-8").splitlines(keepends=True)
    row = next(line for line in lines if "node_max_pool2d [Half(2048,1:8" in line and "got cached result" in line)
    log = load(f"{lines[0]}{row}")
    entries = entries_of(THREE_PASSES)
    pool = {"node_max_pool2d": replace(entries["node_max_pool2d"], tactic=1)}
    report = linted(pool, log.builds[0], tmp_path)  # type: ignore[attr-defined]
    assert [(p.code, p.severity) for p in report.problems] == [("tactic-unknown", ProblemSeverity.WARNING)]


def test_a_log_without_autotuning_is_refused_and_one_without_selector_named(tmp_path: Path) -> None:
    entries = entries_of(ONE_PROFILE)
    build = build_of(ONE_PROFILE)
    with pytest.raises(ForensicsError, match="no autotuning"):
        linted(entries, replace(build, choices=(), cached=()), tmp_path)
    report = linted(entries, replace(build, tensorrt_version="11.1.0"), tmp_path)
    assert only(report).code == "no-selector"
    assert "TensorRT 11 has no algorithm selector" in only(report).what
    report = linted(entries, build_of("rtx-convnet"), tmp_path)
    assert "TensorRT-RTX has no algorithm selector" in next(p.what for p in report.problems if p.code == "no-selector")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("log", "accepted", "refused"),
    [
        ("hack-trtexec-fp32-trt8401.log", 10, []),
        (
            "hack-trtexec-result-02-trt8600.log",
            4,
            ["Conv-1", "MaxPool-3", "Conv-4", "MaxPool-6", "MatMul-9", "MatMul-12"],
        ),
    ],
)
def test_a_real_replay_against_real_logs(log: str, accepted: int, refused: list[str], corpus: Path) -> None:
    file = ReplayFile(str(corpus / "replay" / "hack-inspect-model-d.tactic"))
    lint = Lint(file.replay, file.place)
    lint.against_build(select_build(load_build_log([str(corpus / "buildlog" / log)]), None), log)
    report = lint
    assert report.accepted == accepted
    errors = [p for p in report.problems if p.severity is ProblemSeverity.ERROR]
    assert [members(p.layer)[0] for p in errors] == refused
    assert {p.code for p in errors} <= {"tactic-not-offered"}
    assert all(p.severity is not ProblemSeverity.WARNING for p in report.problems)


def test_formats_that_do_not_meet_are_a_note(tmp_path: Path) -> None:
    entries = entries_of(ONE_PROFILE)
    pool = "/stem/pool/MaxPool"
    packed = entries[pool].inputs[0]
    nodes = (DataflowNode(CONV, ("x",), ("y",)), DataflowNode(pool, ("y",), ("z",)))
    assert "formats-differ" not in {p.code for p in linted(entries, build_of(ONE_PROFILE), tmp_path, nodes).problems}
    entries[pool] = replace(entries[pool], inputs=(replace(packed, strides=(8192, 1024, 32, 1), components=1),))
    report = linted(entries, build_of(ONE_PROFILE), tmp_path, nodes)
    (note,) = (p for p in report.problems if p.code == "formats-differ")
    assert note.severity is ProblemSeverity.NOTE
    assert note.field == f'.replay["{pool}"].inputs[0]'
    assert "leaves '/stem/conv/Conv + /stem/act/Relu' as HALF(2048,1:8,64,2)" in note.what


def test_a_layer_that_the_model_has_no_node_of_is_a_warning(tmp_path: Path) -> None:
    entries = entries_of(ONE_PROFILE)
    conv = entries[CONV]
    path = tmp_path / "replay.json"
    names = ("first", "first + gone", "gone", "(Unnamed Layer* 3) [Shuffle]", "reshape_after_first")
    path.write_text(to_text(replace(conv, layer=name) for name in names))
    file = ReplayFile(str(path))
    lint = Lint(file.replay, file.place)
    lint.against_model(operators_of(model(tmp_path)))
    assert [(p.code, p.layer, p.severity) for p in lint.problems] == [("not-in-model", "gone", ProblemSeverity.WARNING)]
    assert lint.accepted is None
