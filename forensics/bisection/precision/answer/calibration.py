"""A calibration cache held against the ranges that the samples show.

The format (TensorRT 3 to 10): a line ``TRT-8501-EntropyCalibration2``, version and calibrator; then for each tensor its
name, a colon, and the scale's 32 bits in hexadecimal digits, the most significant first. The range ends at 127 scales.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.bisection.precision.answer.quantization import Grid, RangeUse, use_of
from trtforensics.console.counting import counted, head_lines, listed
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from trtforensics.bisection.precision.emulation.oracle import Oracle

_HEADER = re.compile(r"TRT-(\d+)-(\w+)")
_LINE = re.compile(r"(.+): *([0-9a-fA-F]{1,8})")
_LARGEST = 127.0
_SHOWN = 8
_MOST = 0.5
"""Of fewer names than half, the cache is of another network."""


def read_cache(path: str) -> tuple[str, str, dict[str, float]]:
    """Read a calibration cache; return TensorRT's version as it is written, the calibrator, the scale of each tensor.

    Raises:
        SourceError: it cannot be read, or a line is none of a cache.
    """
    next_step = "Give the calibration.cache that a calibrator wrote"
    try:
        first, *lines = Path(path).read_text(encoding="utf-8").splitlines() or [""]
    except OSError as error:
        raise SourceError(path, f"cannot be read: {(error.strerror or str(error)).lower()}", next_step) from error
    except UnicodeDecodeError as error:
        raise SourceError(path, "is no calibration cache: it is no text", next_step) from error
    header = _HEADER.fullmatch(first.strip())
    if header is None:
        raise SourceError(path, "is no calibration cache: it does not begin with TRT-VERSION-CALIBRATOR", next_step)
    scales = {}
    for number, line in enumerate(lines, 2):
        found = _LINE.fullmatch(line.strip())
        if found is not None:
            scales[found[1]] = struct.unpack(">f", bytes.fromhex(found[2].zfill(8)))[0]
        elif line.strip():
            raise SourceError(f"{path}:{number}", "is no line `TENSOR: SCALE` of a calibration cache", next_step)
    return header[1], header[2], scales


@dataclass(frozen=True, slots=True)
class CachedRange:
    """A tensor of a cache and of the model, and how its range suits the samples."""

    tensor: str
    scale: float
    use: RangeUse


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A cache beside the model: its tensors, the worst first; names that the model lacks; tensors that it lacks."""

    path: str
    version: str
    calibrator: str
    ranges: tuple[CachedRange, ...]
    unknown: tuple[str, ...]
    missing: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the report as text."""
        total = len(self.ranges) + len(self.unknown)
        wrong = [each for each in self.ranges if each.use.reason]
        of, own = f"{self.path}, {self.calibrator} of TensorRT {self.version}", len(self.ranges)
        verdict = f"{of}: {len(wrong)} of {counted(own, 'range')} do not suit the samples"
        if own < _MOST * total:
            verdict = f"{of}, is of another network: the model has {own} of its {total} names"
        lines = [f"Calibration: {verdict}."]
        lines += head_lines([f"  {each.tensor} {each.use.reason}" for each in wrong], _SHOWN)
        if self.missing:
            lines.append(f"  Without a range ({len(self.missing)}): {listed(self.missing, _SHOWN)}.")
        if self.unknown:
            lines.append(f"  Not in the model ({len(self.unknown)}): {listed(self.unknown, _SHOWN)}.")
        return lines


def held_against(path: str, oracle: Oracle) -> CalibrationReport:
    """Hold a cache against the FP32 tensors of the main graph on the samples.

    Raises:
        RunError: ONNX Runtime does not return a tensor of the model.
        SourceError: the cache cannot be read.
    """
    version, calibrator, scales = read_cache(path)
    known = _seen_tensors(oracle)
    ranges = []
    for name, arrays in oracle.values_of([name for name in known if name in scales]):
        scale = scales[name]
        step = np.asarray([scale if np.isfinite(scale) and scale > 0.0 else 1e-30], np.float64)
        ranges.append(CachedRange(name, scale, use_of(arrays, Grid(step, np.zeros(1), -_LARGEST, _LARGEST))))
    ranges.sort(key=lambda each: (not each.use.reason, np.inf if each.use.snr_db is None else each.use.snr_db))
    unknown = tuple(name for name in scales if name not in known)
    missing = tuple(name for name in known if name not in scales) if ranges else ()
    return CalibrationReport(path, version, calibrator, tuple(ranges), unknown, missing)


def _seen_tensors(oracle: Oracle) -> dict[str, None]:
    """Return the inputs and results of the main graph that are FP32 and depend on the inputs, in the model's order."""
    survey, graph = oracle.caster.survey, oracle.caster.prepared.proto.graph
    names = [value.name for value in graph.input if survey.types.get(value.name) == 1]
    candidates = oracle.caster.candidates
    names += [
        name
        for node in graph.node
        for name in node.output
        if node.name in candidates and survey.types.get(name) == 1 and survey.scopes.get(name) == 0
    ]
    return dict.fromkeys(names)
