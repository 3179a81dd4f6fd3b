"""A replay becomes another form where the fields are there or a log gives them; a log becomes a replay."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.support.replays import CONV, ENTRIES, POOL, made, of_form
from tests.support.repository import LOGS
from trtforensics.errors import ForensicsError, UsageError
from trtforensics.graph.build import select_build
from trtforensics.model.log import SourceInfo
from trtforensics.model.replay import Replay, ReplayEntry, ReplayForm, ReplayTensor
from trtforensics.replay.converting import converted
from trtforensics.replay.edges import DataflowNode
from trtforensics.replay.from_log import LogReplay, replay_of
from trtforensics.replay.mixing import Mixer, across_cut, check_layers, common_form, mixed_entries
from trtforensics.replay.offers import Offers
from trtforensics.replay.writing import NotExpressibleError, signed, to_text
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.log import Build, CachedResult, Choice

NO_SOURCE = SourceInfo("made", 0, 0, "")


@cache
def build_of(name: str) -> Build:
    return select_build(load_build_log([str(LOGS / f"{name}.log")]), None)


@cache
def from_log(name: str) -> LogReplay:
    return replay_of(build_of(name), NO_SOURCE)


def replay(*entries: ReplayEntry, form: ReplayForm | None = ReplayForm.F5) -> Replay:
    return Replay(NO_SOURCE, form, "", entries)


@pytest.mark.corpus
def test_each_form_is_written_as_its_polygraphy_wrote_it_to_the_byte(replay_samples: Path) -> None:
    files = list(replay_samples.glob("polygraphy-*/*_0.json"))
    assert len(files) == 46
    for path in files:
        found = load_replay(str(path))
        assert found.form is not None
        assert to_text(converted(found, found.form), found.form).encode() == path.read_bytes(), path


@pytest.mark.corpus
def test_every_sample_of_form_f4_becomes_what_0_53_writes(replay_samples: Path) -> None:
    newest = (replay_samples / "polygraphy-0.53.6-rtx" / "good_0.json").read_bytes()
    for version in ("0.47.1", "0.48.1", "0.49.0", "0.49.7"):
        found = load_replay(str(replay_samples / f"polygraphy-{version}" / "good_0.json"))
        assert to_text(converted(found, ReplayForm.F5)).encode() == newest


def test_an_empty_replay_is_written_as_polygraphy_does() -> None:
    assert to_text(()) == '{\n    "replay": {},\n    "polygraphy_class": "TacticReplayData"\n}'


@pytest.mark.parametrize(
    ("unsigned", "number"), [(0, 0), ((1 << 63) - 1, (1 << 63) - 1), (1 << 63, -(1 << 63)), (2**64 - 1, -1)]
)
def test_tactics_are_written_signed(unsigned: int, number: int) -> None:
    assert signed(unsigned) == number
    assert f'"tactic": {number},' in to_text((replace(CONV, tactic=unsigned),))


@pytest.mark.parametrize(
    ("source", "target", "field"),
    [
        ("F1", "F5", "inputs[0].strides"),
        ("F2", "F3", "inputs[0].strides"),
        ("F3", "F4", "inputs[0].vectorized_dim"),
        ("F3", "F5", "inputs[0].vectorized_dim"),
        ("F5", "F4", "inputs[0].tensor_format"),
        ("F5", "F1", "inputs[0].tensor_format"),
    ],
)
def test_what_a_form_lacks_is_refused_by_layer_and_field(source: str, target: str, field: str, tmp_path: Path) -> None:
    found = load_replay(str(made(tmp_path, ReplayForm(source))))
    with pytest.raises(NotExpressibleError) as refusal:
        converted(found, ReplayForm(target))
    assert refusal.value.what == f"layer {CONV.layer!r} has no {field} in form {source}, and form {target} needs it"
    assert refusal.value.where.endswith(f"replay-{source}.json:3:9")


@pytest.mark.parametrize(
    ("source", "targets"), [("F4", "F1 F2 F3 F4 F5"), ("F3", "F1 F2 F3"), ("F2", "F1 F2"), ("F1", "F1 F2")]
)
def test_a_form_that_has_less_can_always_be_written(source: str, targets: str, tmp_path: Path) -> None:
    found = load_replay(str(made(tmp_path, ReplayForm(source))))
    for target in map(ReplayForm, targets.split()):
        path = tmp_path / "converted.json"
        path.write_text(to_text(converted(found, target), target))
        again = load_replay(str(path))
        assert again.form is target
        assert not again.problems
        for entry, original in zip(again.entries, ENTRIES, strict=True):
            assert entry.same_algorithm(of_form(of_form(original, ReplayForm(source)), target))


def test_null_packing_of_an_old_tensorrt_stays_null(tmp_path: Path) -> None:
    old = replace(CONV.inputs[0], vectorized_dim=None, components=None)
    path = made(tmp_path, ReplayForm.F4, (replace(CONV, inputs=(old,)),))
    text = to_text(converted(load_replay(str(path)), ReplayForm.F5))
    assert '"vectorized_dim": null,\n' in text


def test_a_log_gives_strides_and_packing() -> None:
    entries = from_log("emulated-trtexec-8.6").replay.entries
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


def test_a_replay_with_errors_is_not_converted_but_what_writing_mends_is(tmp_path: Path) -> None:
    path = made(tmp_path)
    text = path.read_text()
    path.write_text(text.replace(f'"tactic": {CONV.tactic}', '"tactic": 1.5'))
    with pytest.raises(NotExpressibleError, match=r":5:23: .*no integer"):
        converted(load_replay(str(path)), ReplayForm.F5)
    path.write_text("\ufeff" + text.replace(str(signed(POOL.tactic or 0)), str(POOL.tactic)), encoding="utf-8")
    broken = load_replay(str(path))
    assert {problem.code for problem in broken.problems} == {"encoding", "tactic-unsigned"}
    assert to_text(converted(broken, ReplayForm.F5)) == text


@pytest.mark.parametrize(("name", "layers"), [("emulated-trtexec-8.6", 7), ("emulated-python-10.16-two-profiles", 14)])
def test_a_log_becomes_a_replay_of_what_its_engine_uses(name: str, layers: int) -> None:
    build, found = build_of(name), from_log(name)
    assert len(found.replay.entries) == layers
    every: tuple[Choice | CachedResult, ...] = (*build.choices, *build.cached)
    by_line = {tuned.span.line: tuned for tuned in every}
    for entry in found.replay.entries:
        tuned = by_line[entry.span.line]
        assert (tuned.layer, tuned.tactic, tuned.final) == (entry.layer, entry.tactic, True)
        texts = [tensor.text for tensor in (*entry.inputs, *entry.outputs)]
        assert texts == [
            text.replace("Half", "HALF").replace("Float", "FLOAT").replace("Int32", "INT32")
            for text in (*tuned.inputs, *tuned.outputs)
        ]
    reasons = {one.layer: one.why for one in found.left_out}
    foreign = [entry.layer for entry in found.replay.entries if entry.layer.startswith("{ForeignNode[")]
    assert all("inside cannot be pinned" in reasons[layer] for layer in foreign)
    assert any("reformat layer" in why for why in reasons.values())


def test_a_cached_result_needs_the_runners_id_from_another_line() -> None:
    build = build_of("emulated-trtexec-10.16-three-passes")
    cached = [one for one in build.cached if one.final and not one.layer.startswith("Optimizer")]
    assert cached
    found = replay_of(replace(build, runner_ids={"SomeRunner": 1}), NO_SOURCE)
    reasons = {one.layer: one.why for one in found.left_out}
    for one in cached:
        assert f"no other line has that of {one.runner}" in reasons[one.layer]
        assert one.layer in {entry.layer for entry in from_log("emulated-trtexec-10.16-three-passes").replay.entries}


def test_symbolic_strides_an_untold_choice_and_logs_without_ids_are_not_guessed() -> None:
    build = build_of("emulated-trtexec-8.6")
    first = next(choice for choice in build.choices if choice.final)
    symbolic = replace(first, inputs=("Half((* 8 seq),64:8,8,1)",))
    found = replay_of(replace(build, choices=(symbolic,)), NO_SOURCE)
    assert found.replay.entries == ()
    assert "symbolic" in next(one.why for one in found.left_out if one.layer == first.layer)
    found = replay_of(replace(build, choices=(replace(first, inputs=(), outputs=()),), engine_layers=()), NO_SOURCE)
    assert [one.why for one in found.left_out] == ["the log does not print its formats"]
    found = replay_of(replace(build, choices=(replace(first, final=None),), engine_layers=()), NO_SOURCE)
    assert [one.why for one in found.left_out] == ["the log does not tell which of its choices the engine uses"]
    for lacking, what in (
        (replace(build, runner_ids={}), "no ids of runners"),
        (replace(build, choices=(), cached=()), "no autotuning"),
    ):
        with pytest.raises(ForensicsError, match=what):
            replay_of(lacking, NO_SOURCE)


BAD = (replace(CONV, tactic=7), POOL, replace(POOL, layer="only bad"))


def test_a_mix_takes_named_layers_from_bad_and_the_rest_from_good() -> None:
    good, bad = replay(*ENTRIES), replay(*BAD)
    mixer = Mixer(good, bad)
    assert mixer.layers == (*(entry.layer for entry in ENTRIES), "only bad")
    assert mixer.differing == (CONV.layer, ENTRIES[2].layer, "only bad")
    assert mixer.text(set()) == to_text(ENTRIES)
    assert mixer.text(set(mixer.layers)) == to_text(BAD)
    for take in ({CONV.layer}, {CONV.layer, "only bad"}, {POOL.layer}, {ENTRIES[2].layer}):
        assert mixer.text(take) == to_text(mixed_entries(good, bad, take))
    assert mixer.text({CONV.layer}) == to_text((BAD[0], *ENTRIES[1:]))


@pytest.mark.parametrize(
    ("good", "bad", "form"),
    [
        ("F5", "F5", "F5"),
        ("F4", "F5", "F5"),
        ("F4", "F4", "F5"),
        ("F1", "F1", "F1"),
        ("F1", "F2", "F2"),
        ("F3", "F3", "F3"),
        ("F2", "F3", "F2"),
    ],
)
def test_a_mix_has_the_newest_form_that_both_have(good: str, bad: str, form: str, tmp_path: Path) -> None:
    replays = [load_replay(str(made(tmp_path, ReplayForm(name)))) for name in (good, bad)]
    assert common_form(replays[0], replays[1]) == form
    path = tmp_path / "mixed.json"
    path.write_text(Mixer(replays[0], replays[1]).text({CONV.layer}))
    assert load_replay(str(path)).form == form


def test_forms_that_cannot_be_mixed_and_names_that_bad_lacks_are_refused(tmp_path: Path) -> None:
    old, new = (load_replay(str(made(tmp_path, form))) for form in (ReplayForm.F2, ReplayForm.F5))
    with pytest.raises(UsageError, match=r"F2.*F5.*no replay can hold together"):
        Mixer(old, new)
    with pytest.raises(UsageError, match=r"no entry of a layer 'conv1 \+ rel1'. Is 'conv1 \+ relu1' meant\?"):
        check_layers(new, ["conv1 + rel1"])
    assert common_form(replay(form=None), replay(form=None)) is ReplayForm.F5


def test_the_formats_across_a_cut_are_compared() -> None:
    nodes = (
        DataflowNode(CONV.layer, ("x",), ("y",)),
        DataflowNode(POOL.layer, ("y",), ("z",)),
        DataflowNode(ENTRIES[2].layer, ("z", "constant"), ("w",)),
    )
    entries = (*ENTRIES[:1], replace(POOL, inputs=CONV.inputs), ENTRIES[2])
    (first, second) = across_cut(nodes, entries, {POOL.layer})
    assert (first.edge.producer, first.edge.consumer, first.differs) == (CONV.layer, POOL.layer, True)
    assert (second.edge.producer, second.leaves, second.enters) == (POOL.layer, "HALF(392,1:8,56,8) HWC8", "")
    assert across_cut(nodes, entries, set()) == []


def test_a_log_that_prints_no_formats_or_several_that_fit_fills_nothing() -> None:
    build = build_of("emulated-trtexec-8.6")
    entry = from_log("emulated-trtexec-8.6").replay.entries[0]
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
        converted(from_log("emulated-trtexec-8.6").replay, ReplayForm.F4, offers)


def test_a_choice_that_lost_is_not_taken_though_it_stands_last() -> None:
    build = build_of("emulated-trtexec-8.6")
    won = next(choice for choice in build.choices if choice.final)
    lost = replace(won, tactic=1, final=False, span=replace(won.span, line=won.span.line + 1))
    found = replay_of(replace(build, choices=(won, lost)), NO_SOURCE)
    assert [entry.tactic for entry in found.replay.entries] == [won.tactic]
