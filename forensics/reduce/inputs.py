"""Values of a model's inputs and outputs as files: one ``.npz``, and JSON as Polygraphy saves and loads it."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.console.output import write_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from trtforensics.bisect.precision.inputs.sample import Values


def write_inputs(values: Mapping[str, Values], folder: Path) -> None:
    """Write one sample into a folder: ``000.npz`` for built-in checks and ``--inputs``, ``inputs.json`` for Polygraphy.

    Raises:
        OutputError: a file cannot be written.
    """
    folder.mkdir(exist_ok=True)
    write_npz(values, folder / "000.npz")
    write_feeds(values, folder / "inputs.json")


def write_npz(values: Mapping[str, Values], path: Path) -> None:
    """Write arrays by name; any name may be taken, such as ``file``, which ``numpy.savez`` does not.

    Raises:
        OutputError: the file cannot be written.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, array in values.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.save(member, np.asarray(array))
    write_bytes(path, data.getvalue())


def write_feeds(values: Mapping[str, Values], path: Path) -> None:
    """Write one sample as ``polygraphy run --load-inputs`` reads it.

    Raises:
        OutputError: the file cannot be written.
    """
    from polygraphy.json import to_json  # noqa: PLC0415 - heavy

    write_text(path, to_json([{name: np.asarray(array) for name, array in values.items()}]))


def write_golden(values: Mapping[str, Values], path: Path) -> None:
    """Write outputs as ``polygraphy run --load-outputs`` reads them.

    Raises:
        OutputError: the file cannot be written.
    """
    from polygraphy.comparator import IterationResult, RunResults  # noqa: PLC0415 - heavy

    results = RunResults()
    arrays = {name: np.asarray(array) for name, array in values.items()}
    results.append(("onnxruntime", [IterationResult(outputs=arrays, runner_name="onnxruntime")]))
    write_text(path, results.to_json())
