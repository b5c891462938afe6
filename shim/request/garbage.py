"""The garbage collector goes through all objects only while no large request is worked on.

With the hundred thousands of objects of one it takes 50 ms and more, in which nobody is served.
"""

import gc
import threading

NEVER = 1_000_000
"""As many searches of the younger objects would have to come first."""


class Postponement:
    """Puts the full collections of the process off while somebody has begun and not ended one."""

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


full_collections = Postponement()
"""One for the process, as the collector is."""


def set_aside() -> None:
    """Have the collector pass over all that there is: modules and tables, which stay for good.

    They are most of what it looks at in a small broker, 5 to 25 ms each time. When a broker has
    stopped, they are its state: with 100,000 topics the process would take 3 s longer to end. For a
    process that is a broker and nothing else.
    """
    gc.freeze()
