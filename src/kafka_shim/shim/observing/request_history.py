"""The history for the control API: the last requests with their decisions, and totals.

It is limited in number and in bytes, including decisions; older requests are dropped, but not
their totals.
"""

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from kafka_shim.authorizer.model import DecisionReason
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.protocol.code_names import error_name
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_request_frame, read_response_with_version
from kafka_shim.protocol.responses import nonzero_error_codes
from kafka_shim.protocol.wire_json import message_json
from kafka_shim.shim.observing.request_remedy import DeniedRequest, denied_request, remedy_json
from kafka_shim.shim.request.access import AccessRecord
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import Session
from kafka_shim.trace_format.redaction import (
    redact_request,
    redact_response,
)

REQUESTS_MAX = 10_000
BYTES_MAX = 32 * 1024 * 1024
RESPONSE_BYTES_MAX = 16 * 1024
"""Longer responses are not kept: they would drive out others."""
_OVERHEAD_BYTES = 400
"""Roughly what is held of a request besides its frame."""
DECISIONS_MAX = 1_000
"""How many decisions of one request are kept; the totals have all."""
DECODED_MAX = 1024
"""Bytes of a denied request that is held decoded, until what it needs is computed."""
_APIS = {int(key): key for key in ApiKey}  # a class of enums is slow to tell
_DECISION_BYTES = 250
"""Roughly what is held of a decision besides the name of its resource."""


class HistoryEntry:
    """A received request: its sender, decisions and response.

    `errors` are the error codes of the response except 0; None without a response so far.
    `left_out_decisions` is the number of decisions that are not kept; `denied_request`
    computes what would allow the request; None if nothing was denied.
    """

    __slots__ = (
        "_frame",
        "api",
        "client_id",
        "connection",
        "correlation_id",
        "denied_request",
        "errors",
        "faults",
        "frame_bytes",
        "host",
        "left_out_decisions",
        "node_id",
        "number",
        "principal",
        "records",
        "responded_us",
        "response",
        "response_bytes",
        "size_bytes",
        "time_us",
        "version",
    )

    def __init__(
        self, number: int, time_us: int, session: Session, header: RequestHeader, frame: bytes
    ) -> None:
        self.number = number
        self.time_us = time_us
        self.api = _APIS[header.api_key]
        self.version = header.api_version
        self.client_id = header.client_id
        self.correlation_id = header.correlation_id
        self.principal = session.principal
        self.host = session.host
        self.connection = session.number
        self.node_id = session.node_id
        self.records: list[AccessRecord] = []
        self.denied_request: DeniedRequest | None = None
        self.left_out_decisions = 0
        self.errors: tuple[int, ...] | None = None
        self.faults: list[int] = []
        self.responded_us: int | None = None
        self.response: bytes | None = None
        self.response_bytes: int | None = None
        self._frame = redact_request(frame, header.api_key)[0]
        self.frame_bytes = len(frame)
        self.size_bytes = len(self._frame) + _OVERHEAD_BYTES

    def request_row(self) -> dict[str, Any]:
        """Return the request for JSON, decoded in Kafka's field names."""
        return self._common_columns() | {
            "correlation_id": self.correlation_id,
            "connection": self.connection,
            "node_id": self.node_id,
            "request": self._decoded_request_or_none(),
            "errors": None if self.errors is None else list(self.errors),
            "error_names": [error_name(code) for code in self.errors or ()],
            "faults": self.faults,
            "latency_us": None if self.responded_us is None else self.responded_us - self.time_us,
            "decisions_left_out": self.left_out_decisions,
        }

    def decoded_row(self) -> dict[str, Any]:
        """Return the request and its response, decoded and as bytes, without secrets."""
        response = None
        if self.response is not None:
            response = redact_response(self.response[4:], self.api, self.version)[0]
        return {
            "number": self.number,
            "request": self._decoded_request_or_none(),
            "request_hex": self._frame.hex(),
            "response": None if response is None else self._decoded_response_or_none(response),
            "response_hex": None if response is None else response.hex(),
            "response_bytes": self.response_bytes,
        }

    def decision_rows(self) -> Iterator[dict[str, Any]]:
        """Yield its decisions for JSON; each denied one has what would allow the request."""
        denied = self.denied_request
        to_allow = None if denied is None else remedy_json(denied.remedy)
        for record in self.records:
            yield self._common_columns() | {
                "operation": record.action.operation.name,
                "resource_type": record.action.resource_type.name,
                "resource_name": record.action.resource_name,
                "allowed": record.decision.allowed,
                "because": record.decision.reason.value,
                "rule": _reason_text(record),
                "would_allow": None if record.decision.allowed else to_allow,
                "count": record.count,
                "logged": record.log_if_allowed
                if record.decision.allowed
                else record.log_if_denied,
            }

    def _common_columns(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "time_us": self.time_us,
            "api": self.api.wire_name,
            "version": self.version,
            "client_id": self.client_id,
            "principal": self.principal,
            "host": self.host,
        }

    def request_message_or_none(self) -> Any:
        """Return the request, without secrets; None if its frame was shortened."""
        try:
            return read_request_frame(self._frame)[1]
        except ProtocolError:
            return None

    def _decoded_request_or_none(self) -> dict[str, Any] | None:
        message = self.request_message_or_none()
        return None if message is None else message_json(message, self.version)

    def _decoded_response_or_none(self, frame: bytes) -> dict[str, Any] | None:
        try:
            message, version = read_response_with_version(self.api, self.version, frame)
        except ProtocolError:
            return None
        return message_json(message, version)


