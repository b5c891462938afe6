"""Facts about a recording that a replay needs before it begins, from a first pass."""

from collections.abc import Iterable

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.trace.entries import Response
from kafka_shim.shim.traffic.replay.error_codes import is_put_off
from kafka_shim.shim.traffic.replay.events import Event, Line

LOGIN = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})

_Place = tuple[Line, int]


class Foresight:
    """`count` events from `first_us` on, the principal of each connection, responses to log-ins,
    and requests for which the recorded broker was not ready.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.count = 0
        self.first_us = 0
        self.principals: dict[Line, str] = {}
        self.logins: dict[_Place, Response] = {}
        self.put_off: set[_Place] = set()
        for event in events:
            self._note(event)

    def _note(self, event: Event) -> None:
        if not self.count:
            self.first_us = event.entry.time_us
        self.count += 1
        self.principals[event.line] = event.principal
        if isinstance(event.entry, Response):
            place = event.line, event.entry.sequence
            if event.entry.api_key in LOGIN:
                self.logins[place] = event.entry
            if is_put_off(event.entry):
                self.put_off.add(place)
