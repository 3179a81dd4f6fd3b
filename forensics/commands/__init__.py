"""One module a subcommand: ``run`` does the work and returns the exit code.

Its arguments, actions and examples are rows of the tables.
``run`` raises :class:`trtforensics.errors.ForensicsError` where a source, an option or a destination cannot be used;
``cli`` makes one sentence of it.
"""
