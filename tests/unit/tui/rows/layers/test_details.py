"""What is told of a layer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trtforensics.tui.rows.layers.index import LayerIndex, details

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog


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
