"""Each cell agrees with the naive engine for all names and hosts of its resource."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.policy.checked_accesses import checked_operations_by_resource_type
from kafka_shim.policy.formats.yaml_rules import parse_acl_content
from kafka_shim.policy.matrix import (
    MatrixCell,
    access_matrix,
    listed_principals,
    resources_in_acls,
)
from kafka_shim.policy.name_sets import STARRED_NAMES
from kafka_shim.protocol.enums import Operation, ResourceType
from tests.authorizer.test_against_naive import ACL_SETS, naive
from tests.policy.naive import NEWEST, addresses, authorizer, boundary_names

ALICE = {"principal": "User:alice", "allow": "Write", "topic": "team-", "pattern": "prefixed"}
OPERATIONS = (Operation.READ, Operation.WRITE, Operation.DESCRIBE)


def cells(*rules: dict[str, Any], everyone: bool = False) -> dict[str, list[MatrixCell]]:
    acls = parse_acl_content(list(rules))
    engine = authorizer(acls, everyone=everyone)
    rows = access_matrix(
        engine, NEWEST, listed_principals(acls), resources_in_acls(acls), OPERATIONS
    )
    return {row.principal: list(row.cells) for row in rows}


def test_operations_allowed_on_all_names_and_on_some() -> None:
    deny = {"principal": "User:alice", "deny": "Write", "topic": "team-secret"}
    found = cells(ALICE, deny)
    assert found["User:alice"] == [
        MatrixCell((Operation.DESCRIBE,), (Operation.WRITE,)),
        MatrixCell((Operation.DESCRIBE,)),
    ]
    assert found["User:*"] == [MatrixCell(), MatrixCell()]


def test_access_from_some_hosts_is_not_always_allowed() -> None:
    [cell] = cells(ALICE | {"host": "10.0.0.1"})["User:alice"]
    assert cell == MatrixCell((), (Operation.WRITE, Operation.DESCRIBE))


def test_everyone_else_has_the_acls_of_all_users() -> None:
    found = cells(ALICE | {"principal": "User:*"}, ALICE | {"topic": "x"})
    assert list(found) == ["User:alice", "User:*"]
    assert found["User:*"][0].allowed_everywhere == (Operation.WRITE, Operation.DESCRIBE)
    assert found["User:*"][1] == MatrixCell()


@pytest.mark.deep
@settings(max_examples=60, deadline=None)
@given(ACL_SETS, st.booleans())
def test_cells_agree_with_the_naive_engine(acls: list[Acl], everyone: bool) -> None:
    resources = [r for r in resources_in_acls(acls) if r.resource_type is not ResourceType.CLUSTER]
    rows = access_matrix(
        authorizer(acls, everyone=everyone),
        NEWEST,
        listed_principals(acls),
        resources,
        OPERATIONS,
    )
    hosts = set(addresses(acl.host for acl in acls))
    names = boundary_names(acls)
    for row in rows:
        principal = "User:nobody" if row.principal == "User:*" else row.principal
        for resource, cell in zip(resources, row.cells, strict=True):
            covered = [name for name in names if resource.names.contains_name(name)]
            if resource.names.text == "" and resource.names.is_prefix:
                covered = [name for name in covered if not STARRED_NAMES.contains_name(name)]
            asked = checked_operations_by_resource_type(NEWEST)[resource.resource_type]
            for operation in set(OPERATIONS).intersection(asked).difference(cell.allowed_somewhere):
                responses = {
                    naive(
                        acls,
                        Actor(principal, host),
                        Action(operation, resource.resource_type, name),
                        everyone,
                    )
                    for host in hosts
                    for name in covered
                    if name
                }
                assert responses <= {operation in cell.allowed_everywhere}, (
                    row.principal,
                    resource,
                    operation,
                )
