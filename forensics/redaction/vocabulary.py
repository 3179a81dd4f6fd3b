"""The words that redaction keeps: TensorRT's, ONNX's, and common names for parts of networks."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.model.log import Build, BuildLog
    from trtforensics.model.timings import TacticTimings

WORD = re.compile(r"0x[0-9a-fA-F]+|[^\W\d_]{2,}")
"""A word (a run of letters), or a hexadecimal number, whose letters are no word.

Only words are replaced. Digits and punctuation stay, so that names that differ stay different.
"""

_COMMENT = re.compile(r"(?m)^\s*//.*|(?<=\s)//\s.*")
_A_NAME = re.compile(r"[/\\=:]|\.[a-z]")
"""Marks the value of an option that may be a path, a tensor or a layer."""

_COMMON = """
activation actv act add after argmax attention attn avg backbone batch before bias block blocks bmm bn body box boxes
branch cache cast channel class classifier cls cond const constant context conv convbn convolution data dec decoder
decode dense depth depthwise det dim downsample drop dropout embed embedding embeddings emb enc encoder encode end
expand fc feature features feed ffn final fold folded forward fused gate gelu gemm global graph grid group groupnorm
gru hardswish head heads hidden id ids image images img in index init initializer inner input inputs key keys kv label
layer layernorm layers left linear logits long loop lstm main mask mat matmul max mean merge min mlp model module mul
multihead neck net network node nodes norm normalization now onnx op out outer output outputs pad param params permute
pixel plugin point pool pooled pooler pooling pos position positional pre pred prob probs proj projection pwn quant
query queries range relu res reshape resize residual result rms rmsnorm root score scores self seq sequence sequential
shape shared shift short shortcut shuffle sigmoid silu size skip slice softmax split sqrt square stage start state std
stem step sub sum swish tanh tensor tensors text time to token tokens torch total trans transformer transpose true
type unit unsqueeze up upsample val value values var view weight weights width with zero bin build dev engine etc
false file home lib local mnt opt plan private proc root src tmp usr users var work workspace call error exception
fail failed failure file import in last last line most raise recent return traceback warning
"""
"""Common names of parts of networks and of folders, and the words of Python tracebacks."""

_TENSORRT = """
CopyNode ForeignNode HostToDeviceCopy Metadata NoOp Optimizer PWN Reformat Reformatted Reformatting TacticName
TacticValue TrainStation Unnamed bf bool chw dlaGlobalDRAM dlaLocalDRAM dlaSRAM double dtype float fp half hwc int
Constants Datatype Dimensions Disabled Enabled IOMode IsShapeInferenceIO Location MaxShape MinShape OptShape ProfileInfo
StrideOrder Strides kLINEAR tacticSharedMem temp uint
CUBLAS CUBLAS_LT CUDNN EDGE_MASK_CONVOLUTIONS JIT_CONVOLUTIONS all allow best default detailed directIO disable dynamic
enable excludeLean force gpu layer_names_only mark none obey prefer profile spin static strip yield castHelper
copied foreignNode myl mye myln
"""
"""Words in names that TensorRT makes, in names of fields and in values of options; no grammar contains them."""

_MADE_BY_TENSORRT = re.compile(r"ONNXTRT_\w+|__my\w+|\(Unnamed Layer\*?|\[[A-Z]\w+\]")


def words(text: str) -> Iterator[str]:
    """Yield the words of a text."""
    return (word for word in WORD.findall(text) if not word.startswith("0x"))


def vocabulary(log: BuildLog) -> frozenset[str]:
    """Return the words to keep: of the grammars, of ONNX, and of the fields of this log that contain no names."""
    from onnx import defs  # noqa: PLC0415 - its import takes a third of a second

    operators = {word for schema in defs.get_all_schemas_with_history() for word in words(schema.name)}
    common = {form for word in _COMMON.split() for form in (word, word.capitalize(), word.upper())}
    common.update(words(_TENSORRT))
    of_log = {word for build in log.builds for text in _harmless(build) for word in words(text)}
    return frozenset(_grammar_words() | operators | common | of_log)


def _grammar_words() -> set[str]:
    found: set[str] = set()
    grammar = resources.files("trtforensics.parsers.grammar")
    for folder in (grammar, grammar / "nested_rules"):
        for file in folder.iterdir():
            if file.name.endswith(".lark"):
                found.update(words(_COMMENT.sub("", file.read_text(encoding="utf-8"))))
    return found


def _harmless(build: Build) -> Iterator[str]:
    """Yield the texts of a build that come from TensorRT and not from the user."""
    yield from (word.partition("=")[0] for word in (build.command or "").split() if word.startswith("--"))
    for block, facts in build.options.items():
        yield from (fact.name for fact in facts)
        yield from (fact.value for fact in facts if block != "model" and not _A_NAME.search(fact.value))
    for layer in build.engine_layers:
        yield from (layer.type, layer.tactic_name, *layer.fields, *layer.output_types)
        yield from (tensor.format for tensor in (*layer.inputs, *layer.outputs))
    for choice in build.choices:
        yield from (choice.runner, *choice.inputs, *choice.outputs)
    for cached in build.cached:
        yield from (cached.runner, *cached.inputs, *cached.outputs)
    yield from (fusion.kind for fusion in build.fusions)
    yield from (stage.name for stage in build.stages)
    yield from (node.op for node in build.onnx_nodes)
    yield from _timed(build.timings)
    yield from (candidate.kernel for operation in build.myelin_operations for candidate in operation.candidates)
    yield from (name for text in _names_with_parts_of_tensorrt(build) for name in _MADE_BY_TENSORRT.findall(text))


def _timed(timings: TacticTimings) -> Iterator[str]:
    for column in (timings.kernel, timings.runner_name):
        yield from (timings.texts[index] for index in np.unique(column[column >= 0]).tolist())


def _names_with_parts_of_tensorrt(build: Build) -> Iterable[str]:
    tensors = (tensor.name for layer in build.engine_layers for tensor in (*layer.inputs, *layer.outputs))
    return (*(choice.layer for choice in build.choices), *(layer.name for layer in build.engine_layers), *tensors)
