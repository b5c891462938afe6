"""Lines of Kafka's authorizer log in the three wordings of its releases, and damaged ones."""

import re

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.traces.importers.authorizer_log import (
    UNKNOWN_API,
    InvalidDecisionError,
    parse_authorizer_log_line,
)

OLDEST = (
    "Principal = User:bob is Denied Operation = Write from host = 10.0.0.1 on resource = Topic:t"
)
PATTERNS = OLDEST.replace("Topic:t", "Group:LITERAL:a:b c")
LATER = (
    "[2024-05-01 10:00:00,250] INFO Principal = User:CN=bob,O=x is Denied Operation = Describe from"
    " host = 10.0.0.1 on resource = TransactionalId:LITERAL:tx for request = FindCoordinator with"
    " resourceRefCount = 3"
)
STANDARD = LATER.replace("Operation = Describe", "operation = DESCRIBE")
RULE = STANDARD + (
    " based on rule MatchingAcl(acl=StandardAcl(resourceType=TRANSACTIONAL_ID, resourceName=t,"
    " patternType=PREFIXED, principal=User:CN=bob,O=x, host=*, operation=ALL,"
    " permissionType=DENY)) (kafka.authorizer.logger)"
)


def test_the_oldest_wording_has_no_request() -> None:
    decision = parse_authorizer_log_line(OLDEST)
    assert decision is not None
    assert (decision.principal, decision.host) == ("User:bob", "10.0.0.1")
    assert decision.operation is Operation.WRITE
    assert (decision.resource_type, decision.resource_name) == (ResourceType.TOPIC, "t")
    assert (decision.allowed, decision.api_key, decision.count) == (False, UNKNOWN_API, 1)


def test_names_may_have_colons_and_spaces() -> None:
    decision = parse_authorizer_log_line(PATTERNS)
    assert decision is not None
    assert decision.resource_name == "a:b c"


def test_later_brokers_log_the_request_and_the_count() -> None:
    decision = parse_authorizer_log_line(LATER)
    assert decision is not None
    assert decision.principal == "User:CN=bob,O=x"
    assert decision.resource_type is ResourceType.TRANSACTIONAL_ID
    assert (decision.api_key, decision.count, decision.rule) == (ApiKey.FIND_COORDINATOR, 3, "")


def test_kraft_brokers_log_the_rule() -> None:
    decision = parse_authorizer_log_line(RULE)
    assert decision is not None
    assert decision.rule == "TRANSACTIONAL_ID|t|PREFIXED|User:CN=bob,O=x|*|ALL|DENY"
    decision = parse_authorizer_log_line(STANDARD + " based on rule DefaultDeny")
    assert decision is not None
    assert decision.rule == "DefaultDeny"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[2024-05-01 10:00:00,250] INFO started",
        (
            "DEBUG principal = User:a is a super user, allowing operation without checking acls."
            " (kafka.authorizer.logger)"
        ),
        "DEBUG No acl found for resource Topic:t, authorized = false (kafka.authorizer.logger)",
    ],
)
def test_other_lines_have_no_decision(line: str) -> None:
    assert parse_authorizer_log_line(line) is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (OLDEST.replace("Write", "Dance"), "unknown operation `Dance`"),
        (OLDEST.replace("Topic:", "Table:"), "unknown resource type `Table`"),
        (OLDEST.replace("10.0.0.1", "10.0.0."), "invalid host `10.0.0.`"),
        (OLDEST + '","stream":"stdout"}', "invalid topic name"),
        (OLDEST + " (kafka.authorizer.logger) and more", "invalid topic name"),
        (OLDEST.replace("Topic:t", "Topic:ord[2026-01-31 10:00:00] INFO x"), "invalid topic name"),
        (OLDEST.replace("Topic:t", "Topic:t\ufffd"), "invalid topic name"),
        (OLDEST.replace("Topic:t", "Cluster:kafka"), "invalid cluster name"),
        (OLDEST[20:], "not a whole decision"),
        (OLDEST[:40] + OLDEST, "not a whole decision"),
        (RULE[:-60], "not a whole decision"),
        (STANDARD, "not a whole decision"),
        (RULE.replace("operation=ALL, ", ""), "invalid rule"),
        (RULE.replace("with resourceRefCount = 3", ""), "not a whole decision"),
        (RULE.replace("FindCoordinator", "Dance"), "unknown API `Dance`"),
        ('{"a": 1} ' + RULE, "not a whole decision"),
        (
            (
                "[2020-09-04 06:35:33,509] INFO [DENY] Auth request Write on Topic:t by User u"
                " (io.aiven.kafka.auth.AivenAclAuthorizer)"
            ),
            "AivenAclAuthorizer, which is not supported",
        ),
    ],
)
def test_lines_that_do_not_fit_are_errors(line: str, reason: str) -> None:
    with pytest.raises(InvalidDecisionError, match=re.escape(reason)):
        parse_authorizer_log_line(line)


@pytest.mark.parametrize(
    "end",
    [
        "",
        " (kafka.authorizer.logger)",
        " (kafka.authorizer.logger) [data-plane-kafka-request-handler-3]",
        " [data-plane-kafka-request-handler-3] (kafka.authorizer.logger:97)",
    ],
)
@pytest.mark.parametrize("line", [OLDEST, LATER, RULE.removesuffix(" (kafka.authorizer.logger)")])
def test_what_a_layout_appends_is_no_part_of_a_name(line: str, end: str) -> None:
    bare, decision = parse_authorizer_log_line(line), parse_authorizer_log_line(line + end)
    assert bare is not None
    assert decision is not None
    assert decision.resource_name in ("t", "tx")
    assert (decision.resource_name, decision.rule) == (bare.resource_name, bare.rule)


def test_audit_lines_of_the_shim_are_read() -> None:
    line = (
        "Principal = User:alice is Allowed operation = Describe from host = 127.0.0.1 on resource ="
        " Cluster:LITERAL:kafka-cluster for request = DescribeAcls with resourceRefCount = 1 based"
        " on rule SuperUser"
    )
    decision = parse_authorizer_log_line(line)
    assert decision is not None
    assert (decision.allowed, decision.rule) == (True, "SuperUser")
