"""Masks before a Softmax: values so low that their weight is zero, which 16 bits need not hold.

Exporters mask attention by adding a very low number to the scores, or by selecting it. Below the end of the 16-bit type
it becomes the lowest value or minus infinity, and its weight is zero as in FP32. Only a row that is masked everywhere
is another matter: FP32 spreads its weights by what is left of the scores beside the mask, and 16 bits by other rests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy.typing as npt
    import onnx

    from trtforensics.bisect.precision.casting.eligibility import Survey

_SOFTMAX = frozenset({"LogSoftmax", "Softmax"})
_CARRIES = frozenset(
    {
        *("Add", "Concat", "Expand", "Identity", "Reshape", "Slice", "Squeeze", "Sub", "Tile", "Transpose"),
        *("Unsqueeze", "Where"),
    }
)
"""Through these, a very low value stays one."""

_FIRST_WITH_ONE_AXIS = 13
"""Before this operator set, Softmax takes all dimensions from its axis on as one row, and that axis is 1 by default."""

_SHOWN = 3


def mask_paths(survey: Survey) -> dict[str, frozenset[str]]:
    """Return the tensors that lead to nothing but Softmax nodes, through nodes that keep low values low, with these."""
    paths: dict[str, set[str]] = {}
    ahead = [(node.input[0], name) for name, node in survey.nodes.items() if node.op_type in _SOFTMAX]
    while ahead:
        tensor, softmax = ahead.pop()
        if softmax in paths.setdefault(tensor, set()):
            continue
        paths[tensor].add(softmax)
        producer = survey.nodes.get(survey.producers.get(tensor, ""))
        if producer is not None and producer.op_type in _CARRIES:
            ahead += [(name, softmax) for name in producer.input if name]
    return {
        tensor: frozenset(reached)
        for tensor, reached in paths.items()
        if all(survey.nodes[use.node].op_type in _SOFTMAX | _CARRIES for use in survey.uses.get(tensor, ()))
    }


def rows_without_keys(node: onnx.NodeProto, scores: npt.NDArray[Any], lowest: float, opset: int) -> int:
    """Count the rows of a Softmax's input that are masked everywhere: all of their values are below ``lowest``."""
    attribute = next((each.i for each in node.attribute if each.name == "axis"), None)
    if opset >= _FIRST_WITH_ONE_AXIS:
        low = (scores < lowest).all(axis=-1 if attribute is None else attribute)
    else:
        axis = (1 if attribute is None else attribute) % max(scores.ndim, 1)
        low = (scores < lowest).reshape(*scores.shape[:axis], -1).all(axis=-1)
    return int(np.count_nonzero(low)) if scores.size else 0


def mask_notes(masked: Mapping[str, int], empty: Mapping[str, int], narrow: str) -> list[str]:
    """Return what the answer says of masks: tensors with masked values, and Softmax nodes with rows without keys."""
    notes = []
    if masked:
        shown = ", ".join(f"{name} ({count})" for name, count in list(masked.items())[:_SHOWN])
        more = f" and {len(masked) - _SHOWN} more" if len(masked) > _SHOWN else ""
        notes.append(
            f"values below the end of {narrow} only mask positions for a Softmax, which weighs them 0 as in FP32: "
            f"{shown}{more}"
        )
    for name, rows in empty.items():
        notes.append(
            f"{name} has {rows} rows that are masked everywhere. Their weights follow from what rounding leaves of the "
            f"scores beside the mask, in FP32 as in {narrow}, and mean nothing: a repair that is needed for them alone "
            "is not needed where nobody reads such rows"
        )
    return notes
