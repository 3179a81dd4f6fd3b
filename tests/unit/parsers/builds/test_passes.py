"""Which of several backend strategies the engine is from: only TensorRT's own verdicts say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import Build, BuildLog

    Load = Callable[[str], BuildLog]

V = "[11/21/2026-10:05:00] [V] [TRT] "


def begin(strategy: int) -> list[str]:
    return [f"Building graph using backend strategy {strategy}", "Original: 3 layers"]


def initial(strategy: int, ms: float) -> str:
    return f"Use backend strategy {strategy} with estimated inference time ({ms}) as the initial choice."


def chosen(strategy: int, ms: float, previous: float) -> str:
    return (
        f"Chose this engine with backend strategy {strategy} since its estimated inference time ({ms}) is faster than"
        f" the previous engine with estimated inference time ({previous})."
    )


def skipped(strategy: int, ms: float, previous: float, blank: str = "") -> str:
    return (
        f"Skip backend strategy {strategy}{blank}since its estimated inference time ({ms}) is not faster than the"
        f" previous engine with estimated inference time ({previous})."
    )


def build_of(load: Load, *lines: str) -> Build:
    (build,) = load("".join(f"{V}{line}\n" for line in lines)).builds
    return build


def verdicts(build: Build) -> list[tuple[int | None, bool | None, float | None]]:
    return [(p.backend_strategy, p.chosen, p.estimated_ms) for p in build.passes]


def test_the_first_of_three_is_kept_where_the_others_are_skipped(load: Load) -> None:
    lines = [*begin(4), initial(4, 0.2), *begin(3), skipped(3, 0.3, 0.2), *begin(2), skipped(2, 0.4, 0.2, " ")]
    assert verdicts(build_of(load, *lines)) == [(4, True, 0.2), (3, False, 0.3), (2, False, 0.4)]


def test_a_later_pass_that_is_faster_replaces_the_one_before(load: Load) -> None:
    lines = [*begin(4), initial(4, 0.3), *begin(3), chosen(3, 0.2, 0.3), *begin(2), skipped(2, 0.25, 0.2)]
    assert verdicts(build_of(load, *lines)) == [(4, False, 0.3), (3, True, 0.2), (2, False, 0.25)]


def test_the_last_pass_may_win(load: Load) -> None:
    lines = [*begin(4), initial(4, 0.3), *begin(3), chosen(3, 0.2, 0.3), *begin(2), chosen(2, 0.1, 0.2)]
    assert [p.chosen for p in build_of(load, *lines).passes] == [False, False, True]


@pytest.mark.parametrize("end", [0, 1, 2])
def test_a_log_that_ends_inside_a_pass_does_not_tell_which_is_kept(load: Load, end: int) -> None:
    lines = [*begin(4), initial(4, 0.3), *begin(3), *["Original: 3 layers"] * end]
    assert verdicts(build_of(load, *lines)) == [(4, None, 0.3), (3, None, None)]


def test_a_verdict_that_is_missing_in_between_leaves_the_choice_open(load: Load) -> None:
    lines = [*begin(4), initial(4, 0.3), *begin(3), *begin(2), skipped(2, 0.4, 0.3)]
    assert verdicts(build_of(load, *lines)) == [(4, None, 0.3), (3, None, None), (2, False, 0.4)]


def test_a_verdict_of_a_strategy_that_never_began_is_nobodys(load: Load) -> None:
    lines = [*begin(4), initial(9, 0.1), *begin(3)]
    assert [p.chosen for p in build_of(load, *lines).passes] == [None, None]


def test_passes_share_no_line_and_what_precedes_or_follows_them_is_of_none(load: Load) -> None:
    fusing = "ConvReluFusion: Fusing a with b"
    lines = [
        fusing,
        *begin(4),
        fusing,
        initial(4, 0.2),
        *begin(3),
        fusing,
        skipped(3, 0.3, 0.2),
        "Engine Layer Information:",
        fusing,
    ]
    build = build_of(load, *lines)
    assert [(p.first_line, p.last_line) for p in build.passes] == [(2, 5), (6, 9)]
    assert [fusion.pass_index for fusion in build.fusions] == [None, 0, 1, None]


@for_each(
    ("lines", "expected"),
    [
        (["Original: 3 layers"], (None, None, None)),
        (["Original: 3 layers", "Engine generation completed in 1.5 seconds."], (None, True, None)),
        ([*begin(2), "Engine generation completed in 1.5 seconds."], (2, True, None)),
        ([*begin(2)], (2, None, None)),
    ],
)
def test_a_single_pass_is_the_engines_where_there_is_an_engine(
    load: Load, lines: list[str], expected: tuple[int | None, bool | None, float | None]
) -> None:
    build = build_of(load, *lines)
    assert verdicts(build) == [expected]
    assert (build.passes[0].first_line, build.passes[0].last_line) == (1, len(lines))
