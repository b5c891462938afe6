"""With a propagation delay, ACLs reach brokers late and out of order; in the end all agree."""

from typing import Any

from hypothesis import given, settings, strategies as st

from kafka_shim.authorizer.acl_rules import NEWEST_RULES
from kafka_shim.authorizer.model import Acl, AclFilter, Actor
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.state.authorization import PROPAGATION_DELAY
from kafka_shim.shim.state.propagation import PropagatingAuthorizer
from tests.shim.play import ADMIN, Stage

ACTOR = Actor(ADMIN, "127.0.0.1")
READ_T = CreateAclsRequest([AclCreation(2, "t", 3, "User:alice", "*", Operation.READ, 3)])
ANY_ACL = DescribeAclsRequest(1, None, 1, None, None, 1, 1)


def acl(number: int) -> Acl:
    name, read = f"t{number}", (Operation.READ, Permission.ALLOW)
    return Acl(ResourceType.TOPIC, name, PatternType.LITERAL, "User:a", "*", *read)


def stage(delay_ms: int) -> Stage:
    late = Stage(brokers=2, properties={PROPAGATION_DELAY: str(delay_ms)})
    late.topic("t")
    return late


def is_denied(stage: Stage, node_id: int) -> bool:
    """Return whether this broker denies ListOffsets to alice."""
    stage.session("User:alice").node_id = node_id
    topic = ListOffsetsTopic("t", [ListOffsetsPartition(0, timestamp=-1)])
    response = stage.ask(
        ApiKey.LIST_OFFSETS, 1, ListOffsetsRequest(-1, topics=[topic]), "User:alice"
    )
    return bool(response.topics[0].partitions[0].error_code == 29)


def described(stage: Stage) -> int:
    return len(stage.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL).resources)


def test_a_grant_reaches_every_broker_within_the_delay() -> None:
    late = stage(1000)
    assert late.ask(ApiKey.CREATE_ACLS, 3, READ_T).results[0].error_code == 0
    assert [is_denied(late, node) for node in (1, 2)] == [True, True]
    assert described(late) == 0
    late.clock.advance(1000)
    assert [is_denied(late, node) for node in (1, 2)] == [False, False]
    assert described(late) == 1


def test_brokers_learn_at_different_times() -> None:
    late = stage(1000)
    late.ask(ApiKey.CREATE_ACLS, 3, READ_T)
    seen = set()
    for _ in range(100):
        late.clock.advance(10)
        seen.add(tuple(is_denied(late, node) for node in (1, 2)))
    assert {(True, True), (False, False)} < seen


def test_forwarded_requests_are_decided_by_the_controller_without_delay() -> None:
    late = stage(1000)
    alter = AclCreation(4, "kafka-cluster", 3, "User:alice", "*", Operation.ALTER, 3)
    late.ask(ApiKey.CREATE_ACLS, 3, CreateAclsRequest([alter]))
    assert late.ask(ApiKey.CREATE_ACLS, 3, READ_T, "User:alice").results[0].error_code == 0


def test_without_a_delay_acls_apply_at_once() -> None:
    prompt = stage(0)
    prompt.ask(ApiKey.CREATE_ACLS, 3, READ_T)
    assert described(prompt) == 1


def test_super_users_do_not_depend_on_propagation() -> None:
    assert described(stage(1000)) == 0  # a super user is allowed before any ACL arrives


@settings(max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 300)), max_size=20))
def test_all_copies_are_equal_in_the_end(changes: list[Any]) -> None:
    clock = ManualClock()
    late = PropagatingAuthorizer(NEWEST_RULES, (1, 2, 3), 500, clock, seed=7)
    for creates, number, pause_ms in changes:
        if creates:
            late.create_acls(ACTOR, [acl(number)])
        else:
            late.delete_acls(ACTOR, [AclFilter(resource_name=f"t{number}")])
        clock.advance(pause_ms)
    clock.advance(500)
    expected = set(late.acls(AclFilter()))
    for node_id in (1, 2, 3):
        assert set(late.authorizer_copy_of(node_id).acls(AclFilter())) == expected


def test_a_seed_repeats_the_delays() -> None:
    def moments(seed: int) -> list[int]:
        clock = ManualClock(0)
        late = PropagatingAuthorizer(NEWEST_RULES, (1, 2), 500, clock, seed)
        late.create_acls(ACTOR, [acl(0)])
        found = [-1, -1]
        while -1 in found:
            clock.advance(1)
            for place, node_id in enumerate((1, 2)):
                if found[place] < 0 and list(late.authorizer_copy_of(node_id).acls(AclFilter())):
                    found[place] = clock.now_ms()
        return found

    assert moments(1) == moments(1)
    assert moments(1) != moments(2)
