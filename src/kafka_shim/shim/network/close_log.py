"""Log lines of connections that the broker closed: repeated ones are summed up."""

import re

from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.text.logs import Log

log = Log("shim.connection")

PERIOD_MS = 10_000
_KINDS_MAX = 1_000
_KINDS_OF_HOST_MAX = 8
_OTHER = "further reasons"
_NUMBER = r"\d+"

CloseKind = tuple[str, str, str]  # host, listener, reason without its numbers


class CloseLog:
    """The first closing of a kind is logged immediately; later ones are counted, and logged in one
    line every PERIOD_MS. A kind that did not recur is forgotten.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._object_counts: dict[CloseKind, int] = {}  # of those not logged yet
        self._reasons: dict[CloseKind, str] = {}  # the first one of each kind
        self._kinds_of: dict[str, int] = {}  # by host
        self._timer: Timer | None = None

    def log_close(self, host: str, port: int, listener: str, reason: str, principal: str) -> None:
        """Log a closing, or count it."""
        kind = self._close_kind(host, listener, reason)
        if kind in self._object_counts:
            self._object_counts[kind] += 1
            return
        self._object_counts[kind] = 0
        self._reasons[kind] = reason if kind[2] != _OTHER else _OTHER
        self._kinds_of[host] = self._kinds_of.get(host, 0) + 1
        log.info(
            "connection closed",
            reason=reason,
            listener=listener,
            peer=f"{host}:{port}",
            principal=principal,
        )
        if self._timer is None:
            self._timer = self._clock.call_later(PERIOD_MS, self._log_summary)

    def log_counts(self) -> None:
        """Log the counts, and forget all kinds."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._log_counts()
        self._object_counts.clear()
        self._reasons.clear()
        self._kinds_of.clear()

    def _close_kind(self, host: str, listener: str, reason: str) -> CloseKind:
        """Return its kind, or a common one: peers choose parts of
        reasons, and can have many hosts.
        """
        kind = (host, listener, re.sub(_NUMBER, "0", reason))
        if kind in self._object_counts:
            return kind
        if len(self._object_counts) >= _KINDS_MAX:
            return ("many hosts", listener, _OTHER)
        if self._kinds_of.get(host, 0) >= _KINDS_OF_HOST_MAX:
            return (host, listener, _OTHER)
        return kind

    def _log_summary(self) -> None:
        self._timer = None
        self._log_counts()
        again = dict.fromkeys((kind for kind, count in self._object_counts.items() if count), 0)
        self._object_counts = again
        self._reasons = {kind: self._reasons[kind] for kind in again}
        self._kinds_of = {}
        for host, _, _ in again:
            self._kinds_of[host] = self._kinds_of.get(host, 0) + 1
        if again:
            self._timer = self._clock.call_later(PERIOD_MS, self._log_summary)

    def _log_counts(self) -> None:
        for kind, count in self._object_counts.items():
            host, listener, _ = kind
            if count:
                log.info(
                    "connections closed",
                    count=count,
                    seconds=PERIOD_MS // 1000,
                    reason=self._reasons[kind],
                    listener=listener,
                    peer=host,
                )
