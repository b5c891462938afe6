"""ACL changes that a target applies late: whether each of its brokers has applied a change."""

import time
from collections.abc import Iterable
from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import (
    RequestHeader,
    read_request_header,
    write_request_header,
)
from kafka_shim.protocol.messages.describe_acls_request import DescribeAclsRequest
from kafka_shim.protocol.response_frames import read_response_frame
from kafka_shim.shim.traffic.replay.target_connection import TargetConnection

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


Place = tuple[int, str, int]
"""Type, name and pattern type of resources."""
Rule = tuple[str, str, int, int]
"""Principal, host, operation and permission."""


class AclChange(msgspec.Struct, frozen=True):
    """ACLs that a request added or removed, and its version."""

    created: frozenset[tuple[Place, Rule]]
    removed: frozenset[tuple[Place, Rule]]
    version: int

    def is_applied_at(self, peer: TargetConnection) -> bool:
        """Return whether the broker has applied it; True if it cannot be
        asked. Raises GoneError.
        """
        peer.send(
            write_request_header(RequestHeader(ApiKey.DESCRIBE_ACLS, self.version, 0, "replay"))
            + codecs.write_request(_EVERY_ACL, self.version)
        )
        response = _read(ApiKey.DESCRIBE_ACLS, self.version, peer.receive())
        if response is None or response.error_code:
            return True
        found = {
            ((row.resource_type, row.resource_name, row.pattern_type), _rule(acl))
            for row in response.resources
            for acl in row.acls
        }
        return self.created <= found and not self.removed & found

    def wait(self, peers: Iterable[TargetConnection], timeout_s: float) -> None:
        """Wait until all of these brokers have applied it, or the time
        is over. Raises GoneError.
        """
        deadline = time.monotonic() + timeout_s
        for peer in peers:
            while not self.is_applied_at(peer) and time.monotonic() < deadline:
                time.sleep(RETRY_S)


def acl_change_of(request: bytes, frame: bytes) -> AclChange | None:
    """Return what a request of `ACL_CHANGES` changed; None if nothing, or if that is unknown."""
    header, at = read_request_header(request)
    response = _read(header.api_key, header.api_version, frame)
    if response is None:
        return None
    created: set[tuple[Place, Rule]] = set()
    removed: set[tuple[Place, Rule]] = set()
    if header.api_key == ApiKey.CREATE_ACLS:
        message = codecs.read_request(header.api_key, header.api_version, request, at)
        for acl, result in zip(message.creations, response.results, strict=False):
            if not result.error_code:
                place = (acl.resource_type, acl.resource_name, acl.resource_pattern_type)
                created.add((place, _rule(acl)))
    else:
        for result in response.filter_results:
            for acl in result.matching_acls:
                place = (acl.resource_type, acl.resource_name, acl.pattern_type)
                removed.add((place, _rule(acl)))
    if not created and not removed:
        return None
    return AclChange(frozenset(created), frozenset(removed), header.api_version)


def _rule(acl: Any) -> Rule:
    return acl.principal, acl.host, acl.operation, acl.permission_type


def _read(key: int, version: int, frame: bytes) -> Any:
    try:
        return read_response_frame(key, version, frame)[0]
    except ProtocolError:
        return None