class ResponseCountKey(NamedTuple):
    """What responses are counted by; an error code of 0 is a response without errors."""

    api: str
    version: int
    error_code: int


class DecisionCountKey(NamedTuple):
    """What decisions are counted by."""

    operation: str
    resource_type: str
    allowed: bool
    reason: str
    api: str


class History:
    """The last requests, oldest first, and totals since the start."""

    def __init__(self, requests_max: int = REQUESTS_MAX, bytes_max: int = BYTES_MAX) -> None:
        self._requests_max = requests_max
        self._bytes_max = bytes_max
        self._entries: deque[HistoryEntry] = deque()
        self.held_bytes = 0
        self._number = 0
        self._response_totals: Counter[tuple[ApiKey, int, int]] = Counter()
        self._decision_totals: Counter[
            tuple[Operation, ResourceType, bool, DecisionReason, ApiKey]
        ] = Counter()

    def __iter__(self) -> Iterator[HistoryEntry]:
        return iter(list(self._entries))

    @property
    def response_counts(self) -> Counter["ResponseCountKey"]:
        """Return the number of responses of each kind since the start."""
        return Counter(
            {
                ResponseCountKey(api.wire_name, version, code): count
                for (api, version, code), count in self._response_totals.items()
            }
        )

    @property
    def decision_counts(self) -> Counter["DecisionCountKey"]:
        """Return the number of decisions of each kind since the start."""
        return Counter(
            {
                DecisionCountKey(
                    operation.name, kind.name, allowed, reason.name.lower(), api.wire_name
                ): count
                for (operation, kind, allowed, reason, api), count in self._decision_totals.items()
            }
        )

    @property
    def last_number(self) -> int:
        """Return the number of the newest request; 0 before the first."""
        return self._number

    def add_request(
        self, session: Session, header: RequestHeader, frame: bytes, time_us: int
    ) -> HistoryEntry:
        """Add a request that is about to be handled; drop the oldest ones above the limits."""
        self._number += 1
        entry = HistoryEntry(self._number, time_us, session, header, frame)
        self._entries.append(entry)
        self.held_bytes += entry.size_bytes
        self._drop_oldest_above_limits()
        return entry

    def _drop_oldest_above_limits(self) -> None:
        while len(self._entries) > self._requests_max or (
            self.held_bytes > self._bytes_max and len(self._entries) > 1
        ):
            self.held_bytes -= self._entries.popleft().size_bytes

    def set_decisions(self, entry: HistoryEntry, context: RequestContext) -> None:
        """Add the decisions of a request."""
        records = context.access.records
        if any(not record.decision.allowed for record in records):
            entry.denied_request = denied = denied_request(context)
            if entry.frame_bytes > DECODED_MAX:
                denied.needs  # noqa: B018 - the decoded request is not held any longer
        entry.records = kept_records = (
            records if len(records) <= DECISIONS_MAX else records[:DECISIONS_MAX]
        )
        entry.left_out_decisions = len(records) - len(kept_records)
        api, totals, size = entry.api, self._decision_totals, 0
        for record in kept_records:
            size += _DECISION_BYTES + len(record.action.resource_name)
        entry.size_bytes += size
        self.held_bytes += size
        self._drop_oldest_above_limits()
        for record in records:
            action, decision = record.action, record.decision
            totals[
                action.operation, action.resource_type, decision.allowed, decision.reason, api
            ] += 1

    def add_response(self, entry: HistoryEntry, response: msgspec.Struct, now_us: int) -> None:
        """Set the error codes that the response contains, and its time."""
        self.set_errors(entry, tuple(nonzero_error_codes(response, entry.version)), now_us)

    def set_errors(self, entry: HistoryEntry, errors: tuple[int, ...], now_us: int) -> None:
        """Set the error codes of a response, and its time; count it."""
        entry.errors = errors
        entry.responded_us = now_us
        for code in errors or (0,):
            self._response_totals[entry.api, entry.version, code] += 1

    def add_short_frame(self, entry: HistoryEntry, frame: bytes) -> None:
        """Add the frame of a response, with its size; of a long one only the size.

        A request that waited for long may be forgotten by then, and does not count any more.
        """
        entry.response_bytes = size = max(len(frame) - 4, 0)  # a fault may have cut it off
        is_kept = self._entries and entry.number >= self._entries[0].number
        if size <= RESPONSE_BYTES_MAX and is_kept:
            entry.response = frame
            entry.size_bytes += size
            self.held_bytes += size
            if self.held_bytes > self._bytes_max:
                self._drop_oldest_above_limits()

    def drop_requests_keeping_totals(self) -> None:
        """Drop the requests; the totals and the numbering go on."""
        self._entries.clear()
        self.held_bytes = 0


def _reason_text(record: AccessRecord) -> str:
    """Return the ACL that decided as text, or why there is none."""
    acl = record.decision.acl
    return record.decision.reason.value if acl is None else acl_line(acl)
