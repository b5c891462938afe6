"""How many TLS handshakes there may be at once."""

from kafka_shim.shim.network.protocols import ManagedConnection


class Handshakes:
    """Those that are not done. For one too many the oldest is closed: an honest client's takes few
    milliseconds, so that it is done before a flood of others reaches it.
    """

    def __init__(self, at_once_max: int) -> None:
        self._at_once_max = at_once_max
        self._pending: dict[ManagedConnection, None] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def begin(self, visitor: ManagedConnection) -> None:
        self._pending[visitor] = None
        if len(self._pending) > self._at_once_max:
            oldest = next(iter(self._pending))
            del self._pending[oldest]
            oldest.close(f"more than {self._at_once_max} tls handshakes at once")

    def end(self, visitor: ManagedConnection) -> None:
        """It is done, or has failed."""
        self._pending.pop(visitor, None)
