"""The layers that a name of a replay may mean in another build."""

from __future__ import annotations

from trtforensics.replay.lint import Renaming


def test_the_nearest_name_shares_most_members_and_the_profile() -> None:
    layers = ["a + b", "a + b + c", "d [profile 1]", "d + e", "(Unnamed Layer* 3) [Shuffle]", "{ForeignNode[x...y]}"]
    renaming = Renaming(layers, {"{ForeignNode[x...y]}": ("x", "m", "y")})
    near = renaming.nearest("a + b + z")
    assert [(layer, {*common}) for layer, _, common in near] == [("a + b", {"a", "b"}), ("a + b + c", {"a", "b"})]
    assert renaming.nearest("d + z [profile 1]")[0][0] == "d [profile 1]"
    assert renaming.nearest("d + z")[0][0] == "d + e"
    assert renaming.nearest("m")[0][0] == "{ForeignNode[x...y]}"
    assert renaming.nearest("(Unnamed Layer* 3) [Shuffle]") == []
    assert renaming.other_profiles("d") == ["d [profile 1]"]
