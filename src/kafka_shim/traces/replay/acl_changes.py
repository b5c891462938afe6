"""ACL changes that a target applies late: whether each of its brokers has applied a change."""

import time
from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.headers import (
    RequestHeader,
    read_request_header,
    write_request_header,
)
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.trace_format.entries import decode_response
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
