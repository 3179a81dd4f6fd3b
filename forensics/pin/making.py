"""From logs and a request to a plan: chooses between layers and keys, and reads the build that a request points at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.older_python import StrEnum
from trtforensics.pin.keys import pinnable_keys
from trtforensics.pin.layers import pinnable_layers
from trtforensics.pin.plan import plan
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.kinds import Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import BuildLog
    from trtforensics.pin.conditions import PinRequest
    from trtforensics.pin.plan import PinPlan
    from trtforensics.pin.slots import Algorithm, Pinnable


class PinForm(StrEnum):
    """What a pinning is written as."""

    REPLAY = "replay"
    CACHE = "cache"


def form_of(log: BuildLog) -> PinForm:
    """Return the form that a build can be pinned by: its keys if the log prints any, else its layers."""
    keyed = any(build.timing_cache_keys for build in log.builds)
    return PinForm.CACHE if keyed else PinForm.REPLAY


def make_plan(logs: Sequence[BuildLog], request: PinRequest, form: PinForm, *, max_bytes: int) -> PinPlan:
    """Plan the pinning of the first log's build; the other logs widen what is offered.

    Raises:
        SourceError: the log of ``same_as`` cannot be read.
        ForensicsError: a log shows nothing that can be pinned in this form, or the request cannot be read.
    """
    chosen = None if request.same_as is None else _chosen(request.same_as, form, max_bytes)
    return plan(_pinnable(logs, form), request.conditions(chosen))


def _pinnable(logs: Sequence[BuildLog], form: PinForm) -> Pinnable:
    return pinnable_keys(logs) if form is PinForm.CACHE else pinnable_layers(logs)


def _chosen(path: str, form: PinForm, max_bytes: int) -> dict[str, Algorithm]:
    found = _pinnable([load_build_log([path], max_bytes=max_bytes)], form)
    return {slot.identity: slot.won.algorithm for slot in found.slots}


def is_log(path: str) -> bool:
    """Whether a path is to be read as a build log."""
    return path == "-" or kind_of(path) is Kind.BUILD_LOG
