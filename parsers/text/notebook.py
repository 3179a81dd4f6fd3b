"""The outputs of a Jupyter notebook's cells as the lines of a log.

A saved notebook is JSON in which Jupyter puts each line of an output on a line of the file (nbformat 4,
https://nbformat.readthedocs.io/en/latest/format_description.html). :func:`outputs_of` keeps these lines where they
stand, empties all others, and puts before the outputs of a cell its number with the command that it ran, as IPython
shows it: ``In [4]: !trtexec --onnx=a.onnx``. So line numbers are those of the file as Jupyter writes it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

MAX_BYTES = 256 << 20
"""The largest notebook that is looked into."""

NOTEBOOK = re.compile(rb'\A\s*\{\s*"(?:cells|metadata|nbformat|nbformat_minor)"\s*:')
"""How a notebook begins; engine layers and replays begin otherwise."""

_MARK = "\ue039"
"""Stands before texts that are kept; a character for private use."""
_LIBRARIES = re.compile(r"\b(?:torch_tensorrt|tensorrt|onnxruntime|trt_convert|TrtGraphConverter\w*|torch2trt)\b")
"""Names in the source of a cell that tell what a notebook uses; without outputs, such a cell is shown too."""
_SHELL = re.compile(r"%%(?:bash|sh|shell|cmd)\b")
_PROGRAMS = re.compile(r"\b(?:trtexec|polygraphy|python3?)\b")
_HEADING = re.compile(r"#+ *([^<>#\n]*\w[^<>\n]*)")
_LONGEST = 2000


def outputs_of(document: bytes) -> tuple[bytes, dict[int, str]] | None:
    """Return the lines of the outputs at their places, and the line of each cell with outputs by its name (``In [4]``).

    None for JSON that is no notebook of nbformat 4.
    """
    try:
        notebook = json.loads(document.decode("utf-8", "replace").replace(_MARK, "\ufffd"))
        if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
            return None
        for cell in filter(_is_object, notebook["cells"]):
            _mark(cell)
        _mark_title(notebook["cells"])
        dumped = json.dumps(notebook, indent=1).split("\n")
    except (ValueError, RecursionError):
        return None
    mark = f'"\\u{ord(_MARK):x}'
    kept = [_text_of(line[line.index(mark) :]) if mark in line else "" for line in dumped]
    cells = {number: line.split(":", 1)[0] for number, line in enumerate(kept, 1) if line.startswith("In [")}
    named = {number: name for number, name in cells.items() if '"cell_type"' in dumped[number - 1]}
    return "".join(f"{line}\n" for line in kept).encode("utf-8", "replace"), named


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _text_of(line: str) -> str:
    """Return the text of a line that holds a marked value: one line, whatever line ends it has inside."""
    text = str(json.loads(line.rstrip(",")))[1:]
    return "  ".join(text.rstrip("\r\n").splitlines())


def _mark(cell: dict[str, Any]) -> None:
    """Bring a cell's texts into lines, as Jupyter stores them, and mark those of its outputs and its type."""
    source = cell["source"] = _lines(cell.get("source"))
    outputs = [output for output in _listed(cell.get("outputs")) if _is_object(output)]
    for output in outputs:
        _mark_output(output)
    named = cell.get("cell_type") == "code" and _LIBRARIES.search(_command(source))
    if (outputs or named) and isinstance(cell.get("cell_type"), str):
        number = cell.get("execution_count")
        cell["cell_type"] = f"{_MARK}In [{number if isinstance(number, int) else 0}]: {_command(source)}"


def _mark_title(cells: Sequence[Any]) -> None:
    """Mark the first heading of a notebook, which says what it is about."""
    texts = (cell["source"] for cell in cells if _is_object(cell) and cell.get("cell_type") == "markdown")
    for source in texts:
        for place, line in enumerate(source):
            title = _HEADING.match(line) if isinstance(line, str) else None
            if title is not None:
                source[place] = f"{_MARK}Notebook: {title[1]}"
                return


def _mark_output(output: dict[str, Any]) -> None:
    if "text" in output:
        output["text"] = _marked(_lines(output["text"]))
    data = output.get("data")
    if isinstance(data, dict):
        for form, value in data.items():
            lines = _lines(value) if not form.endswith("json") else value
            data[form] = _marked(lines) if form == "text/plain" else lines
    if "evalue" in output:
        if output.get("traceback"):
            output["traceback"] = _marked(_listed(output["traceback"]))
        else:
            output["evalue"] = f"{_MARK}{output.get('ename')}: {output['evalue']}"


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _lines(value: object) -> list[Any]:
    return value.splitlines(keepends=True) if isinstance(value, str) else _listed(value)


def _marked(lines: Sequence[object]) -> list[object]:
    return [f"{_MARK}{line}" if isinstance(line, str) else line for line in lines]


def _command(source: Sequence[object]) -> str:
    """Return the command that a cell gives a shell: of a known program, else with a known library, else the first."""
    lines = "".join(line for line in source if isinstance(line, str)).replace("\\\n", " ").strip().split("\n")
    of_shell = lines[1:] if _SHELL.match(lines[0]) else [line for line in lines if line.startswith("!")]
    telling = (*filter(_PROGRAMS.search, of_shell), *of_shell, *filter(_LIBRARIES.search, lines))
    ranked: Iterator[str] = iter((*telling, *lines))
    return next(ranked)[:_LONGEST]
