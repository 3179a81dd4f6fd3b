"""Every real log and every log of ours: counted by another road, joined as a person would, honest about the rest."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.documents import document
from tests.support.independent_counts import count
from trtforensics.errors import NotABuildLogError
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from trtforensics.model.log import Build, BuildLog, CachedResult, Choice, EngineLayer

NOT_BUILD_LOGS = {
    "cosyvoice-trt_conversion.log": "the program's own messages; it never passed TensorRT's on",
    "hack-ErrorRecorder-trt1016.log": "an error recorder's report, without a logger",
    "hack-tf-onnx-parser-trt8x.txt": "TensorFlow's training and a script's own prints; TensorRT's logger is quiet",
    "hack-tf-uff-parser-trt8x.txt": "TensorFlow's training and a script's own prints; TensorRT's logger is quiet",
    "kalfazed-custom-plugin.log": "a plugin test's own prints",
    "kalfazed-yolo-info.log": "the program's own list of layers",
}
"""Where no line carries a TensorRT or trtexec prefix, so that reading ends with exit 2."""

ORIGINS = {
    "joined to a choice or a cached result": 340,
    "the log has no choice of this name in the engine's pass": 174,
    "TensorRT prints no choice for a reformat layer": 47,
    "the log has no autotuning for this engine": 74,
    "a constant runs no kernel": 68,
    "runs no kernel": 85,
    "several choices fit and the log does not tell them apart": 4,
    "no choice of this name in the engine's pass has the engine's tactic": 1,
}
FINALS = {
    ("Choice", True): 305,
    ("Choice", False): 921,
    ("Choice", None): 21,
    ("CachedResult", True): 21,
    ("CachedResult", False): 296,
}
UNKNOWN_SHARE = 0.005
UNKNOWN_SHARE_OF_ONE = 0.02
LONG_ENOUGH = 50
"""Prefixed lines from which on a share of a log means something."""
"""The issue allows 3 %; a new kind of line shows long before."""


@dataclass(frozen=True)
class Logs:
    """Every log that is one, with its text as stored, and the names of those that are none."""

    parsed: dict[Path, BuildLog]
    refused: set[str]

    def builds(self) -> Iterable[Build]:
        """Give every build of every log."""
        return (build for log in self.parsed.values() for build in log.builds)


def load(files: Iterable[Path]) -> Logs:
    parsed, refused = {}, set()
    for file in files:
        try:
            parsed[file] = load_build_log([str(file)])
        except NotABuildLogError:
            refused.add(file.name)
    return Logs(parsed, refused)


@pytest.fixture(scope="module")
def real(corpus: Path) -> Logs:
    return load(sorted((corpus / "buildlog").iterdir()))


@pytest.fixture(scope="module")
def own(samples: list[Path]) -> Logs:
    return load(samples)


def counted(log: BuildLog) -> dict[str, int]:
    """Return the counts of the JSON document, under the names of the independent count."""
    whole = document(log)
    builds: list[dict[str, Any]] = whole["builds"]
    lists = ("choices", "cached", "stages", "fusions", "reformats")
    return {
        "lines": whole["source"]["lines"],
        **{name: sum(len(build[name]) for build in builds) for name in lists},
        "engine_layers": sum(dump["layers"] for build in builds for dump in build["engine_dumps"]),
        **{
            name: sum(build["autotuning"][name] for build in builds)
            for name in ("tactics_timed", "tactics_skipped", "runner_blocks")
        },
        "warnings": sum(build["messages"]["warning"] for build in builds),
        "errors": sum(build["messages"]["error"] for build in builds),
    }


def differences(logs: Logs) -> list[object]:
    found: list[object] = []
    for file, log in logs.parsed.items():
        expected = count(file.read_bytes())
        found += [
            (file.name, name, value, expected[name]) for name, value in counted(log).items() if value != expected[name]
        ]
    return found


@pytest.mark.corpus
@pytest.mark.slow
def test_an_independent_count_of_every_real_log_gives_the_same(real: Logs) -> None:
    assert len(real.parsed) > 60
    assert differences(real) == []


@pytest.mark.corpus
@pytest.mark.slow
def test_every_line_is_in_one_run_or_in_none_and_every_build_in_one(real: Logs, own: Logs) -> None:
    for path, log in (real.parsed | own.parsed).items():
        assert [run.index for run in log.runs] == [*range(len(log.runs))], path
        assert [build for run in log.runs for build in run.builds] == [build.index for build in log.builds], path
        behind = [*(run.first_line for run in log.runs[1:]), log.source.lines + 1]
        for run, limit in zip(log.runs, behind, strict=True):
            first, last = log.builds[run.builds[0]], log.builds[run.builds[-1]]
            assert first.first_line <= run.first_line <= run.last_line <= last.last_line < limit, path
            assert run.outcome.span is None or run.first_line <= run.outcome.span.line <= run.last_line, path


RUNS = {
    "hack-AdjustReduceLayer-trt8401.log": [("trtexec", "passed")] * 3,
    "hack-ComputationInAdvance-trt8401.log": [("python", "passed"), ("trtexec", "passed")] * 2,
    "hack-DynamicQuantize-noimpl-trt1014.log": [("python", "none")],
    "hack-polygraphy-convert-fp16-trt8x.log": [("polygraphy", "passed")],
    "hack-polygraphy-run-markall-trt8x.txt": [("polygraphy", "passed")],
    "hack-surgeon-result-04.txt": [("polygraphy", "passed")] * 3,
    "fuzzylabs-trtexec-doc-excerpts-trt10x.md": [("trtexec", "passed")] * 2,
    "jetson-googlenet-int8-caffe-trt7x.txt": [("trtexec", "passed")] * 7,
    "lix-build-with-plugin-trt8510.log": [("trtexec", "passed")],
    "transcribed-trt5-uff-python.log": [("python", "passed")],
}
"""Program and outcome of the runs, read by hand."""


@pytest.mark.corpus
@pytest.mark.slow
def test_programs_and_outcomes_are_those_that_a_person_reads(real: Logs) -> None:
    by_name = {path.name: log for path, log in real.parsed.items()}
    told = {name: [(r.program.value, r.outcome.ending.value) for r in by_name[name].runs] for name in RUNS}
    assert told == RUNS


def test_an_independent_count_of_every_log_of_ours_gives_the_same(own: Logs) -> None:
    assert len(own.parsed) == 5
    assert own.refused == set()
    assert differences(own) == []


@pytest.mark.corpus
@pytest.mark.slow
def test_only_files_without_a_logger_prefix_are_refused(real: Logs, corpus: Path) -> None:
    assert real.refused == NOT_BUILD_LOGS.keys()
    for name in NOT_BUILD_LOGS:
        counts = count((corpus / "buildlog" / name).read_bytes())
        assert [fact for fact, number in counts.items() if number] == ["lines"]


@pytest.mark.corpus
@pytest.mark.slow
def test_hardly_a_line_of_the_real_logs_is_unknown(real: Logs) -> None:
    prefixed = {file: log.lines.typed + log.lines.unknown for file, log in real.parsed.items()}
    unknown = sum(log.lines.unknown for log in real.parsed.values())
    assert sum(prefixed.values()) > 150_000
    assert unknown <= UNKNOWN_SHARE * sum(prefixed.values())
    for file, log in real.parsed.items():
        if prefixed[file] >= LONG_ENOUGH:
            assert log.lines.unknown <= UNKNOWN_SHARE_OF_ONE * prefixed[file], file.name


def holds_together(logs: Logs) -> None:
    for file, log in logs.parsed.items():
        assert log.lines.total == log.source.lines == len(log.line_starts), file.name
        ends = [0, *(build.last_line for build in log.builds)]
        assert [build.first_line for build in log.builds] == [end + 1 for end in ends[:-1]], file.name
        assert ends[-1] == log.source.lines, file.name
        assert sum(sample.count for sample in log.unknown_samples) <= log.lines.unknown
        for build in log.builds:
            assert build.autotuning.cache_hits == len(build.cached)


@pytest.mark.corpus
@pytest.mark.slow
def test_every_line_of_a_real_log_is_in_one_class_and_in_one_build(real: Logs) -> None:
    holds_together(real)


def test_every_line_of_a_log_of_ours_is_in_one_class_and_in_one_build(own: Logs) -> None:
    holds_together(own)


@pytest.mark.corpus
@pytest.mark.slow
def test_the_document_of_every_log_is_strict_json(real: Logs, own: Logs) -> None:
    for log in (*real.parsed.values(), *own.parsed.values()):
        whole = document(log)
        assert json.loads(json.dumps(whole, allow_nan=False)) == whole


PROFILES = 12
"""Tables of --dumpProfile in the real logs."""


def reason(layer: EngineLayer) -> str:
    if layer.choice is not None or layer.cached is not None:
        return "joined to a choice or a cached result"
    return re.sub(r"\d+ choices (fit .* apart): lines .*", r"several choices \1", layer.origin.partition(";")[0])


@pytest.mark.corpus
@pytest.mark.slow
def test_every_engine_layer_of_the_real_logs_has_an_origin_or_a_reason(real: Logs) -> None:
    assert Counter(reason(layer) for build in real.builds() for layer in build.engine_layers) == ORIGINS


@pytest.mark.corpus
@pytest.mark.slow
def test_the_rows_of_every_profile_add_up_to_its_total_and_join_the_engine_where_the_log_has_it(real: Logs) -> None:
    runs = [(run, build) for build in real.builds() for run in build.profiles]
    assert len(runs) == PROFILES
    for run, build in runs:
        printed = len(run.layers) * 0.005  # two decimals
        assert run.total_ms is not None
        assert sum(row.total_ms for row in run.layers) == pytest.approx(run.total_ms, abs=printed + 0.005)
        strangers = [row.name for row in run.layers if row.engine_layer is None]
        assert not strangers or len(build.engine_layers) < len(run.layers), "the log dumps a part of the engine at most"


@pytest.mark.corpus
@pytest.mark.slow
def test_as_many_choices_are_final_as_ever(real: Logs) -> None:
    tuned = [t for build in real.builds() for t in tuned_of(build)]
    assert Counter((type(t).__name__, t.final) for t in tuned) == FINALS


@pytest.mark.corpus
@pytest.mark.slow
def test_a_choice_is_final_exactly_where_an_engine_layer_points_to_it_or_its_like(real: Logs, own: Logs) -> None:
    for build in (*real.builds(), *own.builds()):
        pointed = {layer.choice for layer in build.engine_layers} - {None}
        assert {i for i, choice in enumerate(build.choices) if choice.final} == pointed
        pointed = {layer.cached for layer in build.engine_layers} - {None}
        assert {i for i, cached in enumerate(build.cached) if cached.final} == pointed


# Which line of the tuner each layer of the engine came from, found by hand: the last ``Chose`` or ``got cached result``
# line of the layer, in the engine's pass, with the engine's tactic, whose formats are those of the engine's tensors.
FIRST_OF_THREE_10_14 = {
    4431: 752,
    4432: 975,
    4433: 1274,
    4434: 1325,
    4437: 1963,
    4439: 1995,
    4440: 2144,
    4442: 2176,
    4444: 2184,
    4445: 2202,
}
FIRST_OF_THREE_10_16 = {
    4439: 678,
    4441: 981,
    4442: 1280,
    4444: 1318,
    4446: 1969,
    4448: 2001,
    4449: 2150,
    4451: 2182,
    4453: 2190,
    4454: 2208,
}
SECOND_OF_THREE = {
    1597: 1173,
    1598: 1247,
    1599: 1193,
    1600: 1201,
    1601: 1205,
    1602: 1214,
    1603: 1218,
    1604: 1232,
    1605: 1235,
    1606: 1318,
}


def joins(build: Build) -> dict[int, int]:
    """Return the line of each joined engine layer with that of the choice or cached result it came from."""
    found = {}
    for layer in build.engine_layers:
        if layer.choice is not None:
            found[layer.span.line] = build.choices[layer.choice].span.line
        elif layer.cached is not None:
            found[layer.span.line] = build.cached[layer.cached].span.line
    return found


def tuned_of(build: Build) -> list[Choice | CachedResult]:
    return [*build.choices, *build.cached]


def check_passes(build: Build, chosen: int, expected: dict[int, int]) -> None:
    assert [p.backend_strategy for p in build.passes] == [4, 3, 2]
    assert [p.chosen for p in build.passes] == [index == chosen for index in range(3)]
    assert joins(build) == expected
    final = [t for t in tuned_of(build) if t.final]
    assert sorted(t.span.line for t in final) == sorted(expected.values())
    others = [t for t in tuned_of(build) if t.pass_index != chosen]
    assert len(others) > 90
    assert {t.final for t in others} == {False}


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hack-trtexec-result-02-trt101401.log", FIRST_OF_THREE_10_14),
        ("hack-trtexec-result-02-trt101600.log", FIRST_OF_THREE_10_16),
    ],
)
def test_of_three_passes_the_first_is_the_engines(
    real: Logs, corpus: Path, name: str, expected: dict[int, int]
) -> None:
    (build,) = real.parsed[corpus / "buildlog" / name].builds
    check_passes(build, 0, expected)


def test_of_three_passes_the_second_is_the_engines(own: Logs) -> None:
    (build,) = next(log for file, log in own.parsed.items() if "three-passes" in file.name).builds
    check_passes(build, 1, SECOND_OF_THREE)


@pytest.mark.corpus
def test_the_lines_of_the_tables_hold_the_engines_tactics(corpus: Path, samples: list[Path]) -> None:
    three_passes = next(file for file in samples if "three-passes" in file.name)
    tables = {
        corpus / "buildlog" / "hack-trtexec-result-02-trt101401.log": FIRST_OF_THREE_10_14,
        corpus / "buildlog" / "hack-trtexec-result-02-trt101600.log": FIRST_OF_THREE_10_16,
        three_passes: SECOND_OF_THREE,
    }
    for file, table in tables.items():
        lines = file.read_text("utf-8", "replace").split("\n")
        for engine, tuner in table.items():
            (tactic,) = re.findall(r", Tactic: (0x[0-9a-f]{16}), ", lines[engine - 1])
            assert re.search(
                rf"(Chose Runner Type: \w+ Tactic: |got cached result: \w+, tactic ){tactic}", lines[tuner - 1]
            )


def foreign_joins(build: Build) -> dict[int, set[int]]:
    """Return for each choice of a ForeignNode, by its line, the engine-layer lines that point to it."""
    found: dict[int, set[int]] = {}
    for layer in build.engine_layers:
        if layer.choice is not None and build.choices[layer.choice].runner == "Myelin":
            found.setdefault(build.choices[layer.choice].span.line, set()).add(layer.span.line)
    return found


def test_the_kernels_of_a_foreign_node_come_from_its_choice_in_their_profile(own: Logs) -> None:
    (build,) = next(log for file, log in own.parsed.items() if "two-profiles" in file.name).builds
    assert foreign_joins(build) == {625: {*range(1138, 1147)}, 1023: {*range(1155, 1164)}}
    assert len(joins(build)) == len(build.engine_layers) - 2
    unjoined = {layer.span.line: layer.origin for layer in build.engine_layers if layer.span.line not in joins(build)}
    assert unjoined == dict.fromkeys((1132, 1148), "TensorRT prints no choice for a reformat layer")


@pytest.mark.corpus
@pytest.mark.slow
def test_the_kernels_of_a_real_foreign_node_come_from_its_choice_in_their_profile(real: Logs, corpus: Path) -> None:
    with_profiles = real.parsed[corpus / "buildlog" / "hack-ProfilingVerbosity-pyapi-trt1014-1016.log"].builds
    assert [foreign_joins(build) for build in with_profiles] == [
        {816: {1038}, 966: {1046}},
        {1870: {2093}, 2020: {2101}},
        {3029: {*range(3252, 3258)}, 3179: {*range(3265, 3271)}},
    ]
    without = real.parsed[corpus / "buildlog" / "hack-ProfilingVerbosity-pyapi-trt10x.log"].builds
    assert [foreign_joins(build) for build in without] == [{632: {776}}, {1416: {1560}}, {2300: {*range(2444, 2449)}}]
