"""The app of a source other than a log: its layers beside its text."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Footer

from trtforensics.console.counting import counted
from trtforensics.errors import ForensicsError
from trtforensics.tui.copying import APP_KEYS, COPY_KEYS
from trtforensics.tui.issue import IssueSection, quoted_issue
from trtforensics.tui.rows.pieces import Piece, Role, clip
from trtforensics.tui.rows.source_rows import layer_pieces
from trtforensics.tui.rows_app import Failed, RowsApp
from trtforensics.tui.source.layers import SourceList
from trtforensics.tui.terminal_app import STYLE
from trtforensics.tui.widgets.text_pane import TextPane
from trtforensics.tui.widgets.virtual_list import LineBar, VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.types import CSSPathType

    from trtforensics.diff.builds.views import BuildView
    from trtforensics.tui.sessions import SourceSession
    from trtforensics.tui.widgets.help import Keys


class SourceRead(Message):
    """The source was read."""

    def __init__(self, builds: Sequence[BuildView]) -> None:
        super().__init__()
        self.builds = builds


class SourceApp(RowsApp):
    """Browse a replay, an engine-layer file or a timing cache."""

    CSS_PATH: ClassVar[CSSPathType | None] = [STYLE, "app.tcss"]

    KEYS: ClassVar[Keys] = (
        (
            "Move",
            (
                ("↑ ↓  k j", "one row; the text follows"),
                ("← →  h l", "sideways"),
                ("Tab  Shift+Tab", "rows, text"),
                ("Enter", "from a row to its line"),
                ("PgUp PgDn Home End", "pages and ends"),
                ("[  ]", "previous, next document of the file"),
            ),
        ),
        (
            "Find",
            (
                ("f", "keep the layers whose name holds a text"),
                ("/", "search the text"),
                ("n  N", "next, previous match"),
                ("p", "hide the loggers' prefixes, or show them"),
                ("Esc", "leave the input; drop the filter"),
            ),
        ),
        *COPY_KEYS,
        *APP_KEYS,
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "document(-1)", "Previous document", show=False),
        Binding("right_square_bracket", "document(1)", "Next document", show=False),
    ]

    def __init__(self, session: SourceSession) -> None:
        super().__init__()
        self._session = session
        self._builds: Sequence[BuildView] = ()
        self._number = 0
        self.rows = SourceList(id="rows")
        self.text = TextPane(session.text, "text", Role.DIM, id="text")

    def compose(self) -> ComposeResult:
        """Lay the screen out: rows at the left, the text at the right."""
        yield LineBar(id="title")
        with Horizontal(id="source"):
            with Vertical(id="rows-pane", classes="pane"):
                yield LineBar(id="kind", classes="heading")
                yield self.rows
            yield self.text
        yield self.prompt
        yield LineBar(id="status")
        yield Footer()

    def on_mount(self) -> None:
        """Read the source once the screen is drawn."""
        self.rows.show_layers((), "reading")
        self.rows.focus()
        self.say("opening")
        self.on_resize()
        self.call_after_refresh(lambda: self.run_worker(self._read, group="read", thread=True))

    def on_resize(self) -> None:
        """Fit the title to the width."""
        name = clip(self._session.name, max(self.size.width - 16, 12))
        self.query_one("#title", LineBar).show(Piece(" trtforensics ", Role.TITLE), Piece(f" {name}"))

    def _read(self) -> None:
        """Read the source, in a thread; post the outcome as a message."""
        try:
            self.post_message(SourceRead(self._session.builds()))
        except ForensicsError as error:
            self.post_message(Failed(error))

    def on_source_read(self, event: SourceRead) -> None:
        """Show the first document."""
        self._builds = event.builds
        self.fill()

    def main_list(self) -> str:
        """Return the list of layers."""
        return "#rows"

    def fill(self) -> None:
        """Show the layers of the document in view that pass the filter."""
        if not self._builds:
            return
        build = self._builds[self._number]
        all_layers = (*(build.layers or ()), *(build.operations or ()))
        wanted = self.kept.lower()
        layers = [layer for layer in all_layers if wanted in layer.name.lower()]
        self.rows.show_layers(layers, "no such layer" if all_layers else "it holds no layer")
        what = f" {build.what}" if build.what else ""
        count = counted(len(all_layers), "operation" if build.layers is None else "layer")
        self.query_one("#kind", LineBar).show(Piece(f" {build.kind}{what} ", Role.STRONG), Piece(count, Role.ACCENT))
        self._follow()
        self.status()

    def status(self, note: str = "") -> None:
        """Show the notes of the document, and a note."""
        build = self._builds[self._number] if self._builds else None
        several = f"document {self._number + 1} of {len(self._builds)} [ ]" if len(self._builds) > 1 else ""
        notes = build.notes if build is not None else ()
        self.say(" · ".join(filter(None, (several, *notes))) or "Enter opens the line", note)

    def cited(self) -> tuple[str, int, str] | None:
        """Return the line in view."""
        return self.text.cited()

    def next_command(self) -> str:
        """Return the command that prints the source."""
        return f"trtforensics parse {shlex.quote(self._session.name)}"

    def issue(self) -> str:
        """Return the layer under the cursor, with its line."""
        layer, cited = self.rows.selected, self.text.cited()
        if layer is None:
            return ""
        row = "".join(piece.text for piece in layer_pieces(layer))
        return quoted_issue(
            f"a layer of a {self._builds[self._number].kind}", [IssueSection("Layer", [row])], [cited] if cited else []
        )

    def source_name(self) -> str:
        """Return the path of the source."""
        return self._session.name

    def action_document(self, by: int) -> None:
        """Switch to another document of the file."""
        if len(self._builds) > 1:
            self._number = (self._number + by) % len(self._builds)
            self.fill()
        else:
            self.status("the file holds one document")

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Let the text follow the rows once the cursor rests."""
        if event.source is self.rows:
            self.when_resting(self._follow)

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Go from a row to its line."""
        if event.source is self.rows:
            self._follow()
            self.text.view.focus()

    def _follow(self) -> None:
        layer = self.rows.selected
        self.text.open(layer.span if layer is not None else None)
