"""What commands that join files about one engine say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console import streams
from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from argparse import Namespace

    from trtforensics.engines.joining import JoinedSources


def say_unjoined(args: Namespace, joined: JoinedSources) -> None:
    """Say on stderr what of the files joined no layer, a line each; ``--quiet`` silences it."""
    if not args.quiet:
        for one in joined.unjoined:
            streams.tell(f"trtforensics: note: {visible(str(one))}\n")
