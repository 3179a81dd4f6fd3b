"""Profile files (``--exportProfile``) that are given beside a build log: their times join its engine's layers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError
from trtforensics.model.profile import TimeSource
from trtforensics.parsers.builds.profiles import with_times
from trtforensics.parsers.files.profile_json import read_profile_json
from trtforensics.parsers.text.document import read_document
from trtforensics.sources.kinds import Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trtforensics.model.log import Build, BuildLog
    from trtforensics.model.profile import ProfileRun


def part_sources(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Divide what is given as a build log into its own files and the profiles beside them, by their content."""
    profiles = [path for path in paths if Path(path).is_file() and kind_of(path) is Kind.PROFILE]
    own = [path for path in paths if path not in profiles]
    return (own, profiles) if own else ([*paths], [])


def add_profiles(log: BuildLog, paths: Iterable[str], *, max_bytes: int) -> None:
    """Add the last run of each profile file to the build whose engine it timed.

    Raises:
        SourceError: a file cannot be read.
        NotEngineInfoError: a file is damaged.
        UsageError: no build of the log has the layers of a profile.
    """
    for path in paths:
        run = read_profile_json(read_document(path, max_bytes=max_bytes)).runs[-1]
        build = timed_build(run, log.builds)
        if build is None:
            what = f"times {len(run.layers)} layers, most of which no engine of {log.source.path} has"
            raise UsageError(path, what, "Give the profile that was exported from this build's engine")
        build.profiles = with_times(build.engine_layers, (*build.profiles, run), build.choices, build.cached)
        build.coverage = replace(build.coverage, times=TimeSource.MEASURED)


def timed_build(run: ProfileRun, builds: Sequence[Build]) -> Build | None:
    """Return the last build whose engine layers a profile fits; where no build tells its layers, the last one."""
    with_layers = [build for build in builds if build.engine_layers]
    fitting = [build for build in with_layers if run.joined([layer.name for layer in build.engine_layers]).fits]
    return next(reversed(fitting if with_layers else list(builds)), None)
