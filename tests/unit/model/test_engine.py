"""The layers of a dump that a log prints more than once, or not to its end."""

from __future__ import annotations

from tests.support.graph_builds import engine
from trtforensics.model.engine import last_dump


def test_a_dump_printed_twice_is_used_once_the_last_time() -> None:
    layers = tuple(engine(name, "x", "y", line) for name, line in [("a", 5), ("b", 6), ("a", 40), ("b", 41)])
    assert last_dump(layers) == layers[2:]


def test_a_dump_cut_by_the_end_of_the_log_is_not_used() -> None:
    layers = tuple(engine(name, "x", "y", line) for name, line in [("a", 5), ("b", 6), ("a", 40)])
    assert last_dump(layers) == layers[:2]


def test_continuation_lines_between_layers_do_not_end_a_dump() -> None:
    layers = tuple(engine(name, "x", "y", line) for name, line in [("a", 5), ("b", 8), ("c", 9)])
    assert last_dump(layers) == layers
