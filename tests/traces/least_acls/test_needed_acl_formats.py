"""The learned ACLs of a program are printed in each format."""

import json

import pytest

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.protocol.enums import Operation
from kafka_shim.shim.errors import ConfigError
from kafka_shim.traces.least_acls.needed_acl_formats import FORMS, format_needed_acls
from tests.support.acls import make_acl


def acl(operation: Operation, name: str) -> Acl:
    return make_acl(operation, name, principal="User:etl")


NEEDED = [acl(Operation.READ, "orders"), acl(Operation.WRITE, "copies")]
OPTIONAL = [acl(Operation.DESCRIBE, "others")]


@pytest.mark.parametrize("form", FORMS)
def test_every_printed_format_can_be_read(form: str) -> None:
    text, left_out = format_needed_acls(form, NEEDED, OPTIONAL, {"proven": True})
    assert left_out == (0 if form in ("text", "json", "yaml") else 1)
    if form == "json":
        found = json.loads(text)
        assert found["proven"] is True
        assert [acl["resource_name"] for acl in found["optional"]] == ["others"]
        text = json.dumps(found["acls"])
    assert set(parse_distinct_acls(text)) == set(NEEDED)


def test_acls_that_a_format_cannot_express_are_reported() -> None:
    odd = [make_acl(Operation.READ, "orders", principal="Robot:etl")]
    with pytest.raises(ConfigError, match="--format strimzi"):
        format_needed_acls("strimzi", odd, [], {})
