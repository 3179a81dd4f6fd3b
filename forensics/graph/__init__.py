"""The graph of one build, and its export to files. Called, the package is :func:`trtforensics.api.graph`."""

from trtforensics.callable_package import make_callable

make_callable(__name__)
