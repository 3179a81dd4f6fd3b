"""The index of layers: the rows of each layer, its details, and the log lines that lead to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.support.screens import text_of
from trtforensics.model.log import EngineDump
from trtforensics.tui.rows.layers.columns import ColumnLayout
from trtforensics.tui.rows.layers.index import LayerIndex, details, row_pieces

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog


def test_layers_of_the_engine_come_first_and_then_what_else_was_tuned(log: BuildLog) -> None:
    rows = LayerIndex(log.builds[0]).rows()
    assert [row.text for row in rows[:2]] == ["conv1 + relu1", "pool1"]
    assert [(row.text, row.label) for row in rows[5:6]] == [("ms as tuned", "4 of 5 layers timed")]
    assert (rows[6].text, rows[6].label) == ("compute type unknown", "3 of 5 layers")
    assert [row.text for row in rows[7:]] == [
        "tuned, not in the engine",
        "fc_unused",
        "operations timed by Myelin",
        "matMul1",
    ]


def test_without_an_engine_dump_the_tuned_layers_and_names_are_listed(log: BuildLog) -> None:
    rows = LayerIndex(log.builds[1]).rows()
    assert [row.text for row in rows] == [
        "tuned; the log has no engine dump",
        "second_conv",
        "of these the log prints the names only",
        "only a name",
    ]


def test_an_opened_layer_shows_nodes_tensors_and_combinations(log: BuildLog) -> None:
    index = LayerIndex(log.builds[0])
    texts = [row.text for row in index.children(index.engine[0])]
    assert (texts[0], index.children(index.engine[0])[0].note) == ("conv1", "Conv")
    assert "Half[1,64,56,56]:8 input.0" in texts
    assert texts[-1] == "Half(150528,50176:2,224,1) → Half(200704,3136:8,56,1)"


def test_a_layer_nothing_was_tuned_for_says_where_it_came_from(log: BuildLog) -> None:
    index = LayerIndex(log.builds[0])
    assert "Myelin compiled it" in [row.text for row in index.children(index.engine[4])]


def test_an_engine_printed_twice_is_listed_once_and_said_so(log: BuildLog) -> None:
    build = log.builds[0]
    again = tuple(replace(x, span=replace(x.span, line=x.span.line + 100)) for x in build.engine_layers)
    dumps = (*build.engine_dumps, EngineDump(again, again[0].span))
    index = LayerIndex(replace(build, engine_layers=again, engine_dumps=dumps))
    assert [entry.layer for entry in index.engine] == list(again)
    assert index.rows()[0].text == f"printed 2 times, this is from line {again[0].span.line}"
    assert index.rows()[0].line == build.engine_layers[0].span.line
    assert index.at_line(build.engine_layers[1].span.line) is index.engine[1]
    assert "printed" not in LayerIndex(build).rows()[0].text


def test_kernels_of_a_foreign_node_stand_below_it_and_have_no_time_of_their_own(log: BuildLog, make: Any) -> None:
    build = log.builds[0]
    whole = replace(build.choices[2], layer=make.foreign_name)
    kernel = replace(build.engine_layers[0], choice=0, cached=None, time_ms=None, time_is=None)
    kernels = tuple(replace(kernel, name=f"__myl_{n}") for n in range(3))
    index = LayerIndex(replace(build, choices=(whole,), cached=(), engine_layers=kernels, myelin_operations=()))
    rows = index.rows()
    assert [row.text for row in rows] == [
        make.foreign_name,
        "__myl_0",
        "__myl_1",
        "__myl_2",
        "ms as tuned",
        "compute type unknown",
    ]
    assert [entry.time_ms for entry in index.engine] == [whole.time_ms, None, None, None]
    assert [entry.number for entry in index.engine] == [None, 1, 2, 3]
    assert index.rows(order=ColumnLayout(120, 2).orders[1])[0].text == make.foreign_name, (
        "the slowest layer is in the list"
    )
    reasons = [reason.text for reason in index.engine[0].why()]
    assert "Myelin compiled it as one" in reasons
    assert "│ __myl_0" in text_of(row_pieces(rows[1], ColumnLayout(60, 1, 1.02), expanded=False))
    origins = [row.text for row in index.children(index.engine[1]) if row.label == "origin"]
    assert origins == [f"a kernel of {make.foreign_name}, which was tuned as a whole"]


def test_what_else_was_printed_of_a_layer_stands_below_it(log: BuildLog) -> None:
    build = log.builds[0]
    layers = (replace(build.engine_layers[0], fields={"Groups": "1"}), *build.engine_layers[1:])
    index = LayerIndex(replace(build, engine_layers=layers))
    assert [row.text for row in index.children(index.engine[0]) if row.label == "printed"] == ["Groups: 1"]


def test_slowest_first_sorts_by_the_time_in_the_engine(log: BuildLog) -> None:
    rows = LayerIndex(log.builds[0]).rows(order=ColumnLayout(120, 2).orders[1])
    assert (rows[5].text, rows[5].label) == ("ms as tuned", "4 of 5 layers timed")
    times = [row.entry.time_ms for row in rows[:5] if row.entry]
    assert times[0] == 0.0412
    assert [t for t in times if t] == sorted((t for t in times if t), reverse=True)
    assert times[-1] is None


def test_a_line_of_the_log_leads_to_its_layer(log: BuildLog, session: Any) -> None:
    index = LayerIndex(log.builds[0])

    def layer_at(text: str) -> str | None:
        line = next(n for n, shown in enumerate(session.text.lines, 1) if text in shown)
        entry = index.at_line(line)
        return entry.name if entry else None

    assert layer_at("Tactic: 0x0000000000540101") == "pool1"
    assert layer_at("got cached result") == "Reformatting CopyNode for Input Tensor 0 to fc"
    assert layer_at("Layer(Myelin)") == index.engine[4].name
    assert layer_at("Timing Runner: fc_unused") == "fc_unused"
    assert layer_at("&&&& RUNNING") is None
    assert layer_at("&&&& PASSED") is None


def test_the_tactics_that_were_timed_are_told_of_the_layer_that_was_tuned(log: BuildLog, make: Any) -> None:
    build = log.builds[0]
    tuned = LayerIndex(build).engine[0]
    rows = [row for row in details(tuned, ()) if row.label == "tuned"]
    assert [row.line for row in rows] == [result.span.line for result in tuned.tuned]
    assert [row.value[:2] for row in rows] == ["✗ ", "✔ "]
    assert "lost  0.1870 ms" in rows[0].value

    whole = replace(build.choices[2], layer=make.foreign_name)
    kernel = replace(build.engine_layers[0], name="__myl_0", choice=0, cached=None, time_ms=None, time_is=None)
    compiled = replace(build, choices=(whole,), cached=(), engine_layers=(kernel,), myelin_operations=())
    inside = LayerIndex(compiled).engine[1]
    assert inside.inside == make.foreign_name
    assert "tuned" not in [row.label for row in details(inside, ())]
