"""One partition's record batches, in memory."""

from collections.abc import Mapping

from shim.clock import Clock


class Log:
    """Placeholder until the real one arrives."""

    def __init__(self, configs: Mapping[str, str], clock: Clock) -> None:
        self._configs = configs
        self._clock = clock

    def close(self) -> None:
        """Nothing is held."""
