"""The catalogue of columns of layers: what filters ask of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.engine_builds import build_of, layer, tuned
from tests.support.for_each import for_each
from tests.support.sample_session import Scribe
from tests.support.schemas import schema
from trtforensics.engines.facts import EngineFacts
from trtforensics.model.data_types import ComputePrecision, PrecisionSource
from trtforensics.model.timings import TimeSource
from trtforensics.tables.layers import LAYER_COLUMNS, layer_table

FOREIGN = "{ForeignNode[a...b]}"


@pytest.fixture(scope="module")
def engine() -> EngineFacts:
    """A slow layer in FP32 with a near tie, a fast one in FP16, a kernel of a ForeignNode, and a constant."""
    scribe = Scribe()
    choices = (
        *tuned(scribe, "slow", {"Float": (0.9, 0.905), "Half": (1.8,)}, "Float"),
        *tuned(scribe, "fast", {"Half": (0.1, 0.2), "Float": (0.05,)}, "Half"),
        *tuned(scribe, FOREIGN, {"Float": (0.3,)}, "Float"),
    )
    slow = replace(
        layer(scribe, "slow", choice=0, nodes=("first", "second")),
        compute_precision=ComputePrecision("Float", PrecisionSource.KERNEL),
        time_ms=0.9,
        time_is=TimeSource.TUNED,
    )
    fast = replace(layer(scribe, "fast", "PointWiseV2", "Half", choice=2), time_ms=0.1, time_is=TimeSource.TUNED)
    kernel = layer(scribe, "a_myl1_0", "kgen", "Int32", choice=4)
    return EngineFacts(build_of(scribe, choices, slow, fast, kernel, layer(scribe, "constant", "Constant")))


@for_each(
    ("expression", "kept"),
    [
        ("name:slow", ["slow"]),
        ("number=2", ["fast"]),
        ("index=2", ["a_myl1_0"]),
        ("kind:PointWise", ["fast"]),
        ("type:fp16", ["fast"]),
        ("in:int32", ["a_myl1_0"]),
        ("out:half", ["fast"]),
        ("compute:fp32", ["slow"]),
        ("time>=0.9ms ms<1s", ["slow"]),
        ("share>60%", ["slow"]),
        ("margin<1%", ["slow"]),
        ("other<0", ["fast"]),
        ("other:?", [FOREIGN, "a_myl1_0", "constant"]),
        ("foreign:ForeignNode", [FOREIGN, "a_myl1_0"]),
        ("fused:second", ["slow"]),
        ("fused:fast", ["fast"]),
        ("fused:?", ["fast", FOREIGN, "a_myl1_0", "constant"]),
        ("half", ["fast"]),
        ("why:tie", ["slow"]),
        ("runs_kernel:no", ["constant"]),
    ],
)
def test_a_filter_asks_for_every_fact_by_its_names(engine: EngineFacts, expression: str, kept: list[str]) -> None:
    assert [facts.name for facts in layer_table([engine]).filtered(expression).rows] == kept


def test_extra_columns_are_written_where_they_are_asked_for(engine: EngineFacts) -> None:
    table = layer_table([engine])
    assert "foreign_node" not in {column.name for column in table.header}
    assert next(iter(table.selected(["number", "in", "foreign"]).values())) == (1, ("Float",), None)


def test_every_column_is_one_of_the_schema() -> None:
    said = schema("table")["$defs"]["layers"]["properties"].keys()
    assert {column.name for column in LAYER_COLUMNS} == said
