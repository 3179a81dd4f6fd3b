"""Bisection through real builds: the search, probes, artifacts directories, levers, precision.

Called, the package is :func:`trtforensics.api.bisect`.
"""

from trtforensics.callable_package import make_callable

make_callable(__name__)
