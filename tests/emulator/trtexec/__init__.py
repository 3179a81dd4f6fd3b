"""The command line programs: a trtexec, a check of the engines it writes, and a folder to bisect them in."""
