"""A probe's scores are those that were written, or none; a build log's types are held against what was asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.support.small_caster import caster
from trtforensics.bisection.precision.emulation.judging import Scores
from trtforensics.bisection.precision.nodes import SCORES, PrecisionLever, differences, read_scores, write_scores

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog


def test_scores_are_read_back_and_a_changed_digit_makes_them_none(tmp_path: Path) -> None:
    assert read_scores(tmp_path, "judge") is None
    scores = Scores({"y": ({"relative": 0.125}, None), "z": ({"relative": float("inf")},)})
    write_scores(tmp_path, scores, "judge")
    assert read_scores(tmp_path, "judge") == scores
    assert read_scores(tmp_path, "another judge") is None
    path = tmp_path / SCORES
    written = path.read_text()
    for other in (written.replace("0.125", "0.126"), written.replace("null", "{}"), "{}", "[" * 100_000, "x"):
        assert other != written
        path.write_text(other)
        assert read_scores(tmp_path, "judge") is None


P = "[07/02/2026-03:31:59] [TRT] [V] "
LOG = f"""{P}Parsing node: /exp [Exp]
{P}/exp [Exp] inputs: [x__fp16 -> (4)[HALF]],
{P}/exp [Exp] outputs: [a__fp16 -> (4)[HALF]],
{P}Parsing node: /less [Less]
{P}/less [Less] inputs: [a -> (4)[FLOAT]], [x -> (4)[FLOAT]],
{P}/less [Less] outputs: [y -> (4)[BOOL]],
"""


def test_a_log_that_shows_what_was_asked(load: Callable[[str], BuildLog]) -> None:
    assert differences(caster(), {"/less"}, load(LOG).builds[0]) == []


def test_a_log_that_cannot_be_read_shows_nothing_of_what_was_asked(tmp_path: Path) -> None:
    lever: Any = SimpleNamespace(target=object())
    assert PrecisionLever.verify(lever, frozenset(), tmp_path).startswith("the build's log cannot be read: ")
    lever.target = None  # nothing was built, so that there is no log
    assert PrecisionLever.verify(lever, frozenset(), tmp_path) == ""


def test_each_node_that_shows_another_type_is_named_with_its_line(load: Callable[[str], BuildLog]) -> None:
    build = load(LOG).builds[0]
    assert differences(caster(), (), build) == [
        "/less was to be HALF, and a is FLOAT (line 4)",
        "/less was to be HALF, and x is FLOAT (line 4)",
    ]
    assert differences(caster(), {"/exp", "/less"}, build) == ["/exp was to be FLOAT, and a__fp16 is HALF (line 1)"]


def test_a_node_that_the_log_lacks_is_named(load: Callable[[str], BuildLog]) -> None:
    short = "".join(LOG.splitlines(keepends=True)[:3])
    assert differences(caster(), {"/less"}, load(short).builds[0]) == ["/less is not in the log"]
