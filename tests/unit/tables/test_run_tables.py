"""Tables of runs, builds, results, options and comparisons: each log by itself, in a stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.repository import LOGS
from trtforensics.cli import main
from trtforensics.datasets.judged_sources import ONE_BY_ONE, TABLES, judged_source

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

TUNED = str(LOGS / "emulated-trtexec-8.6.log")
PASSES = str(LOGS / "emulated-trtexec-10.16-three-passes.log")
COMPARED = """[I] RUNNING | Command: polygraphy run model.onnx --trt --onnxrt
[I] Accuracy Comparison | trt-runner-N0 vs. onnxrt-runner-N0
[I]     Comparing Output: 'y' (dtype=float32, shape=(1, 10)) with 'y' (dtype=float32, shape=(1, 10))
[I]         Tolerance: [abs=1e-05, rel=1e-05] | Checking elemwise error
[I]         Error Metrics: y
[I]             Minimum Required Tolerance: elemwise error | [abs=0.25] OR [rel=0.5] (requirements may be lower)
[I]             Absolute Difference | Stats: mean=0.125, std-dev=0.1, var=0.01, min=0 at (0,), max=0.25 at (1,)
[E]         FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)
[E]     FAILED | Mismatched outputs: ['y']
"""


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert main(["table", "--json", *words]) == 0
    decoded: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return decoded


def document(capsys: pytest.CaptureFixture[str], command: str, path: str) -> dict[str, Any]:
    main([command, "--json", path])
    decoded: dict[str, Any] = json.loads(capsys.readouterr().out)
    return decoded


def test_a_run_has_what_parse_and_report_say_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    (first, second) = rows(capsys, "--of", "runs", TUNED, PASSES)
    parsed, report = document(capsys, "parse", TUNED), document(capsys, "report", TUNED)
    (build,) = parsed["builds"]
    latency = build["results"]["latency_ms"]
    assert (first["release"], first["outcome"]) == (build["tensorrt_version"], parsed["runs"][0]["outcome"]["is"])
    assert {name: first[f"latency_{name}_ms"] for name in latency} == latency
    assert first["throughput_qps"] == build["results"]["throughput_qps"]
    assert (first["gpu"], first["model"], first["precision"]) == ("Emulated GPU", "tiny.onnx", "FP16+FP32")
    assert [first[f"{word}s"] for word in report["summary"]] == list(report["summary"].values())
    assert first["root"] == report["findings"][0]["code"]
    assert first["started"].startswith("2026-11-21 09:30")
    assert second["engine_bytes"] == document(capsys, "parse", PASSES)["builds"][0]["results"]["engine_bytes"]
    assert second["latency_median_ms"] is None


def test_results_and_options_are_those_of_parse_each_with_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    (build,) = document(capsys, "parse", TUNED)["builds"]
    results = rows(capsys, "--of", "results", TUNED, PASSES)
    told = {(row["result"], row["statistic"]): row["value"] for row in results if row["source"] == TUNED}
    scalar = {(key, None): value for key, value in build["results"].items() if not isinstance(value, dict)}
    spread = {(k, s): v for k, of in build["results"].items() if isinstance(of, dict) for s, v in of.items()}
    assert told == scalar | spread
    options = rows(capsys, "--of", "options", TUNED)
    assert ("build", "Precision", "FP32+FP16") in {(row["block"], row["option"], row["value"]) for row in options}


def test_passes_and_builds_stand_at_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    (build,) = document(capsys, "parse", PASSES)["builds"]
    passes = rows(capsys, "--of", "passes", PASSES)
    assert [(row["line"], row["chosen"]) for row in passes] == [(p["first_line"], p["chosen"]) for p in build["passes"]]
    (row,) = rows(capsys, "--of", "builds", PASSES)
    assert row["engine_layers"] == len(build["engine_layers"])
    assert row["tactics_timed"] == build["autotuning"]["tactics_timed"]
    assert row["engine_ms"] == build["ledger"]["total_ms"]


def test_a_comparison_has_a_row_an_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "polygraphy.log"
    log.write_text(COMPARED, encoding="utf-8")
    (row,) = rows(capsys, "--of", "comparisons", str(log))
    assert (row["left"], row["output"], row["passed"], row["max_abs"]) == ("trt-runner-N0", "y", False, 0.25)


def test_of_many_sources_one_that_cannot_be_read_is_named_and_the_others_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "poem.txt"
    other.write_text("no log\n", encoding="utf-8")
    assert main(["table", "--of", "builds", str(other), TUNED, "--columns", "source"]) == 0
    out, err = capsys.readouterr()
    assert out == f"source\n{TUNED}\n"
    assert "poem.txt: no line carries" in err
    assert main(["table", "--of", "builds", str(other)]) == 2


def test_sources_are_read_when_their_rows_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    import trtforensics.commands.table as command  # noqa: PLC0415 - its function is replaced
    from trtforensics.cli import build_parser  # noqa: PLC0415 - as above

    read: list[Any] = []
    load = command._read

    def note(paths: Any, args: Any) -> Any:
        read.append(paths)
        return load(paths, args)

    monkeypatch.setattr(command, "_read", note)
    args = build_parser("table").parse_args(["table", "--of", "options", TUNED, PASSES])
    table = iter(command._one_by_one(args).rows)
    next(table)
    assert read == [[TUNED]]
    assert len(list(table)) > 20
    assert read == [[TUNED], [PASSES]]


def test_every_table_can_be_made_of_engine_files_and_of_logs() -> None:
    source = judged_source([TUNED], max_bytes=1 << 30)
    for what in TABLES:
        assert all(len(values) == len(source.table(what).header) for values in source.table(what).values())
    assert set(ONE_BY_ONE) <= set(TABLES)
