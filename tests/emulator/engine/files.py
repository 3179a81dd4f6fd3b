"""The files of a build: Polygraphy's tactic replays in all their forms, our engines and timing caches, culprits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.emulator.engine.builder import CacheEntry
from tests.emulator.engine.net import table
from tests.emulator.engine.network import FLOAT_NHWC, HALF_2, HALF_8, Format

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.emulator.engine.builder import Build
    from tests.emulator.engine.net import Algorithm, Layer, Net
    from tests.emulator.log.event import Version

PLAN_MAGIC = b"ftrt"
PLAN_HEADER = 32
"""Bytes before our JSON; TensorRT's version stands at 24, as in a real plan."""

CACHE_KIND = "emulated timing cache"
CACHE_MAGIC = b"emulated cache\0\0"
"""What a cache begins with: like TensorRT's own, it is no text."""

ENGINE_KIND = "emulated engine"

DATA_TYPES = {"Float": "FLOAT", "Half": "HALF", "Int32": "INT32"}
TENSOR_FORMATS = {FLOAT_NHWC: "HWC", HALF_2: "CHW2", HALF_8: "HWC8"}
"""What `TensorFormat` calls our formats; the rest is LINEAR."""

Document = dict[str, Any]


class BadFile(Exception):  # noqa: N818 - says what the file is, not that we failed
    """A file that is not what it should be."""


# ---- tactic replays ------------------------------------------------------------------------------------------------


class TensorInfo(NamedTuple):
    """An input or output in a replay; None where the form does not say."""

    tensor_format: str | None
    dtype: str
    strides: tuple[int, ...] | None
    vectorized_dim: int | None
    components_per_element: int | None

    def __str__(self) -> str:
        return f"TensorInfo({self.dtype}, {self.strides}, {self.vectorized_dim}, {self.components_per_element})"

    def fits(self, other: TensorInfo) -> bool:
        """Whether nothing that both of them say differs."""
        pairs = zip(self, other, strict=True)
        return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


class Recorded(NamedTuple):
    """What a replay says of a layer; the tactic is signed there."""

    implementation: int
    tactic: int
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]

    def __str__(self) -> str:
        inputs, outputs = (f"({', '.join(map(str, side))},)" for side in (self.inputs, self.outputs))
        return f"(Implementation: {self.implementation}, Tactic: {self.tactic}) | Inputs: {inputs} | Outputs: {outputs}"

    def fits(self, other: Recorded) -> bool:
        """Whether both are the same algorithm, as far as a replay's form can tell."""
        if (self.implementation ^ other.implementation) & 0xFFFFFFFF or self.tactic != other.tactic:
            return False
        sides = ((self.inputs, other.inputs), (self.outputs, other.outputs))
        return all(len(mine) == len(theirs) and all(map(TensorInfo.fits, mine, theirs)) for mine, theirs in sides)


def signed(tactic: int) -> int:
    """Return a 64-bit id as the signed number of a replay."""
    return tactic - (1 << 64) if tactic >= 1 << 63 else tactic


def tensor_info(layout: Format, dims: tuple[int, ...]) -> TensorInfo:
    """Return what a replay says of a tensor in a format."""
    tensor_format = TENSOR_FORMATS.get(layout, "LINEAR")
    vectorised = layout.vectorised(dims)
    return TensorInfo(
        f"TensorFormat.{tensor_format}", f"DataType.{DATA_TYPES[layout.dtype]}", layout.steps(dims), *vectorised
    )


def recorded(net: Net, layer: Layer, algorithm: Algorithm) -> Recorded:
    """Return what a replay says of a layer that runs with an algorithm."""
    inputs, outputs = (
        tuple(tensor_info(layout, dims_of(net, layer, name)) for name, layout in zip(names, formats, strict=True))
        for names, formats in ((layer.inputs, algorithm.inputs), (layer.outputs, algorithm.outputs))
    )
    return Recorded(algorithm.implementation, signed(algorithm.tactic), inputs, outputs)


