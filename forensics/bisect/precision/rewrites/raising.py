"""Models whose operator set has no BF16, converted to one that has it.

ONNX operators compute in BF16 from operator set 13 on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import version_converter

from trtforensics.bisect.precision.casting.preparation import rewritten
from trtforensics.bisect.precision.casting.storage import BF16
from trtforensics.bisect.precision.remarks import FIRST_WITH_BF16, operator_set
from trtforensics.bisect.precision.rewrites.equality import EQUAL, difference
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from trtforensics.bisect.precision.casting.preparation import PreparedModel
    from trtforensics.bisect.precision.casting.storage import Storage
    from trtforensics.bisect.precision.emulation.oracle import Oracle

_NEXT = "Export it with operator set 13 or later, or ask for `--precision fp16`"


def raised_for(prepared: PreparedModel, storage: Storage) -> PreparedModel:
    """Return the model in an operator set that knows the type: the model itself if its own does.

    Raises:
        SourceError: onnx.version_converter cannot convert it.
    """
    version = operator_set(prepared.proto)
    if storage is not BF16 or version >= FIRST_WITH_BF16:
        return prepared
    if prepared.streamed:
        what = f"{_lacking(version)}; onnx.version_converter does not convert models of more than 2 GB"
        raise SourceError(prepared.path, what, _NEXT)
    try:
        proto = version_converter.convert_version(prepared.proto, FIRST_WITH_BF16)
        return rewritten(prepared, proto, _converted(version))
    except (RuntimeError, SourceError, ValueError) as error:
        reason = error.what if isinstance(error, SourceError) else " ".join(str(error).split())[:200].rstrip(".")
        raise SourceError(
            prepared.path, f"{_lacking(version)}; onnx.version_converter does not convert it: {reason}", _NEXT
        ) from error


def require_equal(oracle: Oracle, original: PreparedModel) -> None:
    """Require that a converted model computes what the original does, on the samples of the converted one's oracle.

    Raises:
        RunError: ONNX Runtime cannot run the original.
        SourceError: They differ.
    """
    found = difference(oracle, original.proto)
    if found is None or found > EQUAL:
        by = "in what is finite" if found is None else f"by {found:.1g} of the largest magnitude"
        what = f"{_lacking(operator_set(original.proto))}; what onnx.version_converter makes of it differs {by} in FP32"
        raise SourceError(original.path, what, _NEXT)


def _lacking(version: int) -> str:
    return f"uses operator set {version}, in which no operator computes in BF16 (from {FIRST_WITH_BF16} on)"


def _converted(version: int) -> str:
    return (
        f"operator set {version} has no BF16: all results are of the model that onnx.version_converter makes of it in "
        f"operator set {FIRST_WITH_BF16}, which computes the same in ONNX Runtime on these samples"
    )
