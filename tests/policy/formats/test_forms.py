"""Each format: a round trip, errors for ACLs that it cannot express, and its detection."""

import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats import (
    FORMATS,
    detect_format,
    format_acls_losslessly,
    parse_distinct_acls,
)
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from tests.policy.formats.samples import ACLS_LISTED, ANY_TEXT, acls_of

pytestmark = pytest.mark.deep

OPERATIONS = [op for op in Operation if Operation.ANY < op <= Operation.IDEMPOTENT_WRITE]
NAMES = st.text("abcxyz019._-", min_size=1, max_size=8).filter(lambda name: name.strip("."))
TYPES = [ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID]
PLAIN = st.builds(
    Acl,
    st.sampled_from(TYPES),
    NAMES | st.just("*"),
    st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
    st.sampled_from(["User:alice", "User:CN=bob"]),
    st.sampled_from(["*", "10.0.0.1"]),
    st.sampled_from(OPERATIONS),
    st.sampled_from([Permission.ALLOW, Permission.DENY]),
)
CLUSTER = st.builds(
    Acl,
    st.just(ResourceType.CLUSTER),
    st.just(CLUSTER_NAME),
    st.just(PatternType.LITERAL),
    st.sampled_from(["User:alice", "User:CN=bob"]),
    st.just("*"),
    st.sampled_from([Operation.CREATE, Operation.ALL, Operation.IDEMPOTENT_WRITE]),
    st.just(Permission.ALLOW),
)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=25)
@given(acls=st.lists(PLAIN | CLUSTER, max_size=8, unique=True))
def test_usual_acls_survive_a_round_trip_in_every_format(form: str, acls: list[Acl]) -> None:
    acls = [acl for acl in acls if _kafka_acls_takes(acl)] if form == "commands" else acls
    assert set(parse_distinct_acls(format_acls_losslessly(acls, form), form)) == set(acls)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=30)
@given(acls=acls_of(ANY_TEXT))
@example(acls=[])
def test_any_acls_survive_a_round_trip_or_are_rejected(form: str, acls: list[Acl]) -> None:
    try:
        text = format_acls_losslessly(acls, form)
    except AclTextError:
        return
    assert set(parse_distinct_acls(text, form)) == set(acls)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=30)
@given(text=ANY_TEXT | st.text("[]{}\"':,-=`/\\|<>#$%\n a1", max_size=60))
def test_any_text_is_read_or_rejected(form: str, text: str) -> None:
    with suppress(AclTextError):
        assert all(isinstance(acl, Acl) for acl in parse_distinct_acls(text, form))


@pytest.mark.parametrize("form", FORMATS)
def test_formats_are_detected(form: str) -> None:
    acls = [acl for acl in ACLS_LISTED if acl.principal == "User:bob" and form != "commands"]
    acls = acls or [_acl(Operation.READ)]
    text = format_acls_losslessly(acls, form)
    assert detect_format(text) == ("yaml" if form == "json" else form)
    assert parse_distinct_acls(text) == acls


@pytest.mark.parametrize(
    ("form", "acl", "complaint"),
    [
        ("strimzi", "Group:devs", "`Group:devs` cannot be a KafkaUser"),
        ("strimzi", "User:Alice", "`User:Alice` cannot be a KafkaUser: its name would be `Alice`"),
        ("strimzi", "User:*", "cannot be a KafkaUser"),
        ("strimzi", ResourceType.DELEGATION_TOKEN, "no ACLs about DelegationToken"),
        ("strimzi", Operation.TWO_PHASE_COMMIT, "no operation TwoPhaseCommit"),
        ("terraform", ResourceType.USER, "kafka_acl has no resource type User"),
        ("terraform", Operation.CREATE_TOKENS, "kafka_acl has no operation CreateTokens"),
        ("terraform-confluent", ResourceType.USER, "confluent_kafka_acl has no resource type"),
        ("zookeeper", "/", "ZooKeeper cannot have a node named `a//b`"),
        ("list", "\n", "not a line that kafka-acls"),
        ("audit-log", "\n", "cannot express"),
        ("commands", Operation.ALTER_CONFIGS, "only supports operations"),
    ],
)
def test_acls_that_a_format_cannot_express_are_reported(
    form: str, acl: Any, complaint: str
) -> None:
    special = {
        "/": _acl(Operation.READ, name="a//b"),
        "\n": _acl(Operation.READ, name="a\nb"),
        Operation.ALTER_CONFIGS: _acl(Operation.ALTER_CONFIGS, kind=ResourceType.TRANSACTIONAL_ID),
    }.get(acl)
    if isinstance(acl, str) and ":" in acl:
        special = _acl(Operation.READ, principal=acl)
    if isinstance(acl, ResourceType):
        special = _acl(Operation.DESCRIBE, kind=acl)
    with pytest.raises(AclTextError, match=re.escape(complaint)):
        format_acls_losslessly([special or _acl(acl)], form)


def test_an_unknown_format_is_reported() -> None:
    with pytest.raises(AclTextError, match="unknown format `xml`; expected one of yaml, json"):
        format_acls_losslessly([], "xml")


def _acl(
    operation: Operation,
    *,
    name: str = "orders",
    principal: str = "User:alice",
    kind: ResourceType = ResourceType.TOPIC,
) -> Acl:
    return Acl(kind, name, PatternType.LITERAL, principal, "*", operation, Permission.ALLOW)


def _kafka_acls_takes(acl: Acl) -> bool:
    """Return whether kafka-acls accepts the operation for this resource type."""
    try:
        format_acls_losslessly([acl], "commands")
    except AclTextError:
        return False
    return True
