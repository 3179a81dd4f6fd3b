"""The words of a command that a probe replaces."""

from __future__ import annotations

from trtforensics.bisection.runner.placeholders import fill, mentions, unknown


def test_which_placeholders_a_command_uses() -> None:
    assert fill("a {engine} {items} {}", {"engine": "/x y"}) == "a '/x y' {items} {}"
    assert mentions("run {engine}", "engine")
    assert mentions("run $TRTFORENSICS_ENGINE", "engine")
    assert not mentions("run engine $TRTFORENSICS_ENGINES", "engine")
    assert unknown("{replay} {items} {log} {replay} {nonsense}", frozenset({"items", "log"})) == ["replay"]
