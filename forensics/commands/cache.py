"""``trtforensics cache``: export timing-cache keys to JSON, and apply such an export to a binary cache."""

from argparse import Namespace
from collections.abc import Sequence

from trtforensics.console.diagnostics import remark
from trtforensics.console.output import write_bytes, write_text
from trtforensics.model.engine import TimingCache
from trtforensics.model.log import MyelinOperation
from trtforensics.parsers.text.document import read_document
from trtforensics.render import cache as cache_export
from trtforensics.sources import editable_cache
from trtforensics.sources.build_log import keep_sources, load_build_log
from trtforensics.sources.cache import is_binary, load_timing_cache
from trtforensics.sources.kinds import Kind, kind_of


def run(args: Namespace) -> int:
    """Run a subcommand."""
    return _export(args) if args.action == "export" else _apply(args)


def _export(args: Namespace) -> int:
    keep_sources([args.source], args.output)
    cache = load(args.source, args.max_bytes)
    write_text(args.output, cache_export.to_json(cache))
    remark(f"{args.output}: {len(cache.keys)} keys", quiet=args.quiet)
    return 0


def load(path: str, max_bytes: int) -> TimingCache:
    """Read the keys of a log, an export, or (through TensorRT) a binary cache."""
    if kind_of(path) is Kind.BUILD_LOG and not is_binary(path):
        return cache_export.of_log(load_build_log([path], max_bytes=max_bytes))
    return load_timing_cache(path, max_bytes=max_bytes)


def _apply(args: Namespace) -> int:
    keep_sources([args.source, args.to], args.output)
    keys = load_timing_cache(args.source, max_bytes=args.max_bytes).keys
    changed = write_applied(args, keys)
    remark(f"{args.output}: {changed} of {len(keys)} keys now have another tactic", quiet=args.quiet)
    return 0


def write_applied(args: Namespace, keys: Sequence[MyelinOperation]) -> int:
    """Write the cache ``--to`` with the tactics of some keys; return how many keys have another tactic then."""
    payload, changed = editable_cache.apply(read_document(args.to, max_bytes=args.max_bytes), keys)
    write_bytes(args.output, payload)
    return changed
