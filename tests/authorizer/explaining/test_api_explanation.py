from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, strategies as st

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.explaining.api_explanation import (
    Caller,
    RequirementDecision,
    explain_api_checks,
)
from kafka_shim.authorizer.model import Acl, Actor
from kafka_shim.authorizer.requirement import DenialEffect
from kafka_shim.authorizer.requirements import requirements_of_served_versions
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.api_versions import RELEASES, served_versions
from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.request.access import Access
from kafka_shim.shim.state.authorization import ClusterAuthorization

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID
NEWEST = RELEASES[-1]


def allow(operation: Operation, kind: ResourceType, name: str = "x") -> Acl:
    return Acl(kind, name, PatternType.LITERAL, "User:a", "*", operation, Permission.ALLOW)


def ask(
    api: ApiKey,
    names: Mapping[ResourceType, Sequence[str]],
    acls: Sequence[Acl] = (),
    release: str = NEWEST,
    version: int | None = None,
) -> dict[str, RequirementDecision]:
    caller = Caller(StandardAuthorizer(store=AclStore(acls)), Actor("User:a", "127.0.0.1"))
    version = served_versions(release)[api][1] if version is None else version
    outcomes = explain_api_checks(caller, api, version, release, names)
    return {outcome.bound.requirement.name: outcome for outcome in outcomes}


def test_produce_needs_write_on_the_topic() -> None:
    denied = ask(ApiKey.PRODUCE, {TOPIC: ["x"]})
    (case,) = denied["topic"].name_outcomes
    assert denied["topic"].counts_for_result
    assert not denied["topic"].allowed
    assert case.error is ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert denied["transactional_id"].missing_resource_types == (TRANSACTIONAL_ID,)
    assert not denied["transactional_id"].counts_for_result
    assert ask(ApiKey.PRODUCE, {TOPIC: ["x"]}, [allow(Operation.WRITE, TOPIC)])["topic"].allowed


def test_a_named_transactional_id_counts() -> None:
    found = ask(ApiKey.PRODUCE, {TOPIC: ["x"], TRANSACTIONAL_ID: ["x"]})
    assert found["transactional_id"].counts_for_result
    assert found["transactional_id"].name_outcomes[0].error is (
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    )


def test_each_given_name_is_explained_separately() -> None:
    found = ask(ApiKey.PRODUCE, {TOPIC: ["x", "y"]}, [allow(Operation.WRITE, TOPIC)])["topic"]
    assert [(case.name, case.allowed) for case in found.name_outcomes] == [
        ("x", True),
        ("y", False),
    ]
    assert not found.allowed


def test_alternatives_are_checked_until_one_is_allowed() -> None:
    by_cluster = ask(
        ApiKey.CREATE_TOPICS, {TOPIC: ["x"]}, [allow(Operation.CREATE, CLUSTER, CLUSTER_NAME)]
    )["topic"]
    (case,) = by_cluster.name_outcomes
    assert case.allowed
    assert len(case.checked_needs) == 1
    by_topic = ask(ApiKey.CREATE_TOPICS, {TOPIC: ["x"]}, [allow(Operation.CREATE, TOPIC)])["topic"]
    (case,) = by_topic.name_outcomes
    assert [response.decision.allowed for response in case.checked_needs] == [False, True]


def test_a_denial_shown_by_a_field_does_not_count() -> None:
    found = ask(ApiKey.CREATE_TOPICS, {TOPIC: ["x"]})["configs"]
    assert found.effect is DenialEffect.VALUE
    assert not found.counts_for_result


def test_the_first_conditional_check_of_each_given_resource_type_counts() -> None:
    found = ask(ApiKey.METADATA, {TOPIC: ["x"]})
    assert found["topic"].counts_for_result
    assert not found["all_topics"].counts_for_result
    assert not found["auto_create"].counts_for_result
    fetch = ask(ApiKey.FETCH, {TOPIC: ["x"]})
    assert (fetch["follower"].counts_for_result, fetch["topic"].counts_for_result) == (False, True)
    follower = ask(ApiKey.FETCH, {CLUSTER: [CLUSTER_NAME]})
    assert (follower["follower"].counts_for_result, follower["topic"].counts_for_result) == (
        True,
        False,
    )


