"""Responses of the recorded cluster that a change of ACLs had not reached yet.

A real broker applies a change of ACLs a moment after the response to it. The replay waits for that
at the target, so that the target may respond with the change where the recorded broker did not.
"""

from typing import Any, NamedTuple

from kafka_shim.protocol.enums import ApiKey, Permission
from kafka_shim.trace_format.entries import Request, Response, decode_request
from kafka_shim.traces.replay.compare import MISSING, Difference
from kafka_shim.traces.replay.error_codes import DENIALS_BY_ACLS
from kafka_shim.traces.replay.events import ConnectionId, Event

LATE_US = 1_000_000
"""How long a broker may take to apply a change."""

_ACL_LISTS = frozenset({ApiKey.DESCRIBE_ACLS, ApiKey.DELETE_ACLS})


class AclChange(NamedTuple):
    """ACLs that a request adds (or removes), from the request on; None: any principal or name."""

    start_us: int
    end_us: int
    principal: str | None
    resource_name: str | None
    adds: bool
    allows: bool


class LateAcls:
    """The recorded changes of ACLs, and the differences that they explain."""

    def __init__(self) -> None:
        self._open: dict[tuple[ConnectionId, int], Request] = {}
        self._changes: list[AclChange] = []

    def note(self, event: Event) -> None:
        """Note a request that changes ACLs, and the response to it."""
        entry = event.entry
        if isinstance(entry, Request) and entry.api_key in (
            ApiKey.CREATE_ACLS,
            ApiKey.DELETE_ACLS,
        ):
            self._open[event.connection_id, entry.sequence] = entry
        elif isinstance(entry, Response):
            request = self._open.pop((event.connection_id, entry.sequence), None)
            if request is not None:
                self._add_changes(request, entry.time_us)

    def explain(
        self, event: Event, request_us: int, api_key: int, differences: list[Difference]
    ) -> bool:
        """Return whether all differences of a response come from a change that was applied late.

        With a denial, what is denied is missing as well.
        """
        if not self._changes:
            return False
        others = [
            difference
            for difference in differences
            if not self._explains_difference(event, request_us, api_key, difference)
        ]
        return len(others) < len(differences) and all(
            api_key not in _ACL_LISTS and MISSING in (difference.recorded, difference.actual)
            for difference in others
        )

    def _explains_difference(
        self, event: Event, request_us: int, api_key: int, difference: Difference
    ) -> bool:
        if api_key in _ACL_LISTS:
            is_added = difference.recorded == MISSING
            text = f"{difference.recorded}{difference.actual}"
            return any(
                (change.adds == is_added or change.end_us > request_us)
                and (change.principal or "") in text
                and (change.resource_name or "") in text
                for change in self._recent_changes(request_us, event.entry.time_us)
            )
        is_denied_first = difference.recorded in DENIALS_BY_ACLS
        if is_denied_first == (difference.actual in DENIALS_BY_ACLS):
            return False
        return any(
            change.principal in (None, "User:*", event.principal)
            and ((change.adds == change.allows) == is_denied_first or change.end_us > request_us)
            for change in self._recent_changes(request_us, event.entry.time_us)
        )

    def _recent_changes(self, request_us: int, response_us: int) -> list[AclChange]:
        return [
            change
            for change in self._changes
            if change.start_us <= response_us and request_us <= change.end_us + LATE_US
        ]

    def _add_changes(self, request: Request, end_us: int) -> None:
        header, message = decode_request(request.frame)
        if message is None:
            return
        adds = header.api_key == ApiKey.CREATE_ACLS
        for row in message.creations if adds else message.filters:
            principal: Any = row.principal if adds else row.principal_filter
            allows = row.permission_type != Permission.DENY
            name: Any = row.resource_name if adds else row.resource_name_filter
            self._changes.append(AclChange(request.time_us, end_us, principal, name, adds, allows))
