"""Builds for tests of the comparison: replays of many random builds, and two logs that differ in one fusion."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FIRST, SECOND = 6596631851832846809, -6366799123142621607


def replay_text(tactics: Mapping[str, int], types: Mapping[str, str] | None = None) -> str:
    """Return a replay of form F5, as Polygraphy writes it; ``types`` are of outputs, HALF where not named."""

    def tensor(dtype: str) -> dict[str, Any]:
        place = {"strides": [784, 784, 28, 1], "vectorized_dim": -1, "components_per_element": 1}
        return {"dtype": f"DataType.{dtype}", **place, "polygraphy_class": "TensorInfo"}

    layers = {
        name: {
            "implementation": 2147483657,
            "tactic": tactic,
            "inputs": [tensor("HALF")],
            "outputs": [tensor((types or {}).get(name, "HALF"))],
            "polygraphy_class": "Algorithm",
        }
        for name, tactic in tactics.items()
    }
    return json.dumps({"replay": layers, "polygraphy_class": "TacticReplayData"}, indent=4)


def random_builds(layers: int, seed: int) -> Iterator[dict[str, int]]:
    """Give the tactics of one build after another, each layer's one of two at random."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    names = [f"conv{number} + relu{number}" for number in range(layers)]
    while True:
        yield {name: (FIRST if chance.random() < 0.5 else SECOND) + number for number, name in enumerate(names)}


def interacting_pair(folder: Path, *, layers: int, builds: int, seed: int) -> tuple[str, str]:
    """Write replays of random builds into ``good`` and ``bad``: bad are those with the first tactic at both culprits.

    Returns the culprits. Each of them has that tactic in some good build too.
    """
    chance = random.Random(seed)  # noqa: S311 - a simulation
    one, other = (f"conv{number} + relu{number}" for number in sorted(chance.sample(range(layers), 2)))
    for side in ("good", "bad"):
        (folder / side).mkdir(parents=True)
    for number, tactics in zip(range(builds), random_builds(layers, seed), strict=False):
        side = "bad" if tactics[one] > 0 and tactics[other] > 0 else "good"
        (folder / side / f"replay_N{number}.json").write_text(replay_text(tactics))
    return one, other


_LOG = """\
[11/21/2026-10:00:00] [V] [TRT] Original: 6 layers
{fusions}[11/21/2026-10:00:00] [V] [TRT] After vertical fusions: {count} layers
[11/21/2026-10:00:01] [V] [TRT] Engine Layer Information:
{layers}[11/21/2026-10:00:01] [I] [TRT] [MemUsageChange] TensorRT-managed allocation
"""
_FUSION = "[11/21/2026-10:00:00] [V] [TRT] {}: Fusing {} with {}\n"
_FUSIONS = {
    "relu1": ("ConvReluFusion", "conv1", "relu1"),
    "relu3": ("ConvReluFusion", "conv3", "relu3"),
}


def log_with(fused: bool, *, pool_tactic: int = 0x2) -> str:  # noqa: FBT001 - which of the two builds
    """Return a build's log in the form of 10.x; without ``fused``, conv1 and relu1 are layers of their own.

    Then the formats behind them change up to pool2, a reformat is put in before fc, and nothing else. ``pool_tactic``
    is that of pool5, which none of it touches.
    """
    half8, float1 = "Half[1,16:8,8,8]", "Half[1,16,8,8]"
    if fused:
        stem = [f"Layer(CaskConvolution): conv1 + relu1, Tactic: 0x{0xA1:016x}, x (Float[1,3,8,8]) -> r1 ({half8})"]
        between, into = half8, "p2"
    else:
        stem = [
            f"Layer(CaskConvolution): conv1, Tactic: 0x{0xA2:016x}, x (Float[1,3,8,8]) -> c1 (Float[1,16,8,8])",
            f"Layer(PointWiseV2): PWN(relu1), Tactic: 0x{0xA3:016x}, c1 (Float[1,16,8,8]) -> r1 ({float1})",
        ]
        between, into = float1, "Reformatted Input Tensor 0 to conv3 + relu3"
    layers = [
        *stem,
        f"Layer(CaskPooling): pool2, Tactic: 0x{0xB1 if fused else 0xB2:016x}, r1 ({between}) -> p2 ({between})",
    ]
    if not fused:
        name = "Reformatting CopyNode for Input Tensor 0 to conv3 + relu3"
        layers.append(f"Layer(Reformat): {name}, Tactic: 0x{0x3E8:016x}, p2 ({between}) -> {into} ({half8})")
    layers += [
        f"Layer(CaskConvolution): conv3 + relu3, Tactic: 0x{0xC1:016x}, {into} ({half8}) -> r3 ({half8})",
        f"Layer(CaskPooling): pool5, Tactic: 0x{pool_tactic:016x}, r3 ({half8}) -> y (Float[1,16,4,4])",
    ]
    fusions = [_FUSIONS[name] for name in (("relu1", "relu3") if fused else ("relu3",))]
    return _LOG.format(
        fusions="".join(_FUSION.format(*one) for one in fusions),
        count=len(layers),
        layers="".join(f"{layer}\n" for layer in layers),
    )
