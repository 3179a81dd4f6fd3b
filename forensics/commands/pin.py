"""``trtforensics pin``: freeze the tactics of a build, choose others on purpose, and prove that a build used them."""

from argparse import Namespace
from shlex import quote

from trtforensics.commands.cache import write_applied
from trtforensics.commands.parse import read_log
from trtforensics.console import streams
from trtforensics.console.arguments import read_options
from trtforensics.console.diagnostics import ExitCode
from trtforensics.console.output import write_text
from trtforensics.errors import UsageError
from trtforensics.model.engine import TimingCache
from trtforensics.pin.conditions import PinConditions
from trtforensics.pin.plan import PinForm, PinPlan, form_of, keys_of_plan, make_plan, text_of_plan
from trtforensics.pin.report import plan_json, plan_text, proofs_json, proofs_text
from trtforensics.pin.verification import PinUse, verify_keys, verify_layers, without_proof
from trtforensics.sources.build_log import keep_sources
from trtforensics.sources.cache import is_binary, load_timing_cache
from trtforensics.sources.kinds import Kind, kind_of
from trtforensics.sources.replay import load_replay


def run(args: Namespace) -> int:
    """Pin, or verify."""
    return _verify(args) if args.verify is not None else _pin(args)


def _pin(args: Namespace) -> int:
    if args.output is None:
        raise UsageError("-o", "is missing", "Name the file to write, or verify one with --verify")
    conditions = read_options(args, PinConditions)
    keep_sources([*args.sources, conditions.same_as, args.to], args.output)
    logs = [read_log(args, [path]) for path in args.sources]
    form = PinForm(args.form) if args.form else form_of(logs[0])
    if args.to is not None and form is not PinForm.CACHE:
        raise UsageError("--to", "takes timing-cache keys, and the log prints none", "Leave it out")
    plan = make_plan(logs, conditions, form, max_bytes=args.max_bytes)
    if args.to is None or plan.pinnable.base is None:
        write_text(args.output, text_of_plan(plan))
    else:
        write_applied(args, keys_of_plan(plan, plan.pinnable.base).keys)
    if args.json:
        streams.print_result(plan_json(plan, args.output, form))
    else:
        streams.print_result(plan_text(plan, args.output, _next_steps(args, plan, form)))
    return 0


def _next_steps(args: Namespace, plan: PinPlan, form: PinForm) -> list[str]:
    pinned, log = quote(args.output), quote(plan.pinnable.log.source.path)
    if form is PinForm.REPLAY:
        build = f"polygraphy run MODEL.onnx --trt --load-tactics {pinned} --save-engine pinned.engine -vv"
        logged = f"{build} > rebuilt.log 2>&1    # with the options of {log}"
        return [logged, f"trtforensics pin --verify {pinned} rebuilt.log"]
    cache = pinned
    steps = []
    if args.to is None:
        cache = "pinned.cache"
        steps.append(f"trtforensics cache apply {pinned} --to CACHE -o {cache}    # CACHE: the binary cache of {log}")
    steps.append(
        f"build with set_flag(BuilderFlag.EDITABLE_TIMING_CACHE) and create_timing_cache(the bytes of {cache}) through "
        "the API: trtexec has no option for it"
    )
    return [*steps, f"trtforensics pin --verify {pinned} rebuilt.log rebuilt.cache    # the cache after the build"]


def _verify(args: Namespace) -> int:
    if read_options(args, PinConditions) != PinConditions() or args.output or args.to or args.form:
        raise UsageError("--verify", "goes with no condition and no output", "Give PINNED and what the build left")
    texts = [path for path in args.sources if kind_of(path) is Kind.BUILD_LOG and not is_binary(path)]
    logs = [read_log(args, [path]) for path in texts]
    others = [path for path in args.sources if path not in texts]
    if not is_binary(args.verify) and kind_of(args.verify) is Kind.REPLAY:
        if others:
            what = "is no build log, and only a log shows whether a replay was used"
            raise UsageError(others[0], what, "Give the log")
        proofs = verify_layers(load_replay(args.verify, max_bytes=args.max_bytes), logs)
    else:
        caches: list[TimingCache] = [load_timing_cache(path, max_bytes=args.max_bytes) for path in others]
        proofs = verify_keys(load_timing_cache(args.verify, max_bytes=args.max_bytes), logs, caches)
    if not proofs:
        raise UsageError(args.verify, "pins nothing", "Give the file that `pin` wrote")
    streams.print_result((proofs_json if args.json else proofs_text)(args.verify, proofs))
    used = not without_proof(proofs) and all(proof.use is not PinUse.NOT_USED for proof in proofs)
    return ExitCode.OK if used else ExitCode.NO
