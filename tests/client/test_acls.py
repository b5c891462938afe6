"""ACL requests to brokers that are newer or older, or return unusual responses."""

from typing import Any, cast

import pytest

from kafka_shim.authorizer.model import AclFilter
from kafka_shim.client.acls import create_acls, delete_acls, describe_acls
from kafka_shim.client.client import Client, ClientError
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_acls import AclCreationResult, CreateAclsResponse
from kafka_shim.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from kafka_shim.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from tests.support.acls import make_acl

ACL = make_acl(Operation.READ, "t", principal="User:a", pattern_type=PatternType.PREFIXED)


class Answering:
    """A client that always returns the same response, and keeps the requests."""

    def __init__(self, response: Any, version: int = 3) -> None:
        self.response = response
        self.version = version
        self.asked: list[Any] = []

    def negotiated_version(self, api: ApiKey) -> int:
        return self.version

    def send_request(self, api: ApiKey, request: Any) -> Any:
        self.asked.append(request)
        return self.response


def client(response: Any, version: int = 3) -> Client:
    return cast("Client", Answering(response, version))


def test_codes_of_a_newer_broker_are_unknown() -> None:
    entry = AclDescription("User:a", "*", 99, 3)
    response = DescribeAclsResponse(resources=[DescribeAclsResource(50, "x", 9, [entry])])
    (acl,) = describe_acls(client(response))
    assert acl.resource_type is ResourceType.UNKNOWN
    assert acl.pattern_type is PatternType.UNKNOWN
    assert acl.operation is Operation.UNKNOWN
    assert acl.permission is Permission.ALLOW


def test_version_0_supports_literal_patterns_only() -> None:
    answering = Answering(DescribeAclsResponse(), version=0)
    describe_acls(cast("Client", answering))
    assert answering.asked[0].pattern_type_filter == PatternType.LITERAL
    for pattern_type in (PatternType.MATCH, PatternType.PREFIXED):
        with pytest.raises(ClientError, match="older than"):
            describe_acls(cast("Client", answering), AclFilter(pattern_type=pattern_type))
    with pytest.raises(ClientError, match="older than prefixed ACLs"):
        create_acls(client(CreateAclsResponse(), version=0), [ACL])


def test_the_error_message_of_the_broker_is_reported() -> None:
    refused = CreateAclsResponse(results=[AclCreationResult(0), AclCreationResult(42, "no name")])
    with pytest.raises(ClientError, match=r"INVALID_REQUEST \(42\); no name$") as caught:
        create_acls(client(refused), [ACL])
    assert caught.value.code == 42


def test_an_unknown_error_is_reported_as_a_number() -> None:
    with pytest.raises(ClientError, match="cannot list ACLs: error 4711"):
        describe_acls(client(DescribeAclsResponse(error_code=4711, error_message=None)))


def test_acls_removed_by_two_filters_are_reported_once() -> None:
    match = DeleteAclsMatchingAcl(0, None, 2, "t", 4, "User:a", "*", 3, 3)
    result = DeleteAclsFilterResult(matching_acls=[match])
    response = DeleteAclsResponse(filter_results=[result, result])
    assert delete_acls(client(response), [AclFilter(), AclFilter()]) == [ACL]


def test_an_error_of_a_matching_acl_is_reported() -> None:
    match = DeleteAclsMatchingAcl(-1, None, 2, "t", 4, "User:a", "*", 3, 3)
    response = DeleteAclsResponse(filter_results=[DeleteAclsFilterResult(matching_acls=[match])])
    with pytest.raises(ClientError, match="UNKNOWN_SERVER_ERROR"):
        delete_acls(client(response), [AclFilter()])
