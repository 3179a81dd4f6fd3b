"""The command line in a process of its own, which says at the end how much memory it had at most."""

from __future__ import annotations

PROGRAM = (
    "import sys; from trtforensics.cli import main; code = main(sys.argv[1:]);"
    # not ru_maxrss: that begins with the memory of the process that forked this one
    "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'));"
    "print(peak.split()[1], file=sys.stderr); sys.exit(code)"
)
"""For Python's ``-c``: the last word on stderr is the peak in KiB."""
