"""Build routes inside the build child (TensorRT 11.1 and later): knobs of the compiler behind ForeignNodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from trtforensics.backends.lever import Findings

if TYPE_CHECKING:
    from trtforensics.backends.lever import Bench


class RouteConfig(Protocol):
    """The part of ``IBuilderConfig`` that 11.1 added, which ``tensorrt-stubs`` (10.13) do not know.

    ``build_route`` is whitespace-separated tokens ``-name=value``, empty for the defaults; ``all_build_routes`` is a
    JSON document, empty on TensorRT-RTX and on Windows (docstrings of the bindings of 11.4).
    """

    build_route: str
    all_build_routes: str


class RouteLever:
    """Sets a build route."""

    def __init__(self, route: str) -> None:
        self.findings = Findings()
        self._route = route

    def attach(self, bench: Bench, config: Any) -> None:  # noqa: ANN401, ARG002 - TensorRT's
        """Set the route; TensorRT-RTX takes any without a word, and reads back an empty one."""
        knobs: RouteConfig = config
        knobs.build_route = self._route
        if knobs.build_route.split() != self._route.split():
            self.findings.refused.append(f"TensorRT does not take the build route {self._route!r}")

    def look(self, config: Any) -> None:  # noqa: ANN401 - the same
        """Compare the route with the one that was set."""
        knobs: RouteConfig = config
        if knobs.build_route.split() != self._route.split():
            self.findings.differs.append(f"the build route is {knobs.build_route!r} instead of {self._route!r}")
