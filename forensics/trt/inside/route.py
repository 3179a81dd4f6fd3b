"""Build routes inside the build child (TensorRT 11.1 and later): knobs of the compiler behind ForeignNodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from trtforensics.trt.inside.lever import BuildLever

if TYPE_CHECKING:
    import tensorrt

    from trtforensics.trt.api import RouteConfig
    from trtforensics.trt.inside.lever import BuildSetup


class RouteSetting(BuildLever):
    """Sets a build route."""

    def __init__(self, route: str) -> None:
        super().__init__()
        self._route = route

    def attach(self, setup: BuildSetup, config: tensorrt.IBuilderConfig) -> None:  # noqa: ARG002 - the route is the configuration's
        """Set the route; TensorRT-RTX accepts any route silently, and reads back an empty one."""
        knobs = cast("RouteConfig", config)
        knobs.build_route = self._route
        if knobs.build_route.split() != self._route.split():
            self.result.refused.append(f"TensorRT does not take the build route {self._route!r}")

    def look(self, config: tensorrt.IBuilderConfig) -> None:
        """Compare the route with the one that was set."""
        knobs = cast("RouteConfig", config)
        if knobs.build_route.split() != self._route.split():
            self.result.differs.append(f"the build route is {knobs.build_route!r} instead of {self._route!r}")
