"""Implied operations, supported operations and their bit fields."""

import msgspec
import pytest

from kafka_shim.authorizer.acl_rules import (
    NEWEST_RULES,
    acl_operations_of_release,
    acl_resource_types_of_release,
    operation_bit_field,
    operations_whose_allow_includes,
    operations_whose_deny_includes,
    supported_operations,
)
from kafka_shim.protocol.enums import Operation, ResourceType


def names(found: frozenset[Operation]) -> set[str]:
    return {operation.name for operation in found}


def test_reading_writing_deleting_and_altering_include_describing() -> None:
    assert names(operations_whose_allow_includes(Operation.DESCRIBE)) == {
        *("DESCRIBE", "READ", "WRITE", "DELETE", "ALTER", "ALL")
    }


def test_altering_configs_includes_describing_configs_only() -> None:
    assert names(operations_whose_allow_includes(Operation.DESCRIBE_CONFIGS)) == {
        *("DESCRIBE_CONFIGS", "ALTER_CONFIGS", "ALL")
    }


@pytest.mark.parametrize("operation", [o for o in Operation if "DESCRIBE" not in o.name])
def test_nothing_else_is_included(operation: Operation) -> None:
    assert operations_whose_allow_includes(operation) == {operation, Operation.ALL}


@pytest.mark.parametrize("operation", Operation)
def test_a_denial_includes_nothing(operation: Operation) -> None:
    assert operations_whose_deny_includes(operation) == {operation, Operation.ALL}


OLD = msgspec.structs.replace(
    NEWEST_RULES, has_group_config_operations=False, has_two_phase_commit=False
)


@pytest.mark.parametrize(
    ("resource_type", "newest", "before"),
    [
        (ResourceType.TOPIC, 3576, 3576),
        (ResourceType.GROUP, 3400, 328),
        (ResourceType.CLUSTER, 8096, 8096),
        (ResourceType.TRANSACTIONAL_ID, 33040, 272),
        (ResourceType.DELEGATION_TOKEN, 256, 256),
        (ResourceType.USER, 24576, 24576),
        (ResourceType.ANY, 0, 0),
        (ResourceType.UNKNOWN, 0, 0),
    ],
)
def test_bit_fields_of_everything(resource_type: ResourceType, newest: int, before: int) -> None:
    assert operation_bit_field(supported_operations(resource_type)) == newest
    assert operation_bit_field(supported_operations(resource_type, OLD)) == before


def test_types_and_operations_that_a_release_lacks() -> None:
    rules = msgspec.structs.replace(
        NEWEST_RULES,
        has_delegation_token_resource=False,
        has_user_resource=False,
        has_two_phase_commit=False,
    )
    assert supported_operations(ResourceType.USER, rules) == ()
    assert supported_operations(ResourceType.DELEGATION_TOKEN, rules) == ()
    assert {t.name for t in acl_resource_types_of_release(rules)} == {
        *("TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID")
    }
    missing = set(acl_operations_of_release()) - set(acl_operations_of_release(rules))
    assert {o.name for o in missing} == {"CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT"}
    assert Operation.ALL in acl_operations_of_release(rules)
    assert not acl_operations_of_release() & {Operation.ANY, Operation.UNKNOWN}


def test_supported_operations_come_in_code_order() -> None:
    for resource_type in ResourceType:
        found = supported_operations(resource_type)
        assert list(found) == sorted(found)
