"""The picture around a layer."""

from __future__ import annotations

from tests.support.engine_builds import build_of, layer
from tests.support.sample_session import Scribe
from trtforensics.engines.neighbours import Neighbours
from trtforensics.tui.rows.layers.neighbours import neighbour_rows


def test_every_tensor_of_an_edge_stands_in_the_order_of_the_data() -> None:
    scribe = Scribe()
    first = layer(scribe, "first", writes=("a",))
    reformat = layer(scribe, "Reformatting CopyNode", "Reformat", reads=("a",), writes=("b",))
    second = layer(scribe, "second", reads=("b",))
    neighbours = Neighbours(build_of(scribe, (), first, reformat, second))
    above, own = neighbour_rows(second, neighbours, 1)[:2]
    assert [step.tensor.name for step in above.edge] == ["a", "b"]
    assert (above.layer, own.layer) == (first, second)
