"""One small module a rule, or a family of tiny ones; every :class:`Rule` in a module here is registered."""
