"""The forecast of ``bisect precision --dry-run``: what a search for nodes that must stay FP32 would cost."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from math import ceil, log2

SCHEMA = 1
KIND = "precision-forecast"
_BEYOND_HALVING = 9
"""Probes that a search for two nodes takes beside those that halve the items."""
_BUILDS = {"none": "no build", "every": "as many builds", "certificate": "4 or more real builds at the end"}


@dataclass(frozen=True, slots=True)
class PrecisionForecast:
    """The items of a search for nodes that must stay FP32, and the search's cost.

    ``probes`` is how many probes one set of two nodes takes at most, on the CPU. ``builds`` says which of them are
    built: ``none``, ``every`` or ``certificate``. ``builder`` is the module that builds, None where none is installed.
    """

    schema: int
    kind: str
    mode: str
    nodes: int
    items: tuple[str, ...]
    probes: int
    builds: str
    builder: str | None

    def to_json(self) -> str:
        """Return the forecast as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"

    def text(self) -> str:
        """Return the forecast as text."""
        builder = f"with {self.builder}" if self.builder else "(no TensorRT is installed: none will run)"
        return (
            f"{self.nodes} nodes in {len(self.items)} items (tensors, and readers of clamped constants).\n"
            f"One set of two nodes: up to {self.probes} probes on the CPU, {_BUILDS[self.builds]} {builder}.\n"
        )


def precision_forecast(items: tuple[str, ...], nodes: int, builds: str, builder: str | None) -> PrecisionForecast:
    """Work out what a search over named items costs.

    ``nodes`` counts the nodes of the model that the items cover.
    """
    probes = ceil(log2(max(1, len(items)))) + _BEYOND_HALVING
    return PrecisionForecast(SCHEMA, KIND, "precision", nodes, items, probes, builds, builder)
