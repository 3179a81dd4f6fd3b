"""Forms of the messages that public sources print, with plausible values in their holes.

``forms(FOLDER)`` reads ``FOLDER/SOURCE/RELEASE/…``: C++ and Python sources as their projects lay them out, and
``FOLDER/libraries/ANY/*.txt``, the output of ``strings`` for a library. How each project writes and wraps a message
is in :data:`PROGRAMS`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Form:
    """A message: who prints it, the first release read that has it, the log text, and the values of its holes."""

    source: str
    release: str
    text: str
    values: tuple[str, ...]


class _Said(NamedTuple):
    """What source code says at a place: a condition or how it is said, a message with its values, the function."""

    condition: str
    message: str
    values: tuple[str, ...]
    place: str

    @property
    def asserted(self) -> str:
        """The message of a failed assertion."""
        if not self.condition:
            return self.message
        return f"Assertion failed: {self.condition}" + (f": {self.message}" if self.message else "")

    @property
    def operator(self) -> str:
        """The ONNX operator that the function imports; some operator for a helper."""
        return self.place if self.place[:1].isupper() else "Gelu"

    @property
    def importer(self) -> str:
        """The function as it prints its name."""
        return f"import{self.place}" if self.place[:1].isupper() else self.place or "parseGraph"


@dataclass(frozen=True, slots=True)
class _Call:
    """Where a macro or function has its condition and its message; None: it has none."""

    condition: int | None
    message: int | None


_ASSERT, _MESSAGE, _BOTH = _Call(0, None), _Call(None, 0), _Call(0, 1)
_STREAMS = r"(?:(?:sample::)?gLogError|gLogError|LOGS_DEFAULT\((?:ERROR|FATAL)\)|std::cerr)"
_TYPE = re.compile(r"[A-Za-z_]\w*")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_FUNCTION = re.compile(r"(?m)^(?:DEFINE_BUILTIN_OP_IMPORTER\((\w+)\)|[A-Za-z_][^\n;={}()#]*?(\w+)\()")
"""The opening of a function at the margin."""
_NUMBERED = re.compile(r"rank|nb|num|size|count|index|idx|len|axis|dim\b|code|status|version|bytes|value|\bi\b|\bd\b")
_TEXTS = (
    (re.compile(r"shape|dims|perm|sizes"), "(2,3,17,19)"),
    (re.compile(r"path|file|lib"), "/srv/models/net.bin"),
    (re.compile(r"dtype|datatype|data_type|type\b|Type"), "INT4"),
    (re.compile(r"op_type|operator|\bop\b"), "Gelu"),
    (re.compile(r"name|tensor|layer|node|input|output|key"), "encoder.proj_7"),
    (re.compile(r"what\(\)|err|msg|message|desc"), "no reason given"),
)


def value_for(expression: str) -> str:
    """Return what an expression of a message may print, by the words of it."""
    if _NUMBERED.search(expression):
        return "37"
    return next((text for words, text in _TEXTS if words.search(expression)), "37")


def _arguments(text: str, start: int) -> tuple[list[str], int]:
    """Split the arguments of a call whose opening bracket is before ``start``, at the commas of its own level."""
    depth, parts, begin, i = 1, [], start, start
    while i < len(text) and depth:
        char = text[i]
        if char == '"':
            i = _end_of_string(text, i)
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 1:
            parts.append(text[begin:i])
            begin = i + 1
        i += 1
    return [part.strip() for part in (*parts, text[begin : i - 1])], i


def _end_of_string(text: str, quote: int) -> int:
    end = quote + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return end


def _pieces(expression: str) -> list[str]:
    """Split a message at the ``<<`` and ``+`` of its own level."""
    depth, parts, begin, i = 0, [], 0, 0
    while i < len(expression):
        char = expression[i]
        if char == '"':
            i = _end_of_string(expression, i)
        depth += (char in "([{") - (char in ")]}")
        joint = 2 if expression[i : i + 2] == "<<" else int(char == "+")
        if joint and depth <= 0:
            parts.append(expression[begin:i])
            i += joint - 1
            begin = i + 1
        i += 1
    return [part.strip() for part in (*parts, expression[begin:]) if part.strip()]


def _spoken(expression: str) -> tuple[str, tuple[str, ...]] | None:
    """Fill a message; None where it holds no words of its own."""
    inner = expression.strip().removesuffix(".c_str()").strip()
    if inner.startswith("(") and inner.endswith(")"):
        inner = inner[1:-1]
    said, values, words = [], [], False
    for piece in _pieces(inner):
        literals = _LITERAL.findall(piece)
        plain = piece.startswith(('"', "std::string(", "std::string {", 'R"', "c10::str("))
        if literals and plain:
            said.append("".join(literals).replace("\\n", " ").replace('\\"', '"').replace("\\t", " "))
            words = words or bool(re.search(r"[A-Za-z]{3}", said[-1]))
        elif piece not in {"std::endl", "std::hex", "std::dec", "std::flush"}:
            values.append(value_for(piece))
            said.append(values[-1])
    text = re.sub(r"\s+", " ", "".join(said)).strip()
    while "%" in text and (hole := re.search(r"%[-0-9.]*l*[dsufxgzpi]u?", text)):
        values.append("37" if hole.group()[-1] != "s" else "encoder.proj_7")
        text = text[: hole.start()] + values[-1] + text[hole.end() :]
    return (text, tuple(values)) if words else None


def _without_comments(text: str) -> str:
    keep = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    text = keep.sub(lambda m: m.group() if m.group().startswith('"') else " ", text)
    return re.sub(r"(?m)^[ \t]*#[ \t]*define(?:.*\\\n)*.*$", "", text)


def _cpp(text: str, calls: dict[str, _Call], *, stream: bool) -> Iterator[_Said]:
    """Give condition, message, values and place of each call."""
    text = _without_comments(text)
    names = "|".join(sorted(map(re.escape, calls), key=len, reverse=True))
    functions = [(m.start(), m.group(1) or m.group(2)) for m in _FUNCTION.finditer(text)]
    for match in re.finditer(rf"(?<![\w#])({names})\s*\(", text) if names else ():
        call = calls[match.group(1)]
        arguments, _ = _arguments(text, match.end())
        if match.group(1) == "LOG_MESSAGE" and "ERROR" not in arguments[0]:
            continue
        condition = re.sub(r"\s+", " ", arguments[call.condition]) if call.condition is not None else ""
        spoken = None
        if call.message is not None and call.message < len(arguments):
            spoken = _spoken(arguments[call.message])
        if spoken and spoken[0].startswith("--- "):
            continue  # a rule around the dump of a node
        if condition or spoken:
            place = next((name for at, name in reversed(functions) if at < match.start()), "")
            yield _Said(condition, *(spoken or ("", ())), place)
    if stream:
        for match in re.finditer(rf"{_STREAMS}\s*<<([^;]*);", text):
            if spoken := _spoken(match.group(1)):
                yield _Said("", *spoken, "")


_RAISED = re.compile(r"Error|Exception|Failure$")
_LOGGED = {"critical", "error", "internal_error"}


def _python(text: str) -> Iterator[_Said]:
    """Give what Python code raises and logs as errors."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        call, how = None, ""
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            call, how = node.exc, ast.unparse(node.exc.func).rpartition(".")[2]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOGGED:
            call, how = node, node.func.attr
        elif isinstance(node, ast.Assert) and node.msg is not None:
            call, how = ast.Call(ast.Name("assert"), [node.msg], []), "AssertionError"
        if call and call.args:
            values: list[str] = []
            said = re.sub(r"%[dsr]", "37", _python_text(call.args[0], values))
            if re.search(r"[A-Za-z]{3}", re.sub("|".join(map(re.escape, values)) or r"\Z", "", said)):
                yield _Said(how, re.sub(r"\s+", " ", said).strip(), tuple(values), "")


