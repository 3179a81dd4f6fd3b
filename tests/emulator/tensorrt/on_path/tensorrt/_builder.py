"""The builder: from a network and a configuration to an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.emulator.engine import faults, never_captured
from tests.emulator.engine.builder import Build, Refused, Request
from tests.emulator.engine.files import engine_bytes, present, read_engine
from tests.emulator.engine.kernels import dice
from tests.emulator.engine.net import restricted
from tests.emulator.engine.onnx_net import Unsupported
from tests.emulator.engine.story import Story
from tests.emulator.log.opening import Message

from ._config import IBuilderConfig, IHostMemory, IOptimizationProfile
from ._enums import ELEVEN, BuilderFlag, ProfilingVerbosity
from ._logging import ILogger, listens, tell
from ._network import INetworkDefinition
from ._runtime import ICudaEngine
from ._scenario import VERSION, Scenario, read
from ._selector import Adapter

if TYPE_CHECKING:
    from typing_extensions import Self

    from tests.emulator.engine.net import Net

FAILED = "IBuilder::buildSerializedNetwork: "


class Builder:
    """Makes networks, configurations and engines."""

    def __init__(self, logger: ILogger) -> None:
        if not isinstance(logger, ILogger):
            raise TypeError("__init__(): incompatible constructor arguments.")
        self.logger = logger
        self.max_threads = 1
        self.error_recorder: Any = None
        self.platform_has_fast_fp16 = True
        self.platform_has_fast_int8 = True
        self.platform_has_tf32 = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def create_network(self, flags: int = 0) -> INetworkDefinition:
        """Return an empty network."""
        return INetworkDefinition(self, self.logger, flags)

    def create_builder_config(self) -> IBuilderConfig:
        """Return a configuration."""
        return IBuilderConfig(self.logger)

    def create_optimization_profile(self) -> IOptimizationProfile:
        """Return an empty profile."""
        return IOptimizationProfile()

    def reset(self) -> None:
        """Set everything back."""

    def is_network_supported(self, network: INetworkDefinition, config: IBuilderConfig) -> bool:  # noqa: ARG002 - as TensorRT
        """Whether a network can be built."""
        return True

    def build_engine_with_config(self, network: INetworkDefinition, config: IBuilderConfig) -> ICudaEngine | None:
        """Build and load."""
        plan = self.build_serialized_network(network, config)
        return None if plan is None else ICudaEngine(plan)

    def build_serialized_network(self, network: INetworkDefinition, config: IBuilderConfig) -> IHostMemory | None:
        """Build; None after an error, which is in the log."""
        try:
            self._check(network, config)
            net = restricted(network._net(), half=_half(network, config), wanted=_wanted(network, config))
        except (Refused, Unsupported) as error:
            tell(self.logger, [Message("E", f"{FAILED}{error}")])
            return None
        scenario = read()
        build = Build(net, _request(config, net, scenario))
        story = Story(
            build,
            VERSION,
            editable=config._has("EDITABLE_TIMING_CACHE"),
            detailed=config.profiling_verbosity is ProfilingVerbosity.DETAILED,
        )
        try:
            build.run()
        except Refused as error:
            self._tell(story, ended=False)
            tell(self.logger, [Message("E", f"{FAILED}{error}")])
            return None
        self._tell(story, ended=True)
        marked = {"outputs": [tensor.name for tensor in network._outputs], "debug": network._debug}
        marked["route"] = getattr(config, "build_route", "").split()
        marked["flags"] = [name for name in BuilderFlag.__members__ if config._has(name)]
        plan = engine_bytes(build, VERSION, luck=dice("luck", scenario.luck).random(), **marked)
        if not scenario.when or present(read_engine(plan), scenario.when):
            faults.strike(list(scenario.faults))
        return IHostMemory(plan)

    def _check(self, network: INetworkDefinition, config: IBuilderConfig) -> None:
        if not network._model:
            raise Refused("Error Code 4: API Usage Error (Network must have at least one output)")
        if network._typed and config._has("FP16"):
            raise Refused("Error Code 3: API Usage Error (condition: !config.getFlag(BuilderFlag::kFP16).)")
        dynamic = any(size < 0 for tensor in network._inputs for size in tensor.shape)
        if dynamic and not config.num_optimization_profiles:
            text = "Network has dynamic or shape inputs, but no optimization profile has been defined."
            raise Refused(f"Error Code 4: API Usage Error ({text})")

    def _tell(self, story: Story, *, ended: bool) -> None:
        if not listens(self.logger):
            return
        mark = never_captured.mark(VERSION, editable=story.editable)
        if mark is not None:
            print(mark)
        tell(self.logger, [*story.optimised(), *story.tuned()])
        if ended:
            tell(self.logger, story.finished())


def _half(network: INetworkDefinition, config: IBuilderConfig) -> bool:
    return network._typed or config._has("FP16")


def _wanted(network: INetworkDefinition, config: IBuilderConfig) -> dict[str, str]:
    """Return the precisions that the builder heeds: those asked for, where a flag says to obey or to prefer them."""
    obeyed = config._has("OBEY_PRECISION_CONSTRAINTS") or config._has("PREFER_PRECISION_CONSTRAINTS")
    return network._wanted() if obeyed and not ELEVEN else {}


def _request(config: IBuilderConfig, net: Net, scenario: Scenario) -> Request:
    cache = config.get_timing_cache()
    if config._has("DISABLE_TIMING_CACHE") or config.builder_optimization_level == 0:
        cache = None
    selector = config.algorithm_selector
    return Request(
        luck=scenario.luck,
        noise=scenario.noise,
        selector=None
        if selector is None
        else Adapter(selector, net, reject_empty=config._has("REJECT_EMPTY_ALGORITHMS")),
        cache=None if cache is None else cache._entries,
        error_on_miss=config._has("ERROR_ON_TIMING_CACHE_MISS"),
        runner_up=scenario.runner_up,
        refused=frozenset(int(tactic, 16) for tactic in scenario.refused),
        drift={int(moved, 16): int(cause, 16) for moved, cause in scenario.drift},
        blind=frozenset(int(place, 16) for place in scenario.blind),
    )
