"""Recorded responses that depended on which of two clients came first.

Two clients that use one transactional id at the same time fence each other, and a group that is
described while it rebalances is between two states. The replay may meet them the other way round.
"""

from typing import Any, NamedTuple

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.trace_format.messages import decode_request
from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.events import ConnectionId, Event

TAKEOVER = "while another producer took over its transactional id"
REBALANCE = "of a group in a rebalance"
_FENCED = frozenset(
    {
        ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_TXN_STATE, ErrorCode.CONCURRENT_TRANSACTIONS,
    }
)  # fmt: skip
_REBALANCES = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
_DESCRIPTIONS = frozenset(
    {ApiKey.DESCRIBE_GROUPS, ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.SHARE_GROUP_DESCRIBE}
)
_MEMBERS = ("groups[].members[]", "groups[].group_state", "groups[].protocol_data")


class _Takeover(NamedTuple):
    """An InitProducerId, from the request to the response."""

    connection_id: ConnectionId
    name: str
    start_us: int
    end_us: int


class Races:
    """When producers took over a transactional id, and the differences that come from races."""

    def __init__(self) -> None:
        self._open: dict[tuple[ConnectionId, int], tuple[str, int]] = {}
        self._takeovers: list[_Takeover] = []

    def note(self, event: Event) -> None:
        """Note an InitProducerId for a transactional id, and the response to it."""
        entry = event.entry
        if isinstance(entry, Request) and entry.api_key == ApiKey.INIT_PRODUCER_ID:
            name = getattr(decode_request(entry.frame)[1], "transactional_id", None)
            if name:
                self._open[event.connection_id, entry.sequence] = name, entry.time_us
        elif isinstance(entry, Response) and entry.api_key == ApiKey.INIT_PRODUCER_ID:
            name, start_us = self._open.pop((event.connection_id, entry.sequence), ("", 0))
            if name:
                self._takeovers.append(
                    _Takeover(event.connection_id, name, start_us, entry.time_us)
                )

    def explain(
        self,
        event: Event,
        request_us: int,
        message: Any,
        recorded: Any,
        differences: list[Difference],
    ) -> str:
        """Return from which race all differences of a response come, "" if from none.

        `message` and `recorded` are the recorded request and response.
        """
        if self._has_takeover(event, request_us, message) and all(
            each.field.endswith("error_code") and not _FENCED.isdisjoint(_codes(each))
            for each in differences
        ):
            return TAKEOVER
        rebalances = getattr(event.entry, "api_key", 0) in _DESCRIPTIONS and any(
            group.group_state in _REBALANCES for group in recorded.groups
        )
        if rebalances and all(each.field.startswith(_MEMBERS) for each in differences):
            return REBALANCE
        return ""

    def _has_takeover(self, event: Event, request_us: int, message: Any) -> bool:
        name = getattr(message, "transactional_id", None) or getattr(
            message, "v3_and_below_transactional_id", None
        )
        return bool(name) and any(
            takeover.name == name
            and takeover.connection_id != event.connection_id
            and takeover.start_us <= event.entry.time_us
            and request_us <= takeover.end_us
            for takeover in self._takeovers
        )


def _codes(difference: Difference) -> set[Any]:
    return {difference.recorded, difference.actual}
