"""``trtforensics completions``: the script that makes a shell complete command lines of this program."""

from argparse import ArgumentParser, Namespace

from trtforensics.console import streams

PROGRAM = "trtforensics"


def run(args: Namespace) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    streams.print_result(shellcode([PROGRAM], shell=args.shell).rstrip("\n") + "\n")
    return 0


def complete(parser: ArgumentParser) -> None:
    """Answer the shell that asks for completions, and end the process.

    argcomplete writes the answer to file descriptor 8, and reads the command line from the environment.
    """
    import argcomplete

    argcomplete.autocomplete(parser, always_complete_options="long")
