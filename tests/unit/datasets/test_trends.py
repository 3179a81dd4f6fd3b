"""Trends find each planted change and name its run; random times give hardly any change."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from tests.support.schemas import problems
from trtforensics.cli import main
from trtforensics.datasets.store import columns
from trtforensics.datasets.trends import MEASURES, changes, document_of, figures_of, groups_of, page_of, text_of
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.datasets.store import Dataset

BEGIN = datetime(2024, 1, 1)  # noqa: DTZ001 - logs name no zone


class Drawn:
    """A dataset in memory: runs of one model with ten layers, whose near ties flip and whose times vary."""

    def __init__(self, runs: int, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.rows: dict[str, list[dict[str, Any]]] = {name: [] for name in columns()}
        for number in range(runs):
            place = {"source": f"{number:05d}.log", "run": 1, "build": 1, "line": 1}
            at = (BEGIN + timedelta(hours=number)).strftime("%Y-%m-%d %H:%M:%S")
            measures = {name: float(1 + 0.02 * draw.standard_normal()) for name in MEASURES}
            about = {"model": "m.onnx", "gpu": "H100", "release": "10.3", "outcome": "passed", "started": at}
            self.rows["runs"].append({**place, **about, **measures})
            self.rows["sources"].append({"source": place["source"], "modified": at, "labels": []})
            for layer in range(10):
                fact = {"layer": f"conv{layer}", "index": layer, "compute_precision": "Half"}
                tactic = f"0x{draw.integers(2)}"
                self.rows["engine_layers"].append({**place, **fact, "tactic": tactic})
            if draw.random() < 0.2:
                self.rows["findings"].append({**place, "code": "TF202", "severity": "warning"})

    def table(self, name: str) -> Any:
        """Return a table as a dataset on disk does."""
        import pyarrow.dataset as ds  # noqa: PLC0415 - an extra, which is installed here
        from pyarrow import Table  # noqa: PLC0415 - as above

        from trtforensics.tables.forms import arrow_schema  # noqa: PLC0415 - as above

        schema = arrow_schema(columns()[name])
        rows = [{field: row.get(field) for field in schema.names} for row in self.rows[name]]
        return ds.dataset(Table.from_pylist(rows, schema=schema))

    def sources(self) -> dict[str, Any]:
        """Return the rows of sources by their paths."""
        return {row["source"]: row for row in self.rows["sources"]}


def trends(drawn: Drawn) -> dict[tuple[str, str], Any]:
    (group,) = groups_of(cast("Dataset", drawn), ("model", "gpu"))
    return {(each.of, each.what): each for each in group.trends}


def test_a_layer_that_falls_to_fp32_is_told_with_its_run() -> None:
    drawn = Drawn(1000, 1)
    for row in drawn.rows["engine_layers"][699 * 10 :]:
        row["compute_precision"] = "Float" if row["layer"] == "conv4" else "Half"
    found = trends(drawn)
    assert list(found) == [("compute_precision", "conv4")]
    change = found["compute_precision", "conv4"]
    assert (change.number, change.before, change.after, change.worse) == (700, "Half", "Float", True)
    assert change.run["source"] == "00699.log"
    assert (
        change.text() == "worse: compute_precision conv4: Half → Float since run 700, 2024-01-30 03:00:00, 00699.log:1"
    )


@pytest.mark.slow
def test_three_percent_of_latency_are_told_with_their_run() -> None:
    drawn = Drawn(2000, 2)
    for row in drawn.rows["runs"][1499:]:
        row["latency_median_ms"] *= 1.03
    found = trends(drawn)
    assert list(found) == [("measure", "latency_median_ms")]
    change = found["measure", "latency_median_ms"]
    assert abs(change.number - 1500) <= 3
    assert change.earliest <= 1500 <= change.latest
    assert change.worse
    assert change.after / change.before == pytest.approx(1.03, abs=0.003)


@pytest.mark.slow
def test_a_hundred_datasets_without_a_change_give_at_most_five_alarms() -> None:
    assert sum(bool(trends(Drawn(150, seed))) for seed in range(100)) <= 5


def test_a_fusion_and_a_finding_come_and_go_and_faster_is_not_worse() -> None:
    drawn = Drawn(60, 3)
    drawn.rows["findings"] = [
        {"source": f"{n:05d}.log", "build": 1, "code": "TF101", "severity": "error"} for n in range(40, 60)
    ]
    for row in drawn.rows["engine_layers"]:
        if row["layer"] == "conv1" and row["source"] >= "00030":
            row["layer"] = "conv1 + relu1"
    for row in drawn.rows["runs"][30:]:
        row["throughput_qps"] *= 1.5
    found = trends(drawn)
    assert found["finding", "TF101"].worse
    assert (found["finding", "TF101"].number, found["layer", "conv1 + relu1"].number) == (41, 31)
    assert (found["layer", "conv1"].before, found["layer", "conv1"].after) == ("present", "absent")
    assert found["measure", "throughput_qps"].worse is False
    (group,) = groups_of(cast("Dataset", drawn), ("model", "gpu"))
    assert "worse: finding TF101: absent → present since run 41" in text_of(group)
    document = json.loads(document_of([group]))
    assert problems(document, "trend") == []
    assert document["groups"][0]["changes"][0]["since"]["source"] == "00040.log"
    drawing = next(each for each in figures_of(group) if each.name == "throughput_qps")
    assert [row[0] for row in drawing.rows] == list(range(1, 61))
    assert "since run 31" in drawing.note
    assert len(drawing.svg.findall(".//line[@class='roof']")) == 1
    assert page_of([group]).count("<figure") == sum(1 for _ in figures_of(group))


def test_runs_are_grouped_by_columns_and_ordered_by_a_label() -> None:
    drawn = Drawn(20, 4)
    drawn.rows["labels"] = [
        {"source": row["source"], "label": "number", "value": str(20 - place)}
        for place, row in enumerate(drawn.rows["runs"])
    ]
    (group,) = groups_of(cast("Dataset", drawn), ("release",), "number")
    assert [run["number"] for run in group.runs] == [str(number + 1) for number in range(20)]
    for by, order in ((("nothing",), None), (("model",), "nothing")):
        with pytest.raises(UsageError, match="no column of runs and no label"):
            groups_of(cast("Dataset", drawn), by, order)


@pytest.mark.slow
def test_the_command_fails_on_a_regression_since_a_day(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (logs / "emulated-trtexec-8.6.log").read_text("utf-8")
    many = tmp_path / "many"
    many.mkdir()
    for number in range(24):
        changed = text.replace("[11/21/2026-", f"[11/{number + 1:02}/2026-")
        changed = changed if number < 12 else changed.replace("_f16f16_f16f16_f16_", "_f32f32_f32f32_f32_")
        (many / f"{number}.log").write_text(changed, "utf-8")
    assert main(["ingest", str(many), "--into", str(tmp_path / "set"), "--quiet"]) == 0
    command = ["trend", str(tmp_path / "set"), "--fail-on", "regression"]
    assert main(command) == 1
    assert "compute_precision /stem/conv/Conv + /stem/act/Relu: Half → Float since run 13, 2026-11-13" in (
        capsys.readouterr().out
    )
    assert main([*command, "--since", "2026-11-14"]) == 0
    assert main([*command[:2], "--json"]) == 0


def noisy(seed: int, runs: int, spread: float = 0.02) -> np.ndarray:
    return 1 + spread * np.random.default_rng(seed).standard_normal(runs)


def test_a_planted_step_is_found_within_what_noise_allows() -> None:
    near = covered = 0
    for seed in range(40):
        values = noisy(seed, 2000)
        values[1500:] *= 1.03
        (change,) = changes(values, series=20)
        near += abs(change.first - 1500) <= 3
        covered += change.earliest <= 1500 <= change.latest
        assert change.chance < 1e-9
    assert near >= 32  # the most likely place itself is farther in one of nine draws
    assert covered >= 36


def test_no_change_is_no_alarm() -> None:
    numbers = sum(bool(changes(noisy(seed, 200), series=1)) for seed in range(100))
    draws = [np.random.default_rng(seed).random(200) < 0.2 for seed in range(100)]
    assert numbers + sum(bool(changes(each.astype(float), series=1)) for each in draws) <= 4


def test_single_slow_runs_are_no_change_and_hide_none() -> None:
    values = noisy(3, 300)
    values[::37] *= 40
    assert changes(values, series=1) == []
    values[200:] *= 1.05
    (change,) = changes(values, series=1)
    assert abs(change.first - 200) <= 3


def test_several_steps_are_found_each_at_its_place() -> None:
    values = noisy(5, 900)
    values[300:600] *= 1.2
    assert [change.first for change in changes(values, series=1)] == [300, 600]


@pytest.mark.parametrize(("split", "runs"), [(700, 1000), (8, 16), (3, 400)])
def test_what_is_there_from_a_run_on_is_exact(split: int, runs: int) -> None:
    flags = np.zeros(runs)
    flags[split:] = 1
    (change,) = changes(flags, series=1)
    assert (change.first, change.earliest, change.latest) == (split, split, split)


def test_few_or_equal_runs_tell_nothing() -> None:
    assert changes(np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]), series=1) == []
    assert changes(np.ones(100), series=1) == []
    assert changes(np.zeros(0), series=1) == []
