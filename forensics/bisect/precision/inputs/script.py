"""Samples from a data loader script, in Polygraphy's form: ``load_data()`` gives a mapping for each sample.

The script is the user's own program. It runs in a child process, ``python -m`` this module, so that what it prints or
breaks stays there.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.bisect.precision.inputs.files import read_samples
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    import onnx

    from trtforensics.bisect.precision.inputs.sample import Sample

LOADER = "load_data"
"""The name of the function by Polygraphy's convention."""


def run_script(model: onnx.ModelProto, script: str, limit: int) -> tuple[Sample, ...]:
    """Run a script, ``FILE`` or ``FILE:FUNCTION``, and return its first samples, at most ``limit``.

    Raises:
        SourceError: The script cannot be run, or what it gives does not fit the model.
    """
    path, _, name = script.rpartition(":")
    path, name = (path, name) if name.isidentifier() and path else (script, LOADER)
    if not Path(path).is_file():
        raise SourceError(path, "cannot be read: no such file")
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", __spec__.name if __spec__ else __name__, path, name, str(limit), folder]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603 - the user's own script
        if done.returncode:
            last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
            next_step = "It must give a mapping of names to arrays for each sample; FILE:NAME names another function"
            raise SourceError(path, f"its {name}() failed: {last}", next_step)
        if not any(Path(folder).iterdir()):
            raise SourceError(path, f"its {name}() gives no sample", "Have it give one at least")
        return read_samples(model, [folder], named=path)


def main(arguments: list[str]) -> None:
    """Write the samples of a script into a folder, an ``.npz`` file each."""
    from polygraphy.mod import import_from_script  # noqa: PLC0415 - heavy, and needed by the child process only

    path, name, limit, folder = arguments
    for number, feed in enumerate(islice(iter(import_from_script(path, name)()), int(limit))):
        with zipfile.ZipFile(Path(folder) / f"{number:06d}.npz", "w") as archive:
            for key, array in feed.items():
                with archive.open(f"{key}.npy", "w") as member:
                    np.save(member, np.asarray(array))


if __name__ == "__main__":
    main(sys.argv[1:])
