"""DescribeAcls, CreateAcls and DeleteAcls: filters, batches, invalid codes and permissions."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.shim.errors import CloseConnection
from tests.shim.play import ADMIN, Stage

ALICE = "User:alice"


def creation(name: str = "t", kind: int = 2, pattern: int = 3, **more: Any) -> AclCreation:
    return AclCreation(
        kind,
        name,
        pattern,
        more.get("principal", ALICE),
        more.get("host", "*"),
        more.get("operation", Operation.READ),
        more.get("permission", 3),
    )


def create(stage: Stage, *creations: AclCreation, version: int = 3, who: str = ADMIN) -> list[int]:
    response = stage.ask(ApiKey.CREATE_ACLS, version, CreateAclsRequest(list(creations)), who)
    return [result.error_code for result in response.results]


def describe(stage: Stage, *, version: int = 3, **fields: Any) -> Any:
    request = DescribeAclsRequest(
        fields.get("kind", 1),
        fields.get("name"),
        fields.get("pattern", 1),
        fields.get("principal"),
        fields.get("host"),
        fields.get("operation", 1),
        fields.get("permission", 1),
    )
    return stage.ask(ApiKey.DESCRIBE_ACLS, version, request, fields.get("who", ADMIN))


def names(response: Any) -> list[str]:
    return sorted(resource.resource_name for resource in response.resources)


def delete(stage: Stage, *filters: tuple[str | None, int], who: str = ADMIN) -> Any:
    rows = [DeleteAclsFilter(1, name, pattern, None, None, 1, 1) for name, pattern in filters]
    return stage.ask(ApiKey.DELETE_ACLS, 3, DeleteAclsRequest(rows), who).filter_results


def test_a_new_broker_has_no_acls() -> None:
    response = describe(Stage())
    assert (response.error_code, response.error_message, response.resources) == (0, "", [])


def test_entries_are_grouped_by_resource() -> None:
    stage = Stage()
    assert create(stage, creation(), creation(host="10.0.0.1"), creation("u")) == [0, 0, 0]
    found = {resource.resource_name: len(resource.acls) for resource in describe(stage).resources}
    assert found == {"t": 2, "u": 1}


def test_pattern_type_match_finds_the_acls_that_apply_to_a_name() -> None:
    stage = Stage()
    create(stage, creation("*"), creation("ord", pattern=4), creation("orders"), creation("x"))
    assert names(describe(stage, kind=2, name="orders", pattern=2)) == ["*", "ord", "orders"]
    assert names(describe(stage, name="orders", pattern=1)) == ["orders"]
    assert names(describe(stage, name="ord", pattern=4)) == ["ord"]
    assert names(describe(stage, name="*", pattern=3)) == ["*"]


def test_version_0_neither_lists_nor_deletes_prefixed_acls() -> None:
    stage = Stage("3.9")
    create(stage, creation("ord", pattern=4), creation("orders"))
    assert names(describe(stage, version=0, pattern=3)) == ["orders"]
    request = DeleteAclsRequest([DeleteAclsFilter(1, None, 3, None, None, 1, 1)])
    (result,) = stage.ask(ApiKey.DELETE_ACLS, 0, request).filter_results
    assert [acl.resource_name for acl in result.matching_acls] == ["orders"]
    assert names(describe(stage)) == ["ord"]


@pytest.mark.parametrize(("release", "no_host"), [("4.3", 0), ("4.4", 42)])
def test_an_invalid_creation_does_not_fail_the_others(release: str, no_host: int) -> None:
    good, other = creation(), creation("u")
    stage = Stage(release)
    assert create(
        stage,
        good,
        creation(""),
        creation("*", kind=4),
        creation(principal="nocolon"),
        creation(operation=99),
        creation(host=""),
        good,
        other,
    ) == [0, 42, 42, 42, 42, no_host, 0, 0]
    assert names(describe(stage)) == ["t", "u"]


@pytest.mark.parametrize("bad", [{"kind": 1}, {"pattern": 1}, {"pattern": 2}, {"operation": 1}])
def test_a_creation_with_a_code_for_filters_fails_the_whole_request(bad: Any) -> None:
    stage = Stage()
    assert create(stage, creation("u"), creation(**bad)) == [-1, -1]
    assert names(describe(stage)) == []


@pytest.mark.parametrize("bad", [{"kind": 0}, {"pattern": 0}, {"operation": 0}, {"permission": 0}])
def test_the_code_0_closes_the_connection(bad: Any) -> None:
    stage = Stage()
    with pytest.raises(CloseConnection):
        create(stage, creation("u"), creation(**bad))
    with pytest.raises(CloseConnection):
        describe(stage, **bad)
    assert names(describe(stage)) == []


def test_the_code_0_closes_the_connection_of_a_denied_client_too() -> None:
    with pytest.raises(CloseConnection):
        create(Stage(), creation(kind=0), who=ALICE)


def test_unknown_codes_match_nothing_in_describe_and_fail_the_filter_in_delete() -> None:
    stage = Stage()
    create(stage, creation())
    assert (describe(stage, operation=99).error_code, names(describe(stage, operation=99))) == (
        0,
        [],
    )
    assert [result.error_code for result in delete(stage, (None, 99), (None, 1))] == [42, 0]


def test_an_acl_is_returned_for_each_matching_filter() -> None:
    stage = Stage()
    create(stage, creation())
    first, second = delete(stage, ("t", 3), ("t", 1))
    assert len(first.matching_acls) == len(second.matching_acls) == 1
    assert (first.error_message, first.matching_acls[0].error_message) == (None, None)
    assert names(describe(stage)) == []


def test_zookeeper_brokers_return_an_acl_for_one_filter_only() -> None:
    stage = Stage("2.8")
    request = CreateAclsRequest([creation()])
    stage.ask(ApiKey.CREATE_ACLS, 2, request)
    rows = [DeleteAclsFilter(1, "t", pattern, None, None, 1, 1) for pattern in (3, 1)]
    results = stage.ask(ApiKey.DELETE_ACLS, 2, DeleteAclsRequest(rows)).filter_results
    assert [len(result.matching_acls) for result in results] == [1, 0]


def test_a_request_with_too_many_acls_creates_none() -> None:
    stage = Stage()
    many = [creation(f"t{number}") for number in range(10_001)]
    assert set(create(stage, *many)) == {44}
    assert names(describe(stage)) == []


def test_acls_need_describe_or_alter_on_the_cluster() -> None:
    stage = Stage()
    assert create(stage, creation(), creation("u"), who=ALICE) == [31, 31]
    assert create(stage, who=ALICE) == []
    assert describe(stage, who=ALICE).error_code == 31
    assert [result.error_code for result in delete(stage, ("t", 3), ("u", 3), who=ALICE)] == [
        31,
        31,
    ]
    stage.allow(ALICE, Operation.ALTER, ResourceType.CLUSTER, "kafka-cluster")
    assert create(stage, creation(), who=ALICE) == [0]
    assert describe(stage, who=ALICE).error_code == 0  # ALTER implies DESCRIBE


def test_without_an_authorizer_security_is_disabled() -> None:
    stage = Stage(authorizer="none")
    assert create(stage, creation(), who=ALICE) == [54]
    assert describe(stage, who=ALICE).error_code == 54
    assert [result.error_code for result in delete(stage, ("t", 3), who=ALICE)] == [54]


def test_rare_resource_types_and_operations_are_returned() -> None:
    """In strimzi#11903 an operator failed because of an ACL on a DELEGATION_TOKEN."""
    stage = Stage()
    rare = [
        creation("tok", kind=6, operation=Operation.DESCRIBE),
        creation("User:bob", kind=7, operation=Operation.CREATE_TOKENS),
        creation("tx", kind=5, operation=Operation.TWO_PHASE_COMMIT),
    ]
    assert create(stage, *rare) == [0, 0, 0]
    found = {
        resource.resource_type: resource.acls[0].operation for resource in describe(stage).resources
    }
    assert found == {6: Operation.DESCRIBE, 7: Operation.CREATE_TOKENS, 5: 15}
