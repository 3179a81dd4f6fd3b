"""Levers inside the build child: what each sets before a build, and what it reports afterwards."""
