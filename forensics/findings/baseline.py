"""Which build of another log a build is to be compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.diff.differences import Difference
    from trtforensics.model.log import Build, BuildLog

_SHARED = 0.5
"""Share of ONNX nodes (or engine layers) that two builds of one model have in common by name."""


class LoggedBuild(NamedTuple):
    """A build of another log of the same model, to compare with."""

    log: BuildLog
    build: Build


def baseline_of(logs: Sequence[BuildLog], index: int, build: Build) -> LoggedBuild | None:
    """Return the build of the first earlier log that is of the same model; None where there is none."""
    others = (LoggedBuild(log, other) for log in logs[:index] for other in log.builds)
    return next((other for other in others if same_model(other.build, build)), None)


def same_model(one: Build, other: Build) -> bool:
    """Whether two builds are of one model, as far as the names of nodes or layers tell."""
    mine, yours = _names(one), _names(other)
    return bool(mine and yours) and len(mine & yours) >= _SHARED * min(len(mine), len(yours))


def _names(build: Build) -> set[str]:
    return {node.name for node in build.onnx_nodes} or {layer.name for layer in build.engine_layers}


def root_differences(one: LoggedBuild, other: LoggedBuild) -> list[Difference]:
    """Compare two builds and return what differs and follows from no other difference."""
    from trtforensics.diff.compare import compare  # noqa: PLC0415 - the diff is for those who give two logs
    from trtforensics.diff.loading import ComparedSide  # noqa: PLC0415 - likewise
    from trtforensics.diff.view_building import of_log  # noqa: PLC0415 - likewise

    views = [of_log(replace(log, builds=(build,))) for log, build in (one, other)]
    if views[0] is None or views[1] is None:
        return []
    good, bad = (
        ComparedSide(log.source.path, (view,)) for (log, _), view in zip((one, other), views, strict=True) if view
    )
    return [difference for difference in compare(good, bad).differences if difference.cause is None]