def dims_of(net: Net, layer: Layer, tensor: str) -> tuple[int, ...]:
    """Return a tensor's dimensions; what a reformat makes has those of what it reads."""
    known = net.dims.get(tensor)
    if known is None:
        known = next(net.dims[name] for name in (*layer.inputs, *layer.outputs) if name in net.dims)
    return known


def replay_document(entries: Mapping[str, Recorded], form: str) -> Document:
    """Return a replay as Polygraphy writes it: ``form`` F1 (0.27) to F5 (since 0.49.2)."""
    mark = "__polygraphy_encoded_{}" if form == "F1" else "polygraphy_class"

    def marked(name: str, content: Document) -> Document:
        value = "polygraphy_serialized_json_type" if form == "F1" else name
        return {**content, mark.format(name): value}

    def end(info: TensorInfo) -> object:
        pair = [info.tensor_format, info.dtype]
        if form in {"F1", "F2"}:
            return pair
        if form == "F3":
            return [*pair, info.strides]
        content = {**info._asdict(), "strides": list(info.strides or ())}
        if form == "F5":
            del content["tensor_format"]
        return marked("TensorInfo", content)

    layers = {
        name: marked(
            "Algorithm",
            {
                "implementation": entry.implementation,
                "tactic": entry.tactic,
                "inputs": [*map(end, entry.inputs)],
                "outputs": [*map(end, entry.outputs)],
            },
        )
        for name, entry in entries.items()
    }
    return marked("TacticReplayData", {"replay": layers})


def read_replay(path: str | Path) -> dict[str, Recorded]:
    """Read a tactic replay of any form.

    Raises:
        BadFile: It is none.
    """
    try:
        layers = json.loads(Path(path).read_bytes())["replay"]
        return {
            name: Recorded(
                entry["implementation"], entry["tactic"], *(tuple(map(_info, entry[side])) for side in _SIDES)
            )
            for name, entry in layers.items()
        }
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile(f"{path}: Provided JSON cannot be decoded into a TacticReplayData.") from error


_SIDES = ("inputs", "outputs")


def _info(entry: Any) -> TensorInfo:
    if isinstance(entry, list):
        strides = tuple(entry[2]) if len(entry) > 2 else None
        return TensorInfo(entry[0], entry[1], strides, None, None)
    vectorised = entry["vectorized_dim"], entry["components_per_element"]
    return TensorInfo(entry.get("tensor_format"), entry["dtype"], tuple(entry["strides"]), *vectorised)


# ---- timing caches -------------------------------------------------------------------------------------------------


def cache_bytes(entries: Mapping[int, CacheEntry], version: Version) -> bytes:
    """Return a timing cache as a file holds it."""
    rows = {f"0x{place:032x}": [f"0x{entry.tactic:x}", entry.ms] for place, entry in entries.items()}
    return CACHE_MAGIC + json.dumps({"kind": CACHE_KIND, "version": list(version), "entries": rows}).encode()


def read_cache(content: bytes, version: Version) -> dict[int, CacheEntry]:
    """Read a timing cache.

    Raises:
        BadFile: It is none, or it was written by another version.
    """
    try:
        document = json.loads(content.removeprefix(CACHE_MAGIC))
        if document["kind"] != CACHE_KIND or tuple(document["version"]) != version:
            raise BadFile("Magic tag does not match")
        rows = document["entries"].items()
        return {int(place, 16): CacheEntry(int(tactic, 16), ms) for place, (tactic, ms) in rows}
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile("Magic tag does not match") from error


# ---- engines -------------------------------------------------------------------------------------------------------


