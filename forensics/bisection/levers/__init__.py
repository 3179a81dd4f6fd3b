"""The levers, one module each: how a subset of items becomes a build. ``session/lever.py`` has their interface."""
