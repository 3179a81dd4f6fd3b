"""Work that blocks: done in a thread, its result shown by the widget that asked for it."""

from collections.abc import Callable
from typing import TypeVar

from textual.dom import DOMNode

from trtforensics.errors import ForensicsError

_Result = TypeVar("_Result")


def in_thread(
    owner: DOMNode,
    work: Callable[[], _Result | None],
    then: Callable[[_Result], object],
    *,
    group: str,
    failed: Callable[[ForensicsError], object] | None = None,
) -> None:
    """Do a piece of work in a thread; ``then`` takes its result, unless that is None, and ``failed`` an error of ours.

    Both are called as messages to ``owner``. Newer work of a group cancels older work, which may ask its worker.
    """

    def run() -> None:
        try:
            result = work()
        except ForensicsError as error:
            if failed is None:
                raise
            owner.call_later(failed, error)
        else:
            if result is not None:
                owner.call_later(then, result)

    owner.run_worker(run, group=group, thread=True, exclusive=True)
