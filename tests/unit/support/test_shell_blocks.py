"""Blocks of a page: which run, which are files, and which text is what a command prints."""

from __future__ import annotations

from tests.support.for_each import for_each
from tests.support.shell_blocks import blocks, replaced, steps

PAGE = """# Title

```text title="a.log"
one
```

<!-- exit: 1 -->
```sh
cat a.log
false
```

```text
one
```

- item

    ```sh
    echo two
    ```

prose

```text
not an output
```
"""


def test_files_and_commands_come_in_the_order_of_the_page() -> None:
    first, second, third = steps(PAGE)
    assert (first.block.title, first.block.text, first.printed) == ("a.log", "one\n", None)
    assert (second.block.text, second.block.marks) == ("cat a.log\nfalse\n", {"exit": "1"})
    assert third.block.text == "echo two\n"


def test_only_a_text_directly_below_a_command_is_its_output() -> None:
    _, second, third = steps(PAGE)
    assert second.printed is not None
    assert second.printed.text == "one\n"
    assert third.printed is None


def test_an_output_is_replaced_and_nothing_else() -> None:
    printed = steps(PAGE)[1].printed
    assert printed is not None
    assert replaced(PAGE, [(printed, "three\nfour")]) == PAGE.replace("```text\none", "```text\nthree\nfour")


@for_each("language", ["sh", "bash", "console", "shell", "zsh"])
def test_a_block_of_any_shell_runs(language: str) -> None:
    (block,) = blocks(f"```{language}\ntrue\n```\n")
    assert block.runs
