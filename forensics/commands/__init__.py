"""One module a subcommand: ``add_arguments`` declares its arguments, ``run`` does the work and returns the exit code.

``EXAMPLE`` stands below the help.
``run`` raises :class:`trtforensics.errors.ForensicsError` where a source, an option or a destination cannot be used;
``cli`` makes one sentence of it.
"""
