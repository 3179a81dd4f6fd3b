"""A log becomes a replay of what its engine uses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.replays import NO_SOURCE, build_of, from_log
from trtforensics.errors import ForensicsError
from trtforensics.replay.from_log import replay_of

if TYPE_CHECKING:
    from trtforensics.model.log import CachedResult, Choice


@pytest.mark.parametrize(("name", "layers"), [("emulated-trtexec-8.6", 7), ("emulated-python-10.16-two-profiles", 14)])
def test_a_log_becomes_a_replay_of_what_its_engine_uses(name: str, layers: int) -> None:
    build, found = build_of(name), from_log(name)
    assert len(found[0].entries) == layers
    every: tuple[Choice | CachedResult, ...] = (*build.choices, *build.cached)
    by_line = {tuned.span.line: tuned for tuned in every}
    for entry in found[0].entries:
        tuned = by_line[entry.span.line]
        assert (tuned.layer, tuned.tactic, tuned.final) == (entry.layer, entry.tactic, True)
        texts = [tensor.text for tensor in (*entry.inputs, *entry.outputs)]
        assert texts == [
            text.replace("Half", "HALF").replace("Float", "FLOAT").replace("Int32", "INT32")
            for text in (*tuned.inputs, *tuned.outputs)
        ]
    reasons = {one.layer: one.why for one in found[1]}
    foreign = [entry.layer for entry in found[0].entries if entry.layer.startswith("{ForeignNode[")]
    assert all("inside cannot be pinned" in reasons[layer] for layer in foreign)
    assert any("reformat layer" in why for why in reasons.values())


def test_a_cached_result_needs_the_runners_id_from_another_line() -> None:
    build = build_of("emulated-trtexec-10.16-three-passes")
    cached = [one for one in build.cached if one.final and not one.layer.startswith("Optimizer")]
    assert cached
    found = replay_of(replace(build, runner_ids={"SomeRunner": 1}), NO_SOURCE)
    reasons = {one.layer: one.why for one in found[1]}
    for one in cached:
        assert f"no other line has that of {one.runner}" in reasons[one.layer]
        assert one.layer in {entry.layer for entry in from_log("emulated-trtexec-10.16-three-passes")[0].entries}


def test_symbolic_strides_an_untold_choice_and_logs_without_ids_are_not_guessed() -> None:
    build = build_of("emulated-trtexec-8.6")
    first = next(choice for choice in build.choices if choice.final)
    symbolic = replace(first, inputs=("Half((* 8 seq),64:8,8,1)",))
    found = replay_of(replace(build, choices=(symbolic,)), NO_SOURCE)
    assert found[0].entries == ()
    assert "symbolic" in next(one.why for one in found[1] if one.layer == first.layer)
    found = replay_of(replace(build, choices=(replace(first, inputs=(), outputs=()),), engine_layers=()), NO_SOURCE)
    assert [one.why for one in found[1]] == ["the log does not print its formats"]
    found = replay_of(replace(build, choices=(replace(first, final=None),), engine_layers=()), NO_SOURCE)
    assert [one.why for one in found[1]] == ["the log does not tell which of its choices the engine uses"]
    for lacking, what in (
        (replace(build, runner_ids={}), "no ids of runners"),
        (replace(build, choices=(), cached=()), "no autotuning"),
    ):
        with pytest.raises(ForensicsError, match=what):
            replay_of(lacking, NO_SOURCE)


def test_a_choice_that_lost_is_not_taken_though_it_stands_last() -> None:
    build = build_of("emulated-trtexec-8.6")
    won = next(choice for choice in build.choices if choice.final)
    lost = replace(won, tactic=1, final=False, span=replace(won.span, line=won.span.line + 1))
    found = replay_of(replace(build, choices=(won, lost)), NO_SOURCE)
    assert [entry.tactic for entry in found[0].entries] == [won.tactic]
