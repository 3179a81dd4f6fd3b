"""Timing caches: made from a build log, as JSON (the export) and as text."""

from trtforensics.console.terminal import visible
from trtforensics.errors import UsageError
from trtforensics.model.engine import KIND, SCHEMA, TimingCache
from trtforensics.model.log import BuildLog, Tool
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.kernels import read_kernel
from trtforensics.render.json_text import Forms, document_of, kernel_facts, render

_RECORD_DEPTH = 2


def of_log(log: BuildLog) -> TimingCache:
    """Return the keys of the last build in a log that prints any; of a key that was tuned twice, the last.

    Raises:
        UsageError: no build prints a key.
    """
    build = next((build for build in reversed(log.builds) if build.timing_cache_keys), None)
    if build is None:
        next_step = "Build with TensorRT 10.8 or later, BuilderFlag.EDITABLE_TIMING_CACHE and a verbose logger"
        if any(build.tool is Tool.TENSORRT_RTX for build in log.builds):
            next_step = "TensorRT-RTX times no tactics and fills no timing cache"
        raise UsageError(log.source.path, "prints no keys of an editable timing cache", next_step)
    keys = {key.key: key for key in build.timing_cache_keys}
    return TimingCache(log.source, log.source.path, build.tensorrt_version, tuple(keys.values()))


_FORMS: Forms = {"named": lambda kernel: kernel_facts(read_kernel(kernel))}


def to_json(cache: TimingCache) -> str:
    """Render an export, with one key on each line."""
    head = {"schema": SCHEMA, "kind": KIND, "made_from": cache.made_from, "tensorrt_version": cache.tensorrt_version}
    return render({**head, "keys": [document_of("cache_key", key, _FORMS) for key in cache.keys]}, _RECORD_DEPTH)


def summarise(cache: TimingCache) -> str:
    """Return the operations of a cache as text, each with its line."""
    version = f", TensorRT {cache.tensorrt_version}" if cache.tensorrt_version else ""
    lines = [f"{cache.source.path}: {len(cache.keys)} timing-cache keys{version}, made from {cache.made_from}"]
    for key in cache.keys:
        time = f"{key.time_ms:g} ms" if key.time_ms is not None else "time unknown"
        count = f", {len(key.candidates)} candidates" if key.candidates else ""
        lines.append(f"  {key.op or '(name unknown)'}  (line {key.span.line})")
        lines.append(f"    {key.key}  {tactic_text(key.selected) or 'no tactic known'}  {time}{count}")
    return "".join(f"{visible(line)}\n" for line in lines)
