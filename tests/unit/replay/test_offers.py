"""The fields that a replay lacks come from a log that offers the same tactic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.replays import build_of, from_log, of_form, replay
from trtforensics.engines.joining import select_build
from trtforensics.model.replay import ReplayEntry, ReplayForm, ReplayTensor
from trtforensics.replay.from_log import Offers
from trtforensics.replay.writing import NotExpressibleError, converted
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from pathlib import Path

ONE_PROFILE = "emulated-trtexec-8.6"


def test_a_log_gives_strides_and_packing() -> None:
    entries = from_log("emulated-trtexec-8.6")[0].entries
    described = {(1, 1): "LINEAR", (1, 8): "HWC8"}
    poorer = []
    for entry in entries:
        sides = [
            tuple(
                replace(
                    of_form(entry, ReplayForm.F5).inputs[0],
                    dtype=t.dtype,
                    format=described.get((1, t.components or 1)),
                    strides=None,
                    vectorized_dim=None,
                    components=None,
                )
                for t in side
            )
            for side in (entry.inputs, entry.outputs)
        ]
        poorer.append(replace(entry, inputs=sides[0], outputs=sides[1]))
    offers = Offers(build_of("emulated-trtexec-8.6"))
    filled = converted(replay(*poorer, form=ReplayForm.F2), ReplayForm.F5, offers)
    assert [of_form(entry, ReplayForm.F5) for entry in filled] == list(entries)
    gone = replace(poorer[0], tactic=1)
    with pytest.raises(NotExpressibleError, match="the log does not offer its tactic in these formats"):
        converted(replay(gone, form=ReplayForm.F2), ReplayForm.F5, offers)


@pytest.mark.corpus
def test_a_real_old_replay_gets_its_strides_from_a_real_log(corpus: Path) -> None:
    found = load_replay(str(corpus / "replay" / "hack-inspect-model-d.tactic"))
    log = load_build_log([str(corpus / "buildlog" / "hack-trtexec-fp32-trt8401.log")])
    filled = converted(found, ReplayForm.F5, Offers(select_build(log, None)))
    assert [entry.tactic for entry in filled] == [entry.tactic for entry in found.entries]
    conv = next(entry for entry in filled if entry.layer.startswith("Conv-4"))
    assert (conv.inputs[0].strides, conv.inputs[0].vectorized_dim) == ((6272, 1, 448, 32), -1)


def test_a_log_that_prints_no_formats_or_several_that_fit_fills_nothing() -> None:
    build = build_of("emulated-trtexec-8.6")
    entry = from_log("emulated-trtexec-8.6")[0].entries[0]
    chosen = next(c for c in build.choices if c.span == entry.span)
    poor = replace(
        entry,
        inputs=tuple(ReplayTensor(t.dtype, "HWC8") for t in entry.inputs),
        outputs=tuple(ReplayTensor(t.dtype, "HWC8") for t in entry.outputs),
    )
    unprinted = replace(build, choices=(replace(chosen, inputs=(), outputs=()),))
    with pytest.raises(NotExpressibleError, match="does not offer its tactic in these formats"):
        converted(replay(poor, form=ReplayForm.F2), ReplayForm.F5, Offers(unprinted))
    other = replace(chosen, inputs=tuple(text.replace("(", "(1", 1) for text in chosen.inputs))
    twice = replace(build, choices=(chosen, other))
    with pytest.raises(NotExpressibleError, match=f"several formats of the log fit: lines {chosen.span.line}"):
        converted(replay(poor, form=ReplayForm.F2), ReplayForm.F5, Offers(twice))
    symbolic = replace(build, choices=(replace(chosen, inputs=("Half((* 8 seq),64:8,8,1)",)),))
    with pytest.raises(NotExpressibleError, match=r"has no inputs\[0\].strides, and line .* does not tell it"):
        converted(replay(poor, form=ReplayForm.F2), ReplayForm.F5, Offers(symbolic))


def test_a_tensor_format_is_in_no_log() -> None:
    offers = Offers(build_of("emulated-trtexec-8.6"))
    with pytest.raises(NotExpressibleError, match=r"has no inputs\[0\].tensor_format .*No log prints it"):
        converted(from_log("emulated-trtexec-8.6")[0], ReplayForm.F4, offers)


def test_without_ids_in_the_log_any_runner_may_be_meant() -> None:
    build = build_of(ONE_PROFILE)
    with_ids, without = Offers(build), Offers(replace(build, runner_ids={}))
    assert with_ids.is_runner("CaskConvolution", 0x80000009)
    assert not with_ids.is_runner("CaskConvolution", 0x8000002F)
    assert not with_ids.is_runner("SomethingElse", 0x80000009)
    assert without.is_runner("CaskConvolution", 0x8000002F)


@for_each(
    ("name", "printed", "fits"),
    [
        ("LINEAR", "Float(784,784,28,1)", True),
        ("LINEAR", "Float(3136,1,1,1)", True),
        ("LINEAR", "Float(6272,1,448,32)", False),
        ("LINEAR", "Half(392,1:8,56,8)", False),
        ("HWC", "Float(6272,1,448,32)", True),
        ("HWC", "Float(784,784,28,1)", False),
        ("HWC8", "Half(392,1:8,56,8)", True),
        ("HWC8", "Half(784,1:4,56,8)", False),
        ("CHW2", "Half(784,1:2,28,1)", True),
        ("CHW32", "Int8(98,49:32,7,1)", True),
        ("LINEAR", "Float((* 784 seq),784,28,1)", True),
    ],
)
def test_a_tensor_format_is_compared_as_far_as_its_name_tells(name: str, printed: str, fits: bool) -> None:  # noqa: FBT001
    choice = replace(build_of(ONE_PROFILE).choices[0], layer="a", inputs=(printed,), outputs=())
    (combination,) = Offers(replace(build_of(ONE_PROFILE), choices=(choice,), cached=())).of("a")
    dtype = printed.partition("(")[0].upper()
    entry = ReplayEntry("a", 1, 1, (ReplayTensor(dtype, name),), (), choice.span)
    assert (combination.mismatches(entry) == []) is fits
