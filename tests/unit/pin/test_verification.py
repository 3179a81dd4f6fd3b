"""Whether a later build used what was pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.pin_logs import KEY, OTHER, WON, V, key_log, layer_log
from trtforensics.pin.conditions import PinConditions
from trtforensics.pin.keys import pinnable_keys
from trtforensics.pin.layers import pinnable_layers
from trtforensics.pin.plan import plan
from trtforensics.pin.verification import PinUse, verify_keys, verify_layers
from trtforensics.pin.writing import keys_of_plan, replay_of_plan
from trtforensics.render.cache import of_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog
    from trtforensics.model.replay import Replay
    from trtforensics.model.timing_cache import TimingCache

    Load = Callable[[str], BuildLog]

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


def test_the_engines_own_layer_tells_where_nothing_was_tuned(load: Load) -> None:
    for tactic, use in ((WON, PinUse.USED), (OTHER, PinUse.NOT_USED)):
        dump = "".join(f"{line}\n" for line in layer_log(tactic).splitlines() if "Engine" in line or "Layer(" in line)
        (proof,) = verify_layers(replay(load), [load(dump)])
        assert (proof.use, proof.span.line if proof.span else None) == (use, 2)


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
