"""The tables of builds, by the words that name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.errors import UsageError
from trtforensics.tables import log_tables
from trtforensics.tables.layers import layer_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.model.log import Build
    from trtforensics.sources.onnx_model import OnnxModel
    from trtforensics.tables.columns import Table

LOG_TABLES: dict[str, Callable[..., Table]] = {
    "choices": log_tables.choice_table,
    "candidates": log_tables.candidate_table,
    "fusions": log_tables.fusion_table,
    "profile": log_tables.profile_table,
    "messages": log_tables.message_table,
    "cache-keys": log_tables.cache_key_table,
}
TABLE_NAMES = ("layers", *LOG_TABLES)


def table_of(what: str, builds: Sequence[Build], model: OnnxModel | None = None) -> Table:
    """Return one of :data:`TABLE_NAMES` of builds; ``model`` tells the operators of ONNX nodes.

    Raises:
        UsageError: there is no such table.
    """
    if what == "layers":
        return layer_table(builds, model)
    if what not in LOG_TABLES:
        raise UsageError(f"table {what!r}", "does not exist", f"There are {', '.join(TABLE_NAMES)}")
    return LOG_TABLES[what](builds)
