"""Whether a later build used what was pinned."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from tests.support.pin_logs import KEY, OTHER, WON, V, key_log, layer_log
from trtforensics.model.span import SourceSpan
from trtforensics.pin.conditions import PinConditions
from trtforensics.pin.pinnable import pinnable_keys, pinnable_layers
from trtforensics.pin.plan import keys_of_plan, plan, replay_of_plan
from trtforensics.pin.verification import PinProof, PinUse, verify_keys, verify_layers, without_proof
from trtforensics.render.cache import of_log
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.engine import TimingCache
    from trtforensics.model.log import BuildLog
    from trtforensics.model.replay import Replay

    Load = Callable[[str], BuildLog]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Return what parses a text, each text once."""

    @cache
    def parse(text: str) -> BuildLog:
        path = tmp_path_factory.mktemp("pin") / "build.log"
        path.write_text(text, encoding="utf-8")
        return load_build_log([str(path)])

    return parse


SILENT = f"{V}Original: 1 layers\n"


def replay(load: Load) -> Replay:
    return replay_of_plan(plan(pinnable_layers([load(layer_log())]), PinConditions()))


def keys(load: Load) -> TimingCache:
    pinnable = pinnable_keys([load(key_log())])
    assert pinnable.base is not None
    return keys_of_plan(plan(pinnable, PinConditions()), pinnable.base)


def test_a_layer_is_used_not_used_or_unknown(load: Load) -> None:
    pinned = replay(load)
    uses = []
    for text in (layer_log(), layer_log(OTHER), SILENT):
        (proof,) = verify_layers(pinned, [load(text)])
        uses.append((proof.use, proof.span.line if proof.span else None))
    assert uses == [(PinUse.USED, 5), (PinUse.NOT_USED, 5), (PinUse.UNKNOWN, None)]


def test_other_formats_are_another_tactic(load: Load) -> None:
    (proof,) = verify_layers(replay(load), [load(layer_log().replace("(8,4,2,1)", "(8,1,4,2)"))])
    assert (proof.use, proof.what) == (PinUse.NOT_USED, "runs it in other formats")


def test_an_engines_own_layer_without_formats_disproves_and_proves_nothing(load: Load) -> None:
    for tactic, use in ((WON, PinUse.UNKNOWN), (OTHER, PinUse.NOT_USED)):
        dump = "".join(f"{line}\n" for line in layer_log(tactic).splitlines() if "Engine" in line or "Layer(" in line)
        (proof,) = verify_layers(replay(load), [load(dump)])
        assert (proof.use, proof.span.line if proof.span else None) == (use, 2)


DUMPED = (
    V + "Engine Layer Information:\n" + V + "Name: conv, LayerType: CaskConvolution, Inputs: [ {{ Name: x, "
    "Dimensions: [1,8,2,2], Format/Datatype: {} }}], Outputs: [ {{ Name: y, Dimensions: [1,8,2,2], Format/Datatype: {} "
    "}}], TacticName: k, TacticValue: {}\n"
)
LINEAR, WIDE = "Row major linear FP16 format", "Thirty-two wide channel vectorized row major Int8 format"


@for_each(
    ("formats", "tactic", "use"),
    [
        ((LINEAR, LINEAR), WON, PinUse.USED),
        ((LINEAR, LINEAR), OTHER, PinUse.NOT_USED),
        ((LINEAR, "Row major linear FP32"), WON, PinUse.NOT_USED),
        ((WIDE, LINEAR), WON, PinUse.NOT_USED),
        (("Channel major FP16 format where channel % 8 == 0", LINEAR), WON, PinUse.NOT_USED),
        ((LINEAR, "Half"), WON, PinUse.UNKNOWN),
    ],
)
def test_a_detailed_dump_proves_by_tactic_and_formats(
    load: Load, formats: tuple[str, str], tactic: str, use: PinUse
) -> None:
    (proof,) = verify_layers(replay(load), [load(DUMPED.format(*formats, tactic))])
    assert proof.use is use, proof.what


