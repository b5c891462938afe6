"""ACLs as objects for JSON."""

import json

import pytest
from hypothesis import given

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl, acls_to_objects
from kafka_shim.policy.formats.json_objects import parse_objects
from kafka_shim.protocol.enums import PatternType, Permission, ResourceType
from tests.policy.formats.samples import ACLS_LISTED, ANY_TEXT, acls_of


def test_objects_have_only_text_values() -> None:
    assert acls_to_objects(ACLS_LISTED)[2] == {
        "principal": "User:bob",
        "host": "10.0.0.1",
        "resource_type": "CLUSTER",
        "resource_name": "kafka-cluster",
        "resource_pattern_type": "LITERAL",
        "operation": "ALL",
        "permission": "DENY",
    }


@given(acls_of(ANY_TEXT))
def test_objects_survive_a_round_trip_through_json(acls: list[Acl]) -> None:
    assert parse_objects(json.loads(json.dumps(acls_to_objects(acls)))) == acls


def test_some_fields_may_be_left_out() -> None:
    entry = {
        "principal": "User:a",
        "resource_type": "TransactionalId",
        "resource_name": "t",
        "operation": "IdempotentWrite",
    }
    (acl,) = parse_objects([entry])
    assert (acl.host, acl.pattern_type, acl.permission) == (
        *("*", PatternType.LITERAL, Permission.ALLOW),
    )
    assert acl.resource_type is ResourceType.TRANSACTIONAL_ID


@pytest.mark.parametrize(
    ("objects", "complaint"),
    [
        ({}, "acls must be a list of objects"),
        ("[]", "acls must be a list of objects"),
        (["x"], "acl 1: `x` is not an object"),
        ([{}], "acl 1: `principal` is missing, or is not a string"),
        (
            [*acls_to_objects(ACLS_LISTED), {**acls_to_objects(ACLS_LISTED)[0], "host": 5}],
            "acl 4: `host`",
        ),
        (
            [{**acls_to_objects(ACLS_LISTED)[0], "hosts": "*"}],
            "unknown key `hosts`; did you mean `host`",
        ),
        (
            [{**acls_to_objects(ACLS_LISTED)[0], "operation": "x"}],
            "acl 1: unknown operation `x`",
        ),
    ],
)
def test_invalid_objects_are_reported(objects: object, complaint: str) -> None:
    with pytest.raises(AclTextError, match=complaint):
        parse_objects(objects)
