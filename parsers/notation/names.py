"""Reads the name of an engine layer (its members, its profile) and the ONNX nodes of its metadata.

Names have the forms of TensorRT 7 to 11 (see ``grammar/nested_rules/name.lark``). Metadata, since 8.6, is a list of
items such as ``[ONNX Layer: a]`` with 0x1E (TensorRT) or 0x1F (Myelin) between them.
"""

import re
from functools import lru_cache

from trtforensics.parsers.grammar import nested
from trtforensics.parsers.notation import plain

_PROFILE = re.compile(r" \[profile (\d{1,18})\]")
_OF_PROFILE = " [profile "
"""Looking for this text before the regex is several times as fast, because most names do not hold it."""
_REFORMAT = re.compile(r"(?:Reformatting CopyNode|Reformatted) (?:for )?(?:Input|Output) (?:Tensor )?\d+ to ")
_OF_REFORMAT = "Reformat"
_KERNEL = re.compile(r"(.*)_myl(\d{1,18})_\d+")
_OF_MYELIN = "_myl"
_TRIED_REFORMAT = "Optimizer Reformat"
_MYELIN_MADE = ("__myl_", "__mye", "__myln")
_HELPER = re.compile(
    r"\(Unnamed Layer\* \d+\) \[|ONNXTRT_|shuffle_between_"
    r"|(?:copied_)?(?:un)?squeeze_(?:node_)?(?:after|before)_|reshape_(?:after|before)_"
)
_ITEM = "[ONNX Layer: "
_SEPARATORS = re.compile("[\x1e\x1f]|(?<=\\])(?=\\[ONNX Layer: )")


def profile_of(name: str) -> int | None:
    """Return the optimisation profile in a name (`` [profile 1]``); None for the first or only profile."""
    profile = _PROFILE.search(name) if _OF_PROFILE in name else None
    return int(profile.group(1)) if profile else None


def without_profile(name: str) -> str:
    """Return a name without its profile suffix."""
    return _PROFILE.sub("", name) if _OF_PROFILE in name else name


def is_reformat(name: str) -> bool:
    """Whether TensorRT inserted a layer or tensor to change a format."""
    return name.startswith(_OF_REFORMAT) and _REFORMAT.match(name) is not None


def is_helper(name: str) -> bool:
    """Whether the ONNX parser made up this name: for a layer that it put in, or for one that it left unnamed.

    Such names hold running numbers (``ONNXTRT_Broadcast_4``, ``(Unnamed Layer* 17) [ElementWise]``), which change with
    the version of TensorRT.
    """
    return _HELPER.match(name) is not None


def is_generated(name: str) -> bool:
    """Whether Myelin named this itself."""
    return name.startswith(_MYELIN_MADE)


def is_tried_reformat(name: str) -> bool:
    """Whether this is a change of format that the optimiser timed (``Optimizer Reformat(x -> <out>)``), no layer."""
    return name.startswith(_TRIED_REFORMAT)


def myelin_graph(name: str) -> int | None:
    """Return the number of the ForeignNode whose kernel this is (``…_myl7_1``: 7), or None."""
    kernel = _KERNEL.fullmatch(without_profile(name)) if _OF_MYELIN in name else None
    return int(kernel.group(2)) if kernel else None


@lru_cache(maxsize=1 << 16)
def members(name: str) -> tuple[str, ...]:
    """Return the names of the network layers that were fused into an engine layer, without profile suffixes.

    A ForeignNode has its two end points as members; only its metadata names the layers between them. A reformat and a
    kernel that Myelin named itself have none. A name that is no fusion is its own only member.
    """
    name = without_profile(name)
    if is_reformat(name) or is_generated(name):
        return ()
    kernel = _KERNEL.fullmatch(name)
    fused = kernel.group(1) if kernel else name
    parts = plain.members(fused) or _nested(fused)
    return (name,) if parts is None else tuple(dict.fromkeys(parts))


def _nested(name: str) -> list[str] | None:
    tree = nested.parse("name", name)
    if tree is None:
        return None
    ends = (plain.ends(token) if token.type == "RANGE" else (token,) for token in nested.tokens(tree))
    return [str(end) for both in ends for end in both]


@lru_cache(maxsize=1 << 14)
def onnx_nodes(metadata: str) -> tuple[str, ...]:
    """Return the ONNX nodes that a metadata text names, in order, each once.

    In a subgraph (``[ONNX Layer: mul | then_g (then_branch) | if (If)]``) the node is the first part.
    Where a terminal or a web page removed the separators, items are split at ``][``.
    """
    items = (item.strip() for item in _SEPARATORS.split(metadata))
    paths = (item[len(_ITEM) : -1] for item in items if item.startswith(_ITEM) and item.endswith("]"))
    return tuple(dict.fromkeys(path.partition(" | ")[0] for path in paths if path))
