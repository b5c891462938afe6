"""Names of operations and resource types, as users write them."""

import pytest

from kafka_shim.authorizer.acl_names import (
    AclTextError,
    camel_case,
    parse_operation,
    parse_pattern_type,
    parse_permission,
    parse_resource_type,
)
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType


@pytest.mark.parametrize("operation", [o for o in Operation if o > Operation.ANY])
def test_operations_in_every_spelling(operation: Operation) -> None:
    snake = operation.name
    for text in (snake, snake.lower(), snake.replace("_", "-"), camel_case(operation), f" {snake}"):
        assert parse_operation(text) is operation


def test_names_are_spelled_as_in_kafka() -> None:
    assert camel_case(Operation.IDEMPOTENT_WRITE) == "IdempotentWrite"
    assert camel_case(ResourceType.TRANSACTIONAL_ID) == "TransactionalId"
    assert parse_resource_type("TransactionalId") is ResourceType.TRANSACTIONAL_ID
    assert parse_resource_type("delegation-token") is ResourceType.DELEGATION_TOKEN
    assert parse_pattern_type("Prefixed") is PatternType.PREFIXED
    assert parse_permission("ALLOW") is Permission.ALLOW


@pytest.mark.parametrize(
    ("parse", "text", "complaint"),
    [
        (
            parse_operation,
            "Raed",
            "unknown operation `Raed`; did you mean `Read`. Expected one of All, Read, ",
        ),
        (parse_operation, "Any", "unknown operation `Any`"),
        (parse_operation, "", "unknown operation ``"),
        (parse_resource_type, "any", "one of Topic, Group, Cluster, TransactionalId, "),
        (parse_pattern_type, "match", "one of Literal, Prefixed$"),
        (parse_permission, "unknown", "one of Deny, Allow$"),
    ],
)
def test_unknown_names_are_reported(parse: object, text: str, complaint: str) -> None:
    assert callable(parse)
    with pytest.raises(AclTextError, match=complaint):
        parse(text)


def test_a_misspelt_operation_has_a_suggestion() -> None:
    with pytest.raises(AclTextError, match="unknown operation `Raed`; did you mean `Read`"):
        parse_operation("Raed")
    with pytest.raises(AclTextError, match="unknown operation `Fly`; expected one of All, "):
        parse_operation("Fly")
