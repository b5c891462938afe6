"""ACL changes that are applied late, by brokers of the target or of the recording.

A real broker applies a change of ACLs a moment after the response to it. The replay waits for that
at the target, so that the target may respond with the change where the recorded broker did not.
"""

import time
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.headers import (
    RequestHeader,
    read_request_header,
    write_request_header,
)
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.trace_format.entries import Request, Response, decode_request, decode_response
from kafka_shim.traces.replay.compare import MISSING, Difference
from kafka_shim.traces.replay.error_codes import DENIALS_BY_ACLS
from kafka_shim.traces.replay.events import ConnectionId, Event
from kafka_shim.traces.replay.target_connection import TargetConnection

ACL_CHANGES = frozenset({ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS})
RETRY_S = 0.02
_EVERY_ACL = DescribeAclsRequest(
    resource_type_filter=ResourceType.ANY,
    resource_name_filter=None,
    pattern_type_filter=PatternType.ANY,
    principal_filter=None,
    host_filter=None,
    operation=Operation.ANY,
    permission_type=Permission.ANY,
)


ResourceKey = tuple[int, str, int]
"""Type, name and pattern type of resources."""
AclEntry = tuple[str, str, int, int]
"""Principal, host, operation and permission."""


class ReplayedAclChange(msgspec.Struct, frozen=True):
    """ACLs that a request added or removed, and its version."""

    created_acls: frozenset[tuple[ResourceKey, AclEntry]]
    removed_acls: frozenset[tuple[ResourceKey, AclEntry]]
    version: int

    def query_applied(self, target_connection: TargetConnection) -> bool:
        """Return whether the broker has applied it; True if it does not list ACLs.

        Raise ConnectionLostError if the connection ends.
        """
        frame = target_connection.exchange(
            write_request_header(RequestHeader(ApiKey.DESCRIBE_ACLS, self.version, 0, "replay"))
            + codecs.write_request(_EVERY_ACL, self.version)
        )
        response = decode_response(ApiKey.DESCRIBE_ACLS, self.version, frame)
        if response is None or response.error_code:
            return True
        existing_acls = {
            ((row.resource_type, row.resource_name, row.pattern_type), _acl_entry(acl))
            for row in response.resources
            for acl in row.acls
        }
        return self.created_acls <= existing_acls and not self.removed_acls & existing_acls

    def await_application(self, target_connection: TargetConnection, timeout_s: float) -> None:
        """Wait until the broker has applied it, or the time is over.

        Raise ConnectionLostError if a connection ends.
        """
        deadline = time.monotonic() + timeout_s
        while not self.query_applied(target_connection) and time.monotonic() < deadline:
            time.sleep(RETRY_S)


def parse_acl_change(request: bytes, frame: bytes) -> ReplayedAclChange | None:
    """Return what a request of `ACL_CHANGES` changed; None if nothing, or if that is unknown."""
    header, at = read_request_header(request)
    response = decode_response(header.api_key, header.api_version, frame)
    if response is None:
        return None
    created_acls: set[tuple[ResourceKey, AclEntry]] = set()
    removed_acls: set[tuple[ResourceKey, AclEntry]] = set()
    if header.api_key == ApiKey.CREATE_ACLS:
        message = codecs.read_request(header.api_key, header.api_version, request, at)
        for acl, result in zip(message.creations, response.results, strict=False):
            if not result.error_code:
                resource = (acl.resource_type, acl.resource_name, acl.resource_pattern_type)
                created_acls.add((resource, _acl_entry(acl)))
    else:
        for result in response.filter_results:
            for acl in result.matching_acls:
                resource = (acl.resource_type, acl.resource_name, acl.pattern_type)
                removed_acls.add((resource, _acl_entry(acl)))
    if not created_acls and not removed_acls:
        return None
    return ReplayedAclChange(frozenset(created_acls), frozenset(removed_acls), header.api_version)


def _acl_entry(acl: Any) -> AclEntry:
    return acl.principal, acl.host, acl.operation, acl.permission_type


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
