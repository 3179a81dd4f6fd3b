"""What differs between good and bad builds, from any source: logs, replays, engine layers, timing caches.

Called, the package is :func:`trtforensics.api.diff`.
"""

from trtforensics.callable_package import make_callable

make_callable(__name__)
