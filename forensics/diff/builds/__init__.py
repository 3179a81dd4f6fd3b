"""The builds of both sides in one form, and how their layers correspond."""
