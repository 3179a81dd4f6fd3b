"""One module a subcommand: ``run`` does the work and returns the exit code.

Its arguments and examples are rows of the tables; ``add_arguments``, where there is one, declares what no row can say.
``run`` raises :class:`trtforensics.errors.ForensicsError` where a source, an option or a destination cannot be used;
``cli`` makes one sentence of it.
"""
