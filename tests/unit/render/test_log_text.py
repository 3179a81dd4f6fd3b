"""The summary says what the log says, with its lines, and never more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from tests.support.repository import LOGS
from trtforensics.model.log import Message, MessageCounts, Outcome
from trtforensics.model.span import SourceInfo, UnknownShape
from trtforensics.render.headline import first_line, headlines
from trtforensics.render.log_text import summarise
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.log import Build, BuildLog

MAX_ROWS = 45


@pytest.fixture(scope="module")
def passes() -> BuildLog:
    """A build of three passes, of which the second became the engine."""
    return load_build_log([str(LOGS / "emulated-trtexec-10.16-three-passes.log")])


@pytest.fixture(scope="module")
def single() -> BuildLog:
    """A build of one pass with measurements."""
    return load_build_log([str(LOGS / "emulated-trtexec-8.6.log")])


def summary(log: BuildLog, **changes: Any) -> str:
    """Return the summary of a log whose only build is changed."""
    build: Build = replace(log.builds[0], **changes)
    return summarise(replace(log, builds=(build,)))


def rows(text: str, label: str) -> list[str]:
    """Return the rows under a label."""
    found: list[str] = []
    current = ""
    for line in text.splitlines():
        if line.startswith("  "):
            current = line[2:15].strip() or current
            if current == label:
                found.append(line[15:])
    return found


@for_each("path", sorted(LOGS.glob("*.log")), ids=lambda path: path.stem)
def test_a_build_fits_on_a_page(path: Path) -> None:
    log = load_build_log([str(path)])
    for block in summarise(log).split("\n\n"):
        assert len(block.splitlines()) <= MAX_ROWS
        assert max(map(len, block.splitlines())) < 160


@pytest.mark.corpus
@pytest.mark.slow
def test_every_build_of_the_corpus_fits_on_a_page(corpus: Path) -> None:
    for path in sorted((corpus / "buildlog").glob("*trtexec*.log")):
        for block in summarise(load_build_log([str(path)])).split("\n\n"):
            assert len(block.splitlines()) <= MAX_ROWS, path.name


def test_the_head_counts_lines_bytes_and_builds(single: BuildLog) -> None:
    first, headline, second, *_ = summarise(single).splitlines()
    assert first == f"{single.source.path}: 1,069 lines, 122.9 kB, 1 build"
    assert headline == first_line(headlines(single))
    assert second == "every logged line was understood"


def test_lines_of_other_programs_are_named(single: BuildLog) -> None:
    coverage = replace(single.builds[0].coverage, other_lines=1000)
    text = summarise(replace(single, builds=(replace(single.builds[0], coverage=coverage),)))
    assert text.splitlines()[2].endswith("was understood (63); 1,000 lines are other programs'")


def test_lines_that_were_not_understood_are_counted_and_shown(single: BuildLog) -> None:
    shapes = (UnknownShape(12, "new\x1b message", 7),)
    lines = replace(single.lines, unknown=7)
    text = summarise(replace(single, lines=lines, unknown_shapes=1, unknown_samples=shapes))
    assert "7 lines of 1 shape were not understood, most often line 12: new␛ message" in text
    assert "every logged line" not in text


def test_a_missing_last_line_ending_is_told(single: BuildLog) -> None:
    source = SourceInfo("x.log", 10, 1069, "0" * 64, cut=True)
    assert "the last line (1069) has no line ending, as where a log is cut\n" in summarise(
        replace(single, source=source)
    )
    assert "no line ending" not in summarise(single)


def test_each_build_has_its_block(single: BuildLog) -> None:
    build = single.builds[0]
    titles = [f"Build {n} of 2  lines 1-1069  trtexec  TensorRT 8.6.1  outcome passed\n" for n in (1, 2)]
    text = summarise(replace(single, builds=(build, replace(build, index=1))))
    assert all(f"\n\n{title}" in text for title in titles)


def test_colour_marks_the_titles_only(single: BuildLog) -> None:
    coloured = summarise(single, colour=True)
    assert coloured.count("\x1b[1mBuild 1 of 1") == 1
    assert coloured.replace("\x1b[1m", "").replace("\x1b[0m", "") == summarise(single)


@pytest.mark.parametrize("outcome", Outcome)
def test_the_outcome_is_the_logs(outcome: Outcome, single: BuildLog) -> None:
    text = summary(single, outcome=outcome)
    assert f"outcome {outcome.value}\n" in text
    assert bool(rows(text, "truncated")) == (outcome is Outcome.TRUNCATED)


def test_what_the_log_does_not_tell_is_called_so(single: BuildLog) -> None:
    text = summary(single, tensorrt_version=None, options={}, command=None)
    assert "TensorRT version unknown" in text
    assert rows(text, "GPU") == ["not in this log"]
    assert rows(text, "command") == rows(text, "options") == []


def test_the_command_is_whole_and_broken_between_words(passes: BuildLog) -> None:
    text = summarise(passes)
    assert " ".join(rows(text, "command")) == passes.builds[0].command
    long = rows(summary(passes, command="trtexec " + "--flag=value " * 200), "command")
    assert len(long) == 4
    assert long[-1].endswith(" …")


def test_options_left_alone_are_not_listed(passes: BuildLog) -> None:
    assert rows(summarise(passes), "options") == [
        "Model: tiny.onnx",
        "Precision: FP32+FP16",
        "Memory Pools: workspace: 0.0625 MiB",
        "BuilderOptimizationLevel: 5",
        "timingCacheFile: tiny.cache",
    ]


def test_each_of_several_passes_is_listed_with_its_fate(passes: BuildLog, single: BuildLog) -> None:
    assert rows(summarise(single), "passes") == []
    told = rows(summarise(passes), "passes")
    assert [row.split(", ")[1] for row in told] == ["discarded", "the engine", "discarded"]


def test_stages_and_fusions_are_those_of_the_engines_pass(passes: BuildLog) -> None:
    text = summarise(passes)
    build = passes.builds[0]
    own = [f for f in build.fusions if f.pass_index == 1]
    assert rows(text, "fusions")[0].startswith(f"{len(own)}: ")
    assert rows(text, "stages")[0].startswith("layers: 30 originally, ")


def test_where_no_pass_is_known_to_be_the_engines_the_counts_are_said_to_be_of_all(passes: BuildLog) -> None:
    build = passes.builds[0]
    text = summary(passes, passes=tuple(replace(one, chosen=None) for one in build.passes))
    assert rows(text, "fusions")[0].startswith(f"{len(build.fusions)} over 3 passes: ")
    assert rows(text, "stages")[0].startswith("layers over 3 passes: ")
    assert rows(text, "passes")[0].count("unknown whether the engine is from it") == 1


def test_the_results_the_engine_uses_are_counted(passes: BuildLog) -> None:
    timed = "346 timed, 105 runner blocks, 8 skipped for want of scratch memory, 14 operations timed by Myelin"
    first, *_ = passes.builds[0].choices
    assert rows(summarise(passes), "tactics") == [f"{timed} (line {first.first_line})"]
    used = f"35 choices and 126 cached results, 10 used by the engine (line {first.span.line})"
    assert rows(summarise(passes), "chosen") == [used]


def test_without_an_engine_the_summary_does_not_claim_to_know_what_it_uses(passes: BuildLog) -> None:
    build = passes.builds[0]
    text = summary(
        passes,
        choices=tuple(replace(c, final=None) for c in build.choices),
        cached=tuple(replace(c, final=None) for c in build.cached),
        engine_layers=(),
    )
    assert "; the log does not tell which the engine uses (line " in rows(text, "chosen")[0]
    assert rows(text, "near ties")[0].startswith("10 choices with") or " choices with " in rows(text, "near ties")[0]
    assert rows(text, "engine") == ["layers unknown: the log does not list them"]
    assert rows(text, "slowest") == []


def test_near_ties_come_closest_first_and_without_those_the_engine_does_not_use(single: BuildLog) -> None:
    build = single.builds[0]
    near = sorted(
        (c for c in build.choices if c.near_tie and c.final), key=lambda c: (c.runner_up_ms or 0) / (c.time_ms or 1)
    )
    header, *told = rows(summarise(single), "near ties")
    assert header == f"{len(near)} of the engine's choices with a runner-up at most 2% slower, closest first:"
    assert [row.rpartition("(line ")[2] for row in told] == [f"{c.span.line})" for c in near[:3]]
    assert rows(summary(single, choices=tuple(replace(c, runner_up_ms=None) for c in build.choices)), "near ties") == []


def test_an_engine_printed_twice_is_counted_once(single: BuildLog) -> None:
    layers = single.builds[0].engine_layers
    (dump,) = single.builds[0].engine_dumps
    line = layers[0].span.line
    assert rows(summarise(single), "engine")[0] == f"9 layers (line {line})"
    row = rows(summary(single, engine_dumps=(dump, dump)), "engine")[0]
    assert row == f"9 layers; printed 2 times, these from line {line:,} (line {line})"


def test_an_engine_known_by_names_only_is_said_to_be_so(single: BuildLog) -> None:
    text = summary(single, engine_layers=(), layer_names=("a", "b"))
    assert rows(text, "engine") == ["2 layers; the log prints their names only"]


def test_types_beyond_the_most_frequent_are_added_up(single: BuildLog) -> None:
    layers = single.builds[0].engine_layers[:9]
    text = summary(single, engine_layers=tuple(replace(one, type=f"Type{i}") for i, one in enumerate(layers)))
    assert rows(text, "engine")[1] == "types: Type0 1, Type1 1, Type2 1, Type3 1, Type4 1, Type5 1, others 3"


def test_the_slowest_layers_are_those_the_engine_uses(single: BuildLog) -> None:
    final = [c for c in single.builds[0].choices if c.final and c.time_ms]
    slowest = max(final, key=lambda c: c.time_ms or 0.0)
    told = rows(summarise(single), "slowest")
    assert told[0].startswith(f"{slowest.layer[:20]}")
    assert " ms tuned, " in told[0]
    assert told[0].endswith(f"(line {slowest.span.line})")
    assert told[3:] == ["7 of 9 layers timed"]


def test_warnings_are_counted_and_the_first_different_ones_shown(single: BuildLog) -> None:
    span = single.builds[0].messages[0].span
    said = tuple(Message("E", text, replace(span, line=line)) for line, text in enumerate(("b\x07", "b\x07", "a"), 10))
    text = summary(single, messages=said, message_counts=MessageCounts(warning=0, error=3))
    assert rows(text, "errors") == ["3 lines, the first:", "line 10: b␇", "line 12: a"]
    assert rows(text, "warnings") == []


def test_a_log_without_verbose_lines_is_said_to_hold_none(single: BuildLog) -> None:
    nothing = dict.fromkeys(("stages", "fusions", "choices", "cached", "engine_layers", "layer_names"), ())
    assert rows(summary(single, **nothing), "detail") != []
    assert rows(summarise(single), "detail") == []


def test_no_text_of_the_log_carries_control_characters_into_the_summary(single: BuildLog) -> None:
    build = single.builds[0]
    evil = "x\x1b[31m\n\x9b\u202e"
    text = summary(
        single,
        command=evil,
        choices=tuple(replace(c, layer=evil, runner=evil) for c in build.choices),
        engine_layers=tuple(replace(one, type=evil, output_types=(evil,)) for one in build.engine_layers),
        fusions=tuple(replace(f, kind=evil) for f in build.fusions),
        stages=tuple(replace(s, name=evil) for s in build.stages),
        messages=tuple(replace(m, text=evil) for m in build.messages),
        tuning=tuple(replace(t, layer=evil) for t in build.tuning),
        options={block: tuple(replace(f, value=evil) for f in facts) for block, facts in build.options.items()},
        tensorrt_version=evil,
    )
    assert {c for c in text if not c.isprintable()} == {"\n"}
    openings = ("  ", "Build 1", "PASSED", str(single.source.path), "every")
    assert all(line.startswith(openings) for line in text.splitlines() if line)


def test_how_the_choices_sum_is_counted_by_names_and_lines(single: BuildLog) -> None:
    names = ("sm80_xmma_gemm_f16f16_f16f16_f16_tn_n_tilesize64x64x32_tensor16x8x16", "ampere_h16816gemm_128x64_nn_v1")
    base = single.builds[0].choices[0]
    own = tuple(
        replace(base, kernel=name, final=final, splits=splits)
        for name, final, splits in ((names[0], True, None), (names[1], None, 4), (names[1], False, 4), ("", True, None))
    )
    assert rows(summary(single, choices=own, engine_layers=()), "sums") == [
        "2 in Half; 1 of them by convention of the kernel names",
        "2 on tensor cores, 1 with K split, as far as names and lines say",
    ]
    unknown = (replace(base, kernel="whatever"),)
    assert rows(summary(single, choices=unknown, engine_layers=()), "sums") == []


def test_near_ties_and_the_slowest_layers_say_how_their_kernels_sum() -> None:
    lines = summarise(load_build_log(["testdata/logs/emulated-trtexec-8.6.log"])).splitlines()
    conv = [line for line in lines if "/stem/conv/Conv" in line and " ms" in line]
    assert [line.count("CaskConvolution") for line in conv] == [1, 1]
    assert "(CaskConvolution 0x16fa1c6522bc0eca, sums in Half), runner-up" in conv[0]
    assert "tuned, 12.8%, CaskConvolution, sums in Half (line 370)" in conv[1]
    (pool,) = [line for line in lines if "/stem/pool/MaxPool" in line]
    assert "(CaskPooling 0x68dad1ad8a638ede), runner-up" in pool
