"""Producers and consumers of a layer."""

from __future__ import annotations

from tests.support.engine_builds import build_of, layer
from tests.support.sample_session import Scribe
from trtforensics.engines.facts import EngineFacts
from trtforensics.engines.neighbours import Neighbours
from trtforensics.tables.layers import layer_table


def test_producers_and_consumers_are_told_by_the_tensors() -> None:
    scribe = Scribe()
    first = layer(scribe, "first", reads=("in",), writes=("a", "b"))
    second = layer(scribe, "second", reads=("a",), writes=("c",))
    third = layer(scribe, "third", reads=("a", "c"), writes=("out",))
    neighbours = Neighbours(build_of(scribe, (), first, second, third))
    assert [(one.tensor.name, one.layer) for one in neighbours.producers(third)] == [("a", first), ("c", second)]
    assert [(one.tensor.name, one.layer) for one in neighbours.consumers(first)] == [
        ("a", second),
        ("a", third),
        ("b", None),
    ]
    assert [(one.tensor.name, one.layer) for one in neighbours.producers(first)] == [("in", None)]
    assert [(one.tensor.name, one.layer) for one in neighbours.consumers(third)] == [("out", None)]


def test_layers_that_write_parts_of_one_tensor_are_all_producers() -> None:
    scribe = Scribe()
    parts = layer(scribe, "p0", writes=("cat",)), layer(scribe, "p1", writes=("cat",))
    reader = layer(scribe, "reader", reads=("cat",))
    neighbours = Neighbours(build_of(scribe, (), *parts, reader))
    assert [one.layer for one in neighbours.producers(reader)] == list(parts)
    assert [one.layer for one in neighbours.consumers(parts[0])] == [reader]


def test_an_edge_leads_through_reformats_to_the_next_layer() -> None:
    scribe = Scribe()
    first = layer(scribe, "first", writes=("a",))
    reformat = layer(scribe, "Reformatting CopyNode", "Reformat", reads=("a",), writes=("b",))
    second = layer(scribe, "second", reads=("b",), writes=("c",))
    build = build_of(scribe, (), first, reformat, second)
    neighbours = Neighbours(build)
    (edge,) = neighbours.edges(second, before=True)
    assert [(step.tensor.name, step.layer) for step in edge] == [("b", reformat), ("a", first)]
    (edge,) = neighbours.edges(first, before=False)
    assert [step.layer for step in edge] == [reformat, second]

    def kept(expression: str) -> list[str]:
        return [facts.name for facts in layer_table([EngineFacts(build)]).filtered(expression).rows]

    assert kept("before.layer:first") == ["Reformatting CopyNode", "second"]
    assert kept("after.layer=second -reformat") == ["first"]
