"""Facts about TensorRT's releases, as tables with their sources, and what they answer.

The tables are ``tables/*.tsv``. In them ``first`` and ``last`` are releases (``10.3``), both inclusive. An empty
``last`` is open: the fact holds in the newest release that the sources describe. Where no row holds, nothing is known.
A source is a file or document and the releases of it that were read: ``importer`` is onnx-tensorrt's importers and
checkers, ``operators.md`` and ``Changelog.md`` its documents, ``TensorRT-RTX`` what that parser's library says.
"""