def _python_text(node: ast.expr, values: list[str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_python_text(value, values) for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _python_text(node.left, values) + _python_text(node.right, values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return re.sub(r"\{[^{}]*\}", lambda _: "encoder.proj_7", _python_text(node.func.value, values))
    values.append(value_for(ast.unparse(node)))
    return values[-1]


def _parser_old(said: _Said) -> str:
    if "deserialize" in said.place.lower():
        return (
            f"[E] [TRT] ModelImporter.cpp:93: ERROR: ModelImporter.cpp:93 In function {said.place}:\n[4] "
            + said.asserted
        )
    begin = f'[E] [TRT] ModelImporter.cpp:726: While parsing node number 37 [{said.operator} -> "proj_9"]:'
    function = f"[E] [TRT] ModelImporter.cpp:732: ERROR: builtin_op_importers.cpp:419 In function {said.importer}:"
    return f"{begin}\n{function}\n[8] {said.asserted}"


def _parser(said: _Said) -> str:
    if "deserialize" in said.place.lower():
        return _parser_old(said)
    node = f"In node 37 with name: /block/n_37 and operator: {said.operator} ({said.importer})"
    return f"[E] {node}: UNSUPPORTED_NODE: {said.asserted}"


def _plugin(said: _Said) -> str:
    if said.condition:
        return f"[E] [TRT] 3: Validation failed: {said.message or said.condition}\nplugin/widget/widget.cpp:419"
    return f"[E] [TRT] {said.message}"


def _torch(said: _Said) -> str:
    if not said.condition:
        return f"ERROR: [Torch-TensorRT] - {said.message}"
    thrown = "RuntimeError: [Error thrown at core/conversion/conversion.cpp:419] Expected "
    return f"{thrown}{said.condition} to be true but got false\n{said.message}"


def _triton(said: _Said) -> str:
    head = "E1123 09:26:13.719 1 model_lifecycle.cc:596] failed to load 'net' version 1: Internal: "
    return head + said.message


def _polygraphy(said: _Said) -> str:
    return f"[E] {said.message}" if said.condition in _LOGGED - {"critical"} else f"[!] {said.message}"


def _tensorrt_llm(said: _Said) -> str:
    spoken = said.asserted if said.condition and not said.message else said.message
    thrown = f"Assertion failed: {spoken.removeprefix('Assertion failed: ')}" if said.condition else spoken
    return f"[TensorRT-LLM][ERROR] {thrown} (/src/tensorrt_llm/cpp/tensorrt_llm/runtime/widget.cpp:419)"


def _tensorrt_llm_python(said: _Said) -> str:
    return f"[TRT-LLM] [E] {said.message}" if said.condition in _LOGGED else _raised(said, "tensorrt_llm")


def _torch_python(said: _Said) -> str:
    logged = said.condition in _LOGGED
    return f"ERROR:torch_tensorrt.dynamo:{said.message}" if logged else _raised(said, "torch_tensorrt")


def _raised(said: _Said, package: str) -> str:
    """The end of a traceback."""
    return f'  File "/opt/py/{package}/convert.py", line 419, in convert\n{said.condition}: {said.message}'


_PARSER = {
    **dict.fromkeys(("ASSERT", "ASSERT_INPUT", "CHECK_INPUT"), _ASSERT),
    **dict.fromkeys(("ASSERT_NODE", "ONNXTRT_CHECK_NODE", "CHECK_NODE", "ONNXTRT_CHECK"), _BOTH),
    **dict.fromkeys(("MAKE_ERROR", "MAKE_NODE_ERROR", "MAKE_STATIC_ERROR", "ADD_STATIC_ERROR"), _MESSAGE),
    **dict.fromkeys(("MAKE_INPUT_ERROR", "LOG_ERROR", "ONNXTRT_THROW"), _MESSAGE),
}
_THROWS = {f"std::{name}": _MESSAGE for name in ("runtime_error", "invalid_argument", "logic_error", "out_of_range")}
_PLUGIN = {
    **dict.fromkeys(("PLUGIN_ASSERT", "ASSERT"), _ASSERT),
    **dict.fromkeys(("PLUGIN_VALIDATE", "PLUGIN_VALIDATE_MSG"), _BOTH),
    **dict.fromkeys(("PLUGIN_ERROR", "PLUGIN_FAIL"), _MESSAGE),
    **_THROWS,
}
_SAMPLE = {"RETURN_AND_LOG_ERROR": _Call(None, 1), "SMP_RETVAL_IF_FALSE": _BOTH, **_THROWS}
_TORCH = {
    **dict.fromkeys(("TORCHTRT_CHECK", "TRTORCH_CHECK", "TORCHTRT_ASSERT", "TRTORCH_ASSERT"), _BOTH),
    **dict.fromkeys(("TORCHTRT_THROW_ERROR", "TRTORCH_THROW_ERROR", "LOG_ERROR"), _MESSAGE),
}
_LLM = {
    **dict.fromkeys(("TLLM_CHECK", "TLLM_CHECK_WITH_INFO", "TLLM_CHECK_DEBUG_WITH_INFO", "CHECK_WITH_INFO"), _BOTH),
    **dict.fromkeys(("TLLM_THROW", "TLLM_LOG_ERROR"), _MESSAGE),
    "TRITONSERVER_ErrorNew": _Call(None, 1),
    **_THROWS,
}
_TRITON = {
    "TRITONSERVER_ErrorNew": _Call(None, 1),
    "RETURN_ERROR_IF_FALSE": _Call(None, 2),
    "LOG_MESSAGE": _Call(None, 1),
    **_THROWS,
}


@dataclass(frozen=True, slots=True)
class _Program:
    """How a part of a project prints its messages."""

    source: str
    path: str
    calls: dict[str, _Call]
    wrapped: Callable[[_Said], str]
    stream: bool = False


PROGRAMS = (
    _Program("onnx-tensorrt", r"^onnx-tensorrt/.*\.py$", {}, lambda said: _raised(said, "onnx_tensorrt")),
    _Program("onnx-tensorrt", r"^onnx-tensorrt/(?:[5-8]|6\.0)[^/]*/", _PARSER, _parser_old),
    _Program("onnx-tensorrt", r"^onnx-tensorrt/", _PARSER, _parser),
    _Program("plugins", r"^TensorRT/[^/]+/plugin/", _PLUGIN, _plugin, stream=True),
    _Program("Polygraphy", r"^TensorRT/[^/]+/tools/Polygraphy/", {}, _polygraphy),
    _Program("parsers", r"^TensorRT/[^/]+/parsers/", _SAMPLE, lambda said: f"[E] [TRT] {said.message}", stream=True),
    _Program("samples", r"^TensorRT/[^/]+/samples/", _SAMPLE, lambda said: f"[E] {said.message}", stream=True),
    _Program("Torch-TensorRT", r"^torch-tensorrt/[^/]+/py/", {}, _torch_python),
    _Program("Torch-TensorRT", r"^torch-tensorrt/", _TORCH, _torch),
    _Program("TensorRT-LLM", r"^tensorrt-llm/.*\.py$", {}, _tensorrt_llm_python),
    _Program("TensorRT-LLM", r"^tensorrt-llm/", _LLM, _tensorrt_llm),
    _Program("Triton", r"^triton/", _TRITON, _triton),
)
_FAILS = re.compile(
    r"(?i)\b(fail|error|must|cannot|can't|could not|couldn't|invalid|unable|unsupported|not supported|expect|missing|"
    r"only support|does not|doesn't|not a|not found|should|exceed|mismatch|requires?|incompatible|wrong|illegal)"
)
_OF_NETWORKS = re.compile(
    r"(?i)tensor(?!map)|layer|engine|network|profile|plugin|weight|builder|timing cache|refit|dla\b|cuda|myelin"
    r"|axis|axes"
)
"""What a library's own messages are about; its compiler's are not."""
_CODE = re.compile(r"//|\\brief|static_assert|__\w+__\b|^\s*(?:#|extern |static )")
"""Source text that a library compiles, which is no message."""
_MYELIN = "MyelinCheckException: a.cpp:7: "
_ASSERTED = re.compile(r"(?:Assertion (.+) failed\. ?|(CHECK(?:_\w+)?\(.+\)) failed\. ?)$")


def _library(text: str, release: str) -> Iterator[Form]:
    """Give the messages among a library's strings: fragments get a value where another one stood before or behind."""
    for line in dict.fromkeys(text.splitlines()):
        if "TensorRT EP" in release or release.startswith("onnxruntime"):
            if "TensorRT EP" in line and _FAILS.search(line):
                said = line + ("encoder.proj_7" if line.endswith((" ", "'", '"')) else "")
                level = "[E:onnxruntime:Default, tensorrt_execution_provider.h:88 log]"
                yield Form("ONNX Runtime", release, f"2026-04-05 06:07:08.9 {level} {said}", ())
        elif (match := _ASSERTED.search(line)) and line.startswith(("Assertion ", "CHECK")):
            said = f"IBuilder::buildSerializedNetwork: Error Code 2: Internal Error ({line.strip()})"
            if match.group(2):
                said = said.replace("Error Code 2: Internal Error (", f"Error Code 9: Internal Error ({_MYELIN}")
            yield Form(f"{release} assertions", release, f"[E] Error[2]: {said}", ())
        elif (
            _OF_NETWORKS.search(line)
            and _FAILS.search(line)
            and re.search(r"[a-z]{3,} [a-z]{2,}", line)
            and not _CODE.search(line)
        ):
            values = ["encoder.proj_7"] * (line[0] in ": ") + ["37"] * (line[-1] in " (=")
            said = ("encoder.proj_7" if line[0] in ": " else "") + line + ("37" if line[-1] in " (=" else "")
            coded = f"IBuilder::buildSerializedNetwork: Error Code 4: API Usage Error ({said})"
            parser = f"[E] In node 37 with name: /block/n_37 and operator: Gelu (parseNode): UNSUPPORTED_NODE: {said}"
            yield Form(release, release, parser if "parser" in release else f"[E] Error[4]: {coded}", tuple(values))


def forms(folder: Path) -> Iterator[Form]:
    """Give every distinct form below a folder, with the first release that has it.

    Raises:
        OSError: A file cannot be read.
    """
    seen: set[tuple[str, str]] = set()
    read_before: set[str] = set()
    for path in sorted(folder.rglob("*"), key=_in_order):
        name = path.relative_to(folder).as_posix()
        release = name.split("/")[1] if "/" in name else ""
        if not path.is_file():
            continue
        program = next((program for program in PROGRAMS if re.search(program.path, name)), None)
        text = path.read_text("utf-8", "replace")
        if text in read_before:
            continue  # most files are those of the release before
        read_before.add(text)
        if path.suffix == ".txt" and name.startswith("libraries/"):
            found = list(_library(text, path.stem))
        elif program is None:
            continue
        else:
            read = _python(text) if path.suffix == ".py" else _cpp(text, program.calls, stream=program.stream)
            found = [Form(program.source, release, program.wrapped(said), said.values) for said in read]
        for form in found:
            if (form.source, form.text) not in seen:
                seen.add((form.source, form.text))
                yield form


def _in_order(path: Path) -> tuple[object, ...]:
    return tuple([int(number) for number in re.findall(r"\d+", part)] or [99] for part in path.parts), str(path)
