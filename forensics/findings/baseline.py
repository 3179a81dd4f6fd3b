"""Finds the build of an earlier log to compare a build with, and compares the two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.diff.differences import Difference
    from trtforensics.model.log import Build, BuildLog

_SHARED = 0.5
"""Share of the names of ONNX nodes (or engine layers) that two builds of one model have in common."""


class LoggedBuild(NamedTuple):
    """A build, and the log that it is in."""

    log: BuildLog
    build: Build


def baseline_of(logs: Sequence[BuildLog], index: int, build: Build) -> LoggedBuild | None:
    """Return the first build in an earlier log that is of the same model; None where there is none."""
    earlier = (LoggedBuild(log, other) for log in logs[:index] for other in log.builds)
    return next((one for one in earlier if same_model(one.build, build)), None)


def same_model(one: Build, other: Build) -> bool:
    """Whether two builds are of one model, judged by the names of nodes or layers."""
    mine, yours = _names(one), _names(other)
    return bool(mine and yours) and len(mine & yours) >= _SHARED * min(len(mine), len(yours))


def _names(build: Build) -> set[str]:
    return {node.name for node in build.onnx_nodes} or {layer.name for layer in build.engine_layers}


def root_differences(one: LoggedBuild, other: LoggedBuild) -> list[Difference]:
    """Compare two builds and return the differences that follow from no other difference."""
    from trtforensics.diff.compare import compare  # noqa: PLC0415 - only where two logs are given
    from trtforensics.diff.loading import ComparedSide  # noqa: PLC0415 - as above
    from trtforensics.diff.view_building import of_log  # noqa: PLC0415 - as above

    views = [of_log(replace(log, builds=(build,))) for log, build in (one, other)]
    if views[0] is None or views[1] is None:
        return []
    good, bad = (
        ComparedSide(log.source.path, (view,)) for (log, _), view in zip((one, other), views, strict=True) if view
    )
    return [difference for difference in compare(good, bad).differences if difference.cause is None]
