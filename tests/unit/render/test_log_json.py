"""The JSON document: the contract's fields, plain JSON, ids as text, and indexes that lead somewhere."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.documents import document
from tests.support.repository import LOGS
from trtforensics.model.log import Build, BuildLog
from trtforensics.model.timings import NO_TACTIC
from trtforensics.render.log_json import to_json
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = sorted(LOGS.glob("*.log"))

CONTRACT: dict[str, tuple[str, ...]] = {
    "": ("schema", "kind", "source", "lines", "unknown_samples", "builds"),
    "source": ("path", "bytes", "lines", "sha256"),
    "lines": ("typed", "unprefixed", "blank", "unknown"),
    "unknown_samples": ("line", "text", "count"),
    "builds": (
        *("index", "first_line", "last_line", "tool", "tensorrt_version", "command", "outcome", "options", "passes"),
        *("stages", "fusions", "autotuning", "choices", "cached", "engine_layers", "layer_names", "timing_cache_keys"),
        "messages",
    ),
    "options": ("build", "model", "inference", "device"),
    "passes": ("backend_strategy", "first_line", "last_line", "chosen"),
    "stages": ("stage", "layers", "line", "pass"),
    "fusions": ("kind", "inputs", "line", "pass"),
    "autotuning": ("runner_blocks", "tactics_timed", "tactics_skipped", "cache_hits"),
    "choices": (
        *("layer", "runner", "runner_id", "tactic", "time_ms", "runner_up_ms", "candidates", "inputs", "outputs"),
        *("line", "pass", "final"),
    ),
    "cached": ("layer", "runner", "tactic", "time_ms", "inputs", "outputs", "line", "pass", "final"),
    "engine_layers": (
        *("name", "type", "tactic", "output_types", "compute_precision", "onnx_nodes", "time_ms", "time_is"),
        *("profile", "choice", "cached", "line"),
    ),
    "engine_dumps": ("line", "layers"),
    "coverage": ("verdict", "engine_layers", "tactics", "times", "options", "model", "own_lines", "other_lines"),
    "timing_cache_keys": ("op", "key", "selected", "time_ms", "candidates", "line"),
    "candidates": ("tactic", "time_ms", "kernel"),
    "messages": ("warning", "error"),
}
"""The fields that a reader may rely on, by the field that holds them."""


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda path: path.stem)
def log(request: pytest.FixtureRequest) -> BuildLog:
    """Each sample, parsed."""
    return load_build_log([str(request.param)])


def objects(value: Any, name: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Return every object inside a document, with the name of the field that holds it."""
    if isinstance(value, list):
        return [found for one in value for found in objects(one, name)]
    if not isinstance(value, dict):
        return []
    return [(name, value), *(found for key, one in value.items() for found in objects(one, key))]


def test_every_field_of_the_contract_is_there(log: BuildLog) -> None:
    for name, found in objects(document(log)):
        missing = set(CONTRACT.get(name, ())) - set(found)
        assert missing == set(), name


def test_the_samples_and_an_unread_line_have_every_object_of_the_contract(tmp_path: Path) -> None:
    (tmp_path / "odd.log").write_text("[11/21/2026-10:00:00] [V] [TRT] Widgets: 17\n")
    paths = [*SAMPLES, tmp_path / "odd.log"]
    seen = {name for path in paths for name, _ in objects(document(load_build_log([str(path)])))}
    assert set(CONTRACT) <= seen


def test_every_record_is_the_line_that_json_dumps_would_print(log: BuildLog) -> None:
    text = to_json(log)
    assert text.isascii()
    lines = {line.rstrip(",") for line in text.split("\n")}
    for build in json.loads(text)["builds"]:
        for name, value in build.items():
            for record in value if isinstance(value, list) else ():
                assert f"    {json.dumps(record)}" in lines, name


def test_what_is_no_json_number_is_never_rendered(log: BuildLog) -> None:
    build = log.builds[0]
    choice = replace(build.choices[0], time_ms=float("nan"))
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(replace(log, builds=(replace(build, choices=(choice,), engine_layers=()),)))


def test_tactic_ids_are_text_and_never_the_mark_of_no_tactic(log: BuildLog) -> None:
    for name, found in objects(document(log)):
        for key in ("tactic", "selected"):
            if isinstance(found.get(key), str | int):
                assert re.fullmatch(r"0x[0-9a-f]{16}", found[key]), (name, found)
                assert int(found[key], 16) != NO_TACTIC


def test_no_tactic_and_no_time_are_null(log: BuildLog) -> None:
    build = log.builds[0]
    choice = replace(build.choices[0], tactic=NO_TACTIC, time_ms=None, runner_up_ms=None)
    made = document(replace(log, builds=(replace(build, choices=(choice,), engine_layers=()),)))["builds"][0][
        "choices"
    ][0]
    assert (made["tactic"], made["time_ms"], made["runner_up_ms"]) == (None, None, None)


def test_the_classes_of_lines_add_up_to_the_lines(log: BuildLog) -> None:
    made = document(log)
    assert sum(made["lines"].values()) == made["source"]["lines"] > 0


def test_an_engine_layer_points_to_a_choice_or_a_cached_result_that_exists_and_is_final(log: BuildLog) -> None:
    for build in document(log)["builds"]:
        joined = 0
        for layer in build["engine_layers"]:
            for field, found in (("choice", build["choices"]), ("cached", build["cached"])):
                if layer[field] is not None:
                    assert found[layer[field]]["final"] is True
                    joined += 1
        assert joined > 0


def test_lines_lie_within_their_build(log: BuildLog) -> None:
    for build in document(log)["builds"]:
        lines = [found["line"] for _, found in objects(build) if isinstance(found.get("line"), int)]
        assert all(build["first_line"] <= line <= build["last_line"] for line in lines)


def test_every_list_of_the_model_is_in_the_document(log: BuildLog) -> None:
    build, made = log.builds[0], document(log)["builds"][0]
    renamed = {"message_counts": "messages", "tuning": "tuning_seconds"}
    for field in fields(Build):
        # one entry a timed tactic, a warning, a removed node: the log has them, and `report` and the TUI tell of them
        if field.name not in {"timings", "messages", "own_lines", "notes", "open_blocks", "removals", "starved"}:
            told, value = made[renamed.get(field.name, field.name)], getattr(build, field.name)
            if isinstance(value, tuple) and field.name not in {"results", "profiles"}:
                assert len(told) == len(value), field.name