def engine_bytes(build: Build, version: Version, *, luck: float, **more: object) -> bytes:
    """Return an engine: what was chosen for every layer. ``luck`` (0 to 1) is what a check may let decide."""
    net = build.net
    chosen = {decision.layer.name: decision.algorithm.inputs[0].dtype for decision in build.decisions}
    document = {
        "kind": ENGINE_KIND,
        "net": net.name,
        "luck": luck,
        "layers": [
            {
                "name": decision.layer.name,
                "runner": decision.algorithm.runner,
                "tactic": f"0x{decision.algorithm.tactic:016x}",
                "kernel": decision.algorithm.kernel,
                "algorithm": str(recorded(net, decision.layer, decision.algorithm)),
                "precision": decision.algorithm.inputs[0].dtype,
                "nodes": [node.name for node in decision.layer.nodes],
            }
            for decision in build.decisions
        ],
        "keys": {
            **{f"0x{place:032x}": f"0x{entry.tactic:x}" for place, entry in (build.request.cache or {}).items()},
            **{f"0x{row.key:032x}": f"0x{row.tactic:x}" for row in build.inner if chosen.get(row.layer) == row.dtype},
        },
        "kernels": {
            f"0x{row.key:032x}": tactic.kernel
            for row in build.inner
            if chosen.get(row.layer) == row.dtype
            for tactic in table(row.layer, row.operation.name, row.dtype)
            if tactic.tactic == row.tactic
        },
        **more,
    }
    header = PLAN_MAGIC + bytes(20) + bytes((*version, 0))
    return header.ljust(PLAN_HEADER, b"\0") + json.dumps(document).encode()


def read_engine(content: bytes) -> Document:
    """Read an engine.

    Raises:
        BadFile: It is none of ours.
    """
    if not content.startswith(PLAN_MAGIC):
        raise BadFile("Magic tag does not match")
    try:
        document: Document = json.loads(content[PLAN_HEADER:])
    except ValueError as error:
        raise BadFile("Magic tag does not match") from error
    if document.get("kind") != ENGINE_KIND:
        raise BadFile("Magic tag does not match")
    return document


# ---- hidden culprits -----------------------------------------------------------------------------------------------


def culprits_of(replay: str | Path, *sets: Sequence[str]) -> list[list[Document]]:
    """Return conditions that hold where every layer of a set runs as a replay says."""
    entries = read_replay(replay)
    return [[{"layer": name, "algorithm": str(entries[name])} for name in members] for members in sets]


def present(engine: Document, sets: Sequence[Sequence[Document]]) -> bool:
    """Whether all conditions of some set hold for an engine.

    A condition is one of: ``layer`` runs ``algorithm`` (as the engine spells it), or a kernel whose name has the types
    ``kernel``; ``key`` has ``tactic`` (both in hex), or likewise ``kernel``;
    ``node`` (ONNX) runs in ``precision``; ``fused`` are ONNX nodes that share a layer; ``route`` is a token of the
    build route, ``not routed`` one that is not in it.
    """
    layers = {layer["name"]: layer for layer in engine["layers"]}
    nodes = {node: layer for layer in engine["layers"] for node in layer["nodes"]}

    def holds(condition: Document) -> bool:
        match condition:
            case {"layer": name, **wanted}:
                return name in layers and _runs(layers[name], wanted)
            case {"key": place, **wanted}:
                has = {"tactic": engine["keys"].get(place), "kernel": engine.get("kernels", {}).get(place, "")}
                return _runs(has, wanted)
            case {"node": node, "precision": precision}:
                return node in nodes and nodes[node]["precision"] == precision
            case {"fused": members}:
                return len({nodes[member]["name"] for member in members}) == 1
            case {"route": token}:
                return token in engine["route"]
            case {"not routed": token}:
                return token not in engine["route"]
        raise BadFile(f"unknown condition: {condition}")

    return any(all(map(holds, conditions)) for conditions in sets)


def _runs(has: Document, wanted: Document) -> bool:
    """Whether all that is wanted is there; of a kernel, a part of its name."""
    return all(value in has[name] if name == "kernel" else has[name] == value for name, value in wanted.items())


def read_sets(path: str | Path) -> list[list[Document]]:
    """Read a file of hidden sets."""
    found: list[list[Document]] = json.loads(Path(path).read_bytes())
    return found
