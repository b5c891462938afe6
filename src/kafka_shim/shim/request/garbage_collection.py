"""Full garbage collections are postponed while a large request is handled.

With the hundreds of thousands of objects of such a request, one takes 50 ms or more.
"""

import gc
import threading

NEVER = 1_000_000
"""As many searches of the younger objects would have to come first."""


class FullGcPostponement:
    """Postpones the process's full collections while any request has begun and not ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = 0
        self._thresholds = gc.get_threshold()

    def begin(self) -> None:
        with self._lock:
            if not self._begun:
                self._thresholds = young, middle, _ = gc.get_threshold()
                gc.set_threshold(young, middle, NEVER)
            self._begun += 1

    def end(self) -> None:
        with self._lock:
            self._begun -= 1
            if not self._begun:
                gc.set_threshold(*self._thresholds)


full_gc_postponement = FullGcPostponement()
"""One for the process, as the collector is."""


def freeze_gc() -> None:
    """Exclude all present objects from collections: modules and tables, which stay.

    They are most of what a small broker's collections scan, 5 to 25 ms each time. When a broker has
    stopped, they are its state: with 100,000 topics the process would need 3 s more to exit. Only
    for a process that is nothing but a broker.
    """
    gc.freeze()