def test_write_on_any_topic_is_enough_for_an_idempotent_producer() -> None:
    names = {CLUSTER: [CLUSTER_NAME]}
    allowed = ask(ApiKey.INIT_PRODUCER_ID, names, [allow(Operation.WRITE, TOPIC)])["idempotent"]
    (case,) = allowed.name_outcomes
    assert case.allowed
    assert case.checked_needs[-1].explanation is None
    assert case.checked_needs[-1].decision.acl == allow(Operation.WRITE, TOPIC)
    old = ask(ApiKey.INIT_PRODUCER_ID, names, [allow(Operation.WRITE, TOPIC)], release="2.7")[
        "idempotent"
    ]
    assert not old.allowed


def test_0_11_reports_topics_without_describe_as_unknown() -> None:
    hidden = ask(ApiKey.PRODUCE, {TOPIC: ["x"]}, release="0.11")["topic"].name_outcomes[0]
    assert hidden.error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    described = ask(
        ApiKey.PRODUCE, {TOPIC: ["x"]}, [allow(Operation.DESCRIBE, TOPIC)], release="0.11"
    )["topic"].name_outcomes[0]
    assert described.error is ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize("release", RELEASES)
def test_every_row_of_every_release_can_be_explained(release: str) -> None:
    names = {kind: ["x"] for kind in ResourceType if kind > ResourceType.ANY}
    names[CLUSTER] = [CLUSTER_NAME]
    names[ResourceType.USER] = ["User:x"]
    seen = set()
    for api, (low, high) in served_versions(release).items():
        for version in range(low, high + 1):
            for name, outcome in ask(api, names, release=release, version=version).items():
                seen.add((api, name))
                assert outcome.name_outcomes
                assert not outcome.allowed  # the authorizer has no ACLs
                assert all(case.checked_needs for case in outcome.name_outcomes)
    low_and_high = served_versions(release)
    expected = {
        (bound.requirement.api, bound.requirement.name)
        for bound in requirements_of_served_versions(release)
        if bound.requirement.api in low_and_high
        and any(
            bound.is_checked_in_version(v)
            for v in range(
                low_and_high[bound.requirement.api][0], low_and_high[bound.requirement.api][1] + 1
            )
        )
    }
    assert seen == expected


OPERATIONS = [operation for operation in Operation if operation > Operation.ANY]
KINDS = [kind for kind in ResourceType if kind > ResourceType.ANY]
ENTRIES = st.lists(
    st.builds(
        Acl,
        resource_type=st.sampled_from(KINDS),
        resource_name=st.sampled_from(["x", "*", CLUSTER_NAME]),
        pattern_type=st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
        principal=st.sampled_from(["User:a", "User:*"]),
        host=st.just("*"),
        operation=st.sampled_from(OPERATIONS),
        permission=st.sampled_from([Permission.ALLOW, Permission.DENY]),
    ),
    max_size=12,
    unique=True,
)


@given(ENTRIES, st.sampled_from(RELEASES))
def test_every_row_agrees_with_the_broker(acls: list[Acl], release: str) -> None:
    """The handlers check each row and name with `Access`."""
    authorizer = StandardAuthorizer(store=AclStore(acls), rules=acl_rules_of_release(release))
    policy = ClusterAuthorization(release, authorizer, acl_rules_of_release(release))
    caller = Caller(authorizer, Actor("User:a", "127.0.0.1"))
    names = {kind: ["x"] for kind in KINDS} | {CLUSTER: [CLUSTER_NAME]}
    for api, (_, high) in served_versions(release).items():
        for outcome in explain_api_checks(caller, api, high, release, names):
            if outcome.bound.hidden_as is not None:
                continue  # the handlers also check DESCRIBE here
            (case,) = outcome.name_outcomes
            access = Access(policy, 1, Actor("User:a", "127.0.0.1"))
            assert case.allowed is access.allows(outcome.bound.requirement, case.name), (
                outcome.bound.requirement.id
            )
            assert case.error is (ErrorCode.NONE if case.allowed else outcome.bound.error)
