"""How a subset of items becomes a build: one module a lever, all behind one interface (``lever.py``)."""
