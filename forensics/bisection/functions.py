"""The searches of ``import trtforensics``: for the smallest sets of anything, and for nodes that must stay FP32."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy.typing as npt
    import onnx

    from trtforensics.bisection.precision.answer.precision_answer import PrecisionAnswer

    Path = str | PathLike[str]


@dataclass(frozen=True, slots=True)
class BisectionAnswer:
    """The answer of :func:`bisect`. ``culprits`` are minimal sets: each is bad alone, and everything else is good.

    ``status`` is ``certified``, ``named``, ``inconclusive`` or ``not-reproduced``; ``reason`` says why it is not
    certified. ``suspects`` are items among which a set hides. ``calls`` counts the calls.
    """

    status: str
    culprits: tuple[frozenset[str], ...]
    suspects: frozenset[str]
    reason: str
    calls: int


def bisect(
    items: Sequence[str],
    is_good: Callable[[frozenset[str]], bool | None],
    *,
    find: Literal["first", "all"] = "all",
    confidence: float | None = None,
    max_calls: int | None = None,
) -> BisectionAnswer:
    """Find the smallest sets of items that are bad together.

    ``is_good`` is called with the items that are active; it returns True (good), False (bad) or None (unresolved).
    Without active items it must be good, with all of them bad. Without ``confidence`` its answers count as exact, and
    those that decide are asked for twice; with it (above 0, below 1) they may be wrong now and then.

    Raises:
        ValueError: an item is named twice.
    """
    from trtforensics.bisection.search import Item, Search, Verdict  # noqa: PLC0415 - for this call only

    if len(set(items)) < len(items):
        raise ValueError("an item is named twice")
    verdicts = {True: Verdict.GOOD, False: Verdict.BAD, None: Verdict.UNRESOLVED}
    search = Search([Item(name) for name in items], find=find, confidence=confidence, max_builds=max_calls)
    calls = 0
    while not search.done:
        for ask in search.asks():
            calls += 1
            search.tell(ask, verdicts[is_good(frozenset(items[place] for place in ask.active))])
    result = search.result()
    *named, suspects = (frozenset(items[at] for at in places) for places in (*result.culprits, result.suspects))
    return BisectionAnswer(result.status.value, tuple(named), suspects, result.why, calls)


def bisect_precision(  # noqa: PLR0913 - all but the first two are options
    model: Path | onnx.ModelProto,
    artifacts_dir: Path,
    *,
    samples: Sequence[Mapping[str, npt.ArrayLike] | Path] = (),
    precision: Literal["fp16", "bf16"] = "fp16",
    accumulate: Literal["fp32", "fp16"] = "fp32",
    metric: str | Mapping[str, str] | None = None,
    tolerance: float | Mapping[str, float] | None = None,
    check: str | None = None,
    build: Literal["certificate", "every", "none"] = "certificate",
    find: Literal["first", "all"] = "all",
    max_probes: int | None = None,
) -> PrecisionAnswer:
    """Find which nodes of an ONNX model must stay FP32, as ``trtforensics bisect precision`` does; on Linux.

    A model of no file is written to ``artifacts_dir`` with ``.onnx`` behind it. The directory keeps everything, the
    repaired model in ``fixed`` too; the same call on it goes on where it stopped. ``samples`` are arrays by the names
    of the inputs, or files of them; without any, the model runs on three random ones. ``accumulate`` is the type in
    which kernels sum products. ``metric`` and ``tolerance`` hold for all outputs, or for each by its name; metrics have
    no unit, but for max-abs (the output's) and psnr (dB). ``check`` is a command, or ``builtin:NAME``, that judges in
    their place. ``build`` says which probes the installed TensorRT builds, if there is one. Call it in the main thread:
    it handles signals, so that Ctrl-C ends it in order.

    Raises:
        ForensicsError: the model or a sample cannot be used, the options make no sense together, or the directory is
            another job's, in use, or cannot be written to.
        KeyboardInterrupt: the user stopped it; the directory holds everything up to then.
    """
    from trtforensics.bisection.checks import command_of  # noqa: PLC0415 - for this call only
    from trtforensics.bisection.precision.nodes import PrecisionLever  # noqa: PLC0415 - as above
    from trtforensics.bisection.precision.running import given_samples, search  # noqa: PLC0415 - as above
    from trtforensics.bisection.runner.run_options import RunOptions  # noqa: PLC0415 - as above
    from trtforensics.bisection.search_options import BuildOptions, ModelRequest, PrecisionOptions  # noqa: PLC0415 - as above
    from trtforensics.console.output import write_bytes  # noqa: PLC0415 - as above

    path = f"{fspath(artifacts_dir)}.onnx"
    if isinstance(model, (str, PathLike)):
        path = fspath(model)
    else:
        write_bytes(path, model.SerializeToString())
    options = PrecisionOptions(
        precision=precision, accumulate=accumulate, metric=_by_output(metric), tolerance=_by_output(tolerance)
    )
    request = ModelRequest(path, options, given_samples(samples), BuildOptions())
    command = None if check is None else command_of(check, PrecisionLever.judged)
    run = RunOptions(build=build, check=command, find=find, max_builds=max_probes)
    answer, _ = search(request, run, pathlib.Path(artifacts_dir), lambda _: None)
    return answer


def _by_output(values: object) -> tuple[str, ...]:
    """Return values for all outputs, or for each by its name, as options have them."""
    if isinstance(values, Mapping):
        return tuple(f"{name}:{value}" for name, value in values.items())
    return () if values is None else (str(values),)
