"""Lines of Kafka's authorizer log in the three wordings of its releases."""

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.shim.traffic.importers.audit_log import UNKNOWN_API, parse_line

OLDEST = (
    "Principal = User:bob is Denied Operation = Write from host = 10.0.0.1 on resource = Topic:t"
)
PATTERNS = OLDEST.replace("Topic:t", "Topic:LITERAL:a:b c")
LATER = (
    "[2024-05-01 10:00:00,250] INFO Principal = User:CN=bob,O=x is Denied operation = DESCRIBE from"
    " host = 10.0.0.1 on resource = TransactionalId:LITERAL:tx for request = FindCoordinator with"
    " resourceRefCount = 3"
)
RULE = LATER + (
    " based on rule MatchingAcl(acl=StandardAcl(resourceType=TRANSACTIONAL_ID, resourceName=t,"
    " patternType=PREFIXED, principal=User:CN=bob,O=x, host=*, operation=ALL,"
    " permissionType=DENY)) (kafka.authorizer.logger)"
)


def test_the_oldest_wording_has_no_request() -> None:
    found = parse_line(OLDEST)
    assert found is not None
    assert (found.principal, found.host) == ("User:bob", "10.0.0.1")
    assert found.operation is Operation.WRITE
    assert (found.resource_type, found.resource_name) == (ResourceType.TOPIC, "t")
    assert (found.allowed, found.api_key, found.count) == (False, UNKNOWN_API, 1)


def test_names_may_have_colons_and_spaces() -> None:
    found = parse_line(PATTERNS)
    assert found is not None
    assert found.resource_name == "a:b c"


def test_later_brokers_log_the_request_and_the_count() -> None:
    found = parse_line(LATER)
    assert found is not None
    assert found.principal == "User:CN=bob,O=x"
    assert found.resource_type is ResourceType.TRANSACTIONAL_ID
    assert (found.api_key, found.count, found.rule) == (ApiKey.FIND_COORDINATOR, 3, "")


def test_kraft_brokers_log_the_rule() -> None:
    found = parse_line(RULE)
    assert found is not None
    assert found.rule == "TRANSACTIONAL_ID|t|PREFIXED|User:CN=bob,O=x|*|ALL|DENY"
    found = parse_line(LATER + " based on rule DefaultDeny")
    assert found is not None
    assert found.rule == "DefaultDeny"


@pytest.mark.parametrize(
    "line", ["", "[2024-05-01 10:00:00,250] INFO started", OLDEST.replace("Write", "Dance")]
)
def test_other_lines_are_not_parsed(line: str) -> None:
    assert parse_line(line) is None


def test_audit_lines_of_the_shim_are_read() -> None:
    line = (
        "Principal = User:alice is Allowed operation = Describe from host = 127.0.0.1 on resource ="
        " Cluster:LITERAL:kafka-cluster for request = DescribeAcls with resourceRefCount = 1 based"
        " on rule SuperUser"
    )
    found = parse_line(line)
    assert found is not None
    assert (found.allowed, found.rule) == (True, "SuperUser")
