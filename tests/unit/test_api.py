"""The public API: its names and signatures, and what it returns."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import trtforensics as tf
from tests.support.engine_files import DETAILED, PROFILE
from tests.support.repository import LOGS, ROOT
from trtforensics import api
from trtforensics.engines.facts import EngineFacts

SIGNATURES = Path(__file__).with_name("public_api.txt")
LOG = LOGS / "emulated-trtexec-8.6.log"
MODELS = ROOT / "testdata" / "models"


def described() -> str:
    """Return every public name with its signature, and those of the public members of classes."""
    lines = []
    for name in sorted(tf.__all__):
        value = getattr(api, name, getattr(tf, name))
        if inspect.isclass(value):
            lines.append(f"class {name}")
            for member, own in sorted(vars(value).items()):
                if not member.startswith("_"):
                    lines.append(f"  {member}{inspect.signature(own) if inspect.isfunction(own) else ''}")
        else:
            lines.append(f"{name}{inspect.signature(value) if inspect.isfunction(value) else ''}")
    return "\n".join(lines) + "\n"


def test_names_and_signatures_are_those_that_are_promised() -> None:
    assert described() == SIGNATURES.read_text(encoding="utf-8"), "a change here breaks programs; else update the file"


LONGEST_REPR = 300
OTHER_LOG = LOGS / "emulated-trtexec-10.16-three-passes.log"


def shown() -> list[object]:
    """Return what the functions return, and what hangs on it."""
    log, other = tf.load(LOG), tf.load(OTHER_LOG)
    build, layer = log.builds[0], log.builds[0].layers[2]
    report, difference = tf.report(log), tf.diff(log, OTHER_LOG)
    figures = [tf.plot(build), tf.plot(build, of="types"), tf.plot(build, other.builds[-1])]
    of_build = [getattr(build, name) for name in dir(build) if not name.startswith("_")]
    of_layer = [getattr(layer, name) for name in dir(layer) if not name.startswith("_")]
    found = [report, report.findings, report.findings[0], difference, difference.differences, difference.differences[0]]
    engine = [build.engine.whole, *build.engine.by_kind()]
    found += [report.sources, report.not_judged, difference.good, difference.times, figures[0].interactive()]
    return [log, log.builds, log.raw, log.joined, *found, *figures, build, layer, *of_build, *of_layer, *engine]


def test_every_object_is_a_line_in_a_console() -> None:
    long = {type(value).__name__: repr(value) for value in shown() if not callable(value)}
    assert {name: text for name, text in long.items() if len(text) > LONGEST_REPR or "\n" in text} == {}
    assert repr(tf.report(LOG)).startswith("<report on 1 source: ")


def test_what_functions_return_is_a_table_or_a_page_in_a_notebook() -> None:
    log = tf.load(LOG)
    build = log.builds[0]
    shown: tuple[tuple[Any, str], ...] = (
        (log, "engine layers, slowest first"),
        (build, "PASSED"),
        (build, "data:image/svg+xml;base64,"),
        (build.layers, "/stem/pool/MaxPool"),
        (build.layers[2], "computes in"),
        (build.choices, "runner_up_ms"),
        (build.results, "throughput_qps"),
        (build.table(), "weights_bytes"),
        (build.table(), '<td style="overflow-wrap:anywhere">'),
        (tf.report(LOG), "<summary>warning TF202 "),
        (tf.check(MODELS / "norm-chain.onnx"), "norm-chain.onnx"),
        (tf.diff(log, OTHER_LOG), "<summary>Differences"),
        (tf.plot(build, of="types"), "<img"),
    )
    for value, words in shown:
        page = value._repr_html_()
        assert words in page, value
        assert "<script" not in page
        assert len(page) < 40_000


def test_a_name_from_a_log_is_no_markup(tmp_path: Path) -> None:
    layers = tmp_path / "layers.json"
    layers.write_text(DETAILED.replace("{ForeignNode[a...b]}", "<b>fc</b>"))
    page = tf.load(layers)._repr_html_()
    assert "&lt;b&gt;fc" in page
    assert "<b>fc" not in page


def test_a_figure_that_the_files_do_not_give_says_what_it_needs() -> None:
    with pytest.raises(tf.ForensicsError, match="needs times of inferences"):
        tf.plot(tf.load(LOG).builds[0], of="spread")
    assert tf.plot(tf.load(LOG).builds[0]).svg_text().startswith("<svg")


def test_an_interactive_figure_is_drawn_by_its_reader_from_the_figures_data() -> None:
    header = ("layer", "compute_precision", "operations_per_byte", "tera_operations_per_s", "time_ms")
    points = (("a", "Half", 3.0, 0.5, 1.0), ("b", "Float", 2.0, 0.25, 1.5))
    roofline = tf.FigureView("roofline", "Roofline", "", ET.Element("svg", viewBox="0 0 9 9"), header, points)
    build = tf.load(LOG).builds[0]
    for figure, x, y in (
        (tf.plot(build, of="types"), "time_ms", "type"),
        (tf.plot(build, build, of="compare"), "delta_ms", "type"),
        (roofline, "operations_per_byte", "tera_operations_per_s"),
    ):
        page = figure.interactive()._repr_mimebundle_()
        chart = page["application/vnd.vegalite.v5+json"]
        assert [chart["encoding"][side]["field"] for side in "xy"] == [x, y]
        assert [tuple(row.values()) for row in chart["data"]["values"]] == list(figure.rows)
        assert json.loads(json.dumps(chart))["transform"]
        assert "text/html" not in page, "readers prefer it to the chart"


def test_only_public_names_are_listed() -> None:
    assert dir(tf) == sorted(tf.__all__)


def test_importing_imports_nothing_heavy() -> None:
    code = (
        "import sys, trtforensics; print(sorted({'numpy', 'lark', 'networkx', 'onnx', 'textual'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_log_has_its_runs_and_says_first_what_they_came_to() -> None:
    log = tf.load(LOG)
    (run,) = log.runs
    assert (run.outcome.ending.value, run.program.value, run.builds) == ("passed", "trtexec", (0,))
    assert log.headline.startswith("PASSED · trtexec 8.6.1 · ")


def test_a_log_is_loaded_with_its_layers_choices_and_candidates() -> None:
    log = tf.load(LOG)
    build = log.builds[-1]
    layer = next(one for one in build.layers if one.candidates)
    assert layer.choice in build.choices
    assert layer.time is not None
    assert layer.time.source == "tuned"
    assert min(one.time_ms for one in layer.candidates if one.time_ms) == layer.candidates[0].time_ms
    assert layer.span.line >= build.raw.first_line
    assert build.timings.ms.shape == (build.raw.autotuning.tactics_timed,)
    assert layer.why
    assert build.tensorrt_version == "8.6.1"


def test_packages_that_are_functions_are_both() -> None:
    build = tf.load(LOG).builds[-1]
    graph = tf.graph(build)
    from trtforensics.graphs.build import BuildGraph  # noqa: PLC0415 - the import binds the package's name anew

    assert set(tf.graph(build)) == set(graph) == set(BuildGraph(EngineFacts(build.raw)).graph)
    assert not tf.diff(LOG, tf.load(LOG)).differences
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tf.nothing  # noqa: B018 - the access is the test


def test_engine_files_are_loaded_reported_and_made_tables(tmp_path: Path) -> None:
    layers, profile = tmp_path / "layers.json", tmp_path / "profile.json"
    layers.write_text(DETAILED.replace("{ForeignNode[a...b]}", "fc"))
    profile.write_text(PROFILE)
    log = tf.load(layers, profile=profile)
    build = log.builds[0]
    table = build.table().filter("type:conv").sort("-time_ms").select("layer", "time_ms")
    assert list(table) == [{"layer": "conv1 + relu1", "time_ms": 0.25}]
    assert table.to_text() == "layer,time_ms\nconv1 + relu1,0.25\n"
    assert {finding.code for finding in tf.report(log).findings}.isdisjoint({"TF705"})
    assert [group.name for group in build.engine.by_kind()] == ["Convolution", "Myelin"]
    with pytest.raises(tf.ForensicsError, match="does not exist"):
        build.table("nothing")


@pytest.mark.parametrize("culprits", [{"b"}, {"b", "e"}, {"a", "d", "f"}])
def test_bisect_finds_what_is_bad_together(culprits: set[str]) -> None:
    answer = tf.bisect(list("abcdefgh"), lambda active: not culprits <= active)
    assert (answer.status, answer.culprits) == ("certified", (frozenset(culprits),))


def test_bisect_says_what_could_not_be_found() -> None:
    assert tf.bisect(["a", "b"], lambda _: True).status == "not-reproduced"
    assert tf.bisect(list("abcdefgh"), lambda active: "a" not in active, max_calls=3).status == "inconclusive"
    with pytest.raises(ValueError, match="named twice"):
        tf.bisect(["a", "a"], lambda _: True)
