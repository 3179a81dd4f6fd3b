"""The actions that the command palette lists: those of the screen in view and of all its lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import App
    from textual.binding import Binding
    from textual.dom import DOMNode
    from textual.screen import Screen

Deed = Callable[[], None]


def actions(app: App[Any], screen: Screen[Any]) -> Iterator[SystemCommand]:
    """Return every described action of the screen and of the app, then those of the lists in view, by their keys."""
    seen: set[tuple[str, str]] = set()
    for node in (app, screen, *screen.walk_children()):
        if node is not app and node is not screen and not (getattr(node, "focusable", False) and node.id):
            continue
        for key, bindings in node._bindings.key_to_bindings.items():  # noqa: SLF001 - Textual lists those in focus only
            for binding in bindings:
                named = (binding.description, node.id or "")
                if binding.system or not binding.description or named in seen:
                    continue
                seen.add(named)
                title, where = titled(binding, key), f" in {node.id}" if node not in (app, screen) else ""
                yield SystemCommand(title, f"{app.get_key_display(binding)}{where}", _doing(app, node, binding))


def titled(binding: Binding, key: str) -> str:
    """Return the title of an action."""
    return binding.description or key


def _doing(app: App[Any], node: DOMNode, binding: Binding) -> Deed:
    """Return what runs an action once the palette has closed; a list gets the focus first."""

    def do() -> None:
        if node is not app and node is not app.screen:
            app.screen.set_focus(node)  # type: ignore[arg-type]  # only widgets are listed besides the app and its screen
        app.call_later(app.run_action, binding.action, node)

    return do