CHANGES = {
    "tactic": (f"Tactic: {WON}", f"Tactic: {OTHER}"),
    "runner": ("CaskConvolution[0x80000009]", "CaskConvolution[0x80000010]"),
    "type": (" Half(8,4,2,1) ->", " Float(8,4,2,1) ->"),
    "strides": ("-> Half(8,4,2,1)", "-> Half(8,1,4,2)"),
    "packing": ("-> Half(8,4,2,1)", "-> Half(8,4:2,2,1)"),
    "number": ("Half(8,4,2,1) ->", "Half(8,4,2,1), Half(8,4,2,1) ->"),
}
SILENCED = {
    "symbolic strides": ("-> Half(8,4,2,1)", "-> Half((* E0 8),4,2,1) where E0=n"),
    "no formats": ("Autotuning format combination: Half(8,4,2,1) -> Half(8,4,2,1)", "Something else"),
}


FORMS = {
    "F1 and F2": {"format": "LINEAR", "strides": None, "vectorized_dim": None, "components": None},
    "F3": {"format": "LINEAR", "vectorized_dim": None, "components": None},
    "F4": {"format": "LINEAR"},
    "F5": {},
}


@for_each("form", FORMS.values(), ids=list(FORMS))
@for_each("changed", [names for size in range(3) for names in combinations(CHANGES, size)])
def test_used_is_said_only_where_everything_agrees(load: Load, form: dict[str, Any], changed: tuple[str, ...]) -> None:
    whole = replay(load)
    (entry,) = whole.entries
    sides = [tuple(replace(tensor, **form) for tensor in side) for side in (entry.inputs, entry.outputs)]
    pinned = replace(whole, entries=(replace(entry, inputs=sides[0], outputs=sides[1]),))
    text = layer_log()
    for name in changed:
        text = text.replace(*CHANGES[name])
    (proof,) = verify_layers(pinned, [load(text)])
    assert (proof.use is PinUse.USED) is (not changed), proof.what
    if not {"type", "packing"}.intersection(changed):  # of those the engine dump shows that the choice is not its own
        assert proof.use is not PinUse.UNKNOWN
    for silence in SILENCED.values():
        (proof,) = verify_layers(pinned, [load(text.replace(*silence))])
        assert proof.use is not PinUse.USED


def test_a_small_tactic_without_the_id_of_its_runner_proves_nothing(load: Load) -> None:
    small = layer_log().replace(WON, "0x0000000000000007")
    pinned = replay_of_plan(plan(pinnable_layers([load(small)]), PinConditions()))
    uses = [verify_layers(pinned, [load(text)])[0].use for text in (small, small.replace("[0x80000009]", ""))]
    assert uses == [PinUse.USED, PinUse.UNKNOWN]


def test_proofs_of_nothing_and_of_another_network_are_named() -> None:
    def proofs(*counts: int) -> list[PinProof]:
        used, not_used, known, unknown = counts
        span = SourceSpan("b.log", 3, 0)
        return [
            *[PinProof("a", PinUse.USED, "", span)] * used,
            *[PinProof("a", PinUse.NOT_USED, "", span)] * not_used,
            *[PinProof("a", PinUse.UNKNOWN, "", span)] * known,
            *[PinProof("a", PinUse.UNKNOWN, "the log shows no such layer")] * unknown,
        ]

    for counts in product(range(4), repeat=4):
        if any(counts):
            used, not_used, known, unknown = counts
            nothing, another = not (used + not_used), used + not_used + known < unknown
            why = without_proof(proofs(*counts))
            assert why.startswith("nothing could be shown" if nothing else "this seems to be" if another else ""), why
            assert bool(why) is (nothing or another)


def test_a_log_that_contradicts_outweighs_one_that_agrees(load: Load) -> None:
    pinned, agrees = replay(load), load(layer_log())
    (proof,) = verify_layers(pinned, [agrees, load(layer_log(OTHER))])
    assert proof.use is PinUse.NOT_USED


def test_a_key_is_judged_by_the_cache_and_by_what_was_measured_again(load: Load) -> None:
    pinned = keys(load)
    same, other = load(key_log()), load(key_log(OTHER))
    caches = [of_log(same), of_log(other)]
    uses = [verify_keys(pinned, [], [cache])[0].use for cache in caches]
    uses += [verify_keys(pinned, [log], [])[0].use for log in (same, other, load(SILENT))]
    assert uses == [PinUse.USED, PinUse.NOT_USED, PinUse.USED, PinUse.NOT_USED, PinUse.UNKNOWN]
    (proof,) = verify_keys(pinned, [other], [])
    assert proof.name == f"mm {KEY}"
    assert proof.what == f"TensorRT measured it again and took tactic {OTHER} instead of tactic {WON}"
