"""A broker in a run with mutated ACLs: mutants decide, and clients see their own ACLs."""

from pathlib import Path

import pytest

from kafka_shim.authorizer.acl_mutants import AclMutant
from kafka_shim.authorizer.model import Acl, Action, Actor
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.broker import MUTATION_RUN, Broker
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.observing.mutation_run import (
    AccessNote,
    AclNote,
    AclsNote,
    BrokerMutationRun,
    BrokerNote,
    MutantNote,
    Note,
    RunFolder,
)
from kafka_shim.testing.mutation.changed_decisions import situations_of_notes
from tests.shim.play import ADMIN, Stage
from tests.support.acls import make_acl

ORDERS = make_acl(Operation.WRITE, "orders")
ALICE = "User:alice"


def started(folder: Path, *mutants: AclMutant) -> Stage:
    """Return a cluster with an ACL and two topics, in a run with mutants."""
    RunFolder(folder).write_mutants(mutants)
    stage = Stage(acls=(ORDERS,))
    BrokerMutationRun(str(folder)).attach(stage.cluster)
    stage.allow(ALICE, Operation.WRITE, ResourceType.TOPIC, "orders")
    stage.topic("orders")
    stage.topic("orders-2")
    return stage


def topic_error(stage: Stage, name: str) -> int:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
    return int(stage.ask(ApiKey.METADATA, 4, request, ALICE).topics[0].error_code)


def listed_acls(stage: Stage) -> list[tuple[str, int]]:
    request = DescribeAclsRequest(1, None, 1, None, None, 1, 1)
    found = stage.ask(ApiKey.DESCRIBE_ACLS, 1, request, ADMIN)
    return [(each.resource_name, each.pattern_type) for each in found.resources]


def notes(folder: Path) -> list[Note]:
    return [note for broker in RunFolder(folder).notes_by_broker() for note in broker]


DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    ("kind", "of_orders", "of_others"),
    [("missing", DENIED, DENIED), ("any-suffix", 0, 0), ("any-principal", 0, DENIED)],
)
def test_mutants_decide_and_acls_are_listed_as_they_were_created(
    tmp_path: Path, kind: str, of_orders: int, of_others: int
) -> None:
    stage = started(tmp_path, AclMutant(ORDERS, kind))
    assert topic_error(stage, "orders") == of_orders
    assert topic_error(stage, "orders-2") == of_others
    assert listed_acls(stage) == [("orders", PatternType.LITERAL)]


def test_a_run_notes_whether_a_mutant_has_changed_a_decision(tmp_path: Path) -> None:
    stage = started(tmp_path, AclMutant(ORDERS, "missing"))
    topic_error(stage, "orders-2")
    assert notes(tmp_path)[1:] == [MutantNote(has_changed_decision=False)]
    topic_error(stage, "orders")
    assert notes(tmp_path)[2:] == [MutantNote(has_changed_decision=True)]


def test_a_mutant_of_another_acl_has_no_effect(tmp_path: Path) -> None:
    stage = started(tmp_path, AclMutant(make_acl(Operation.READ, "orders"), "missing"))
    assert topic_error(stage, "orders") == 0
    assert notes(tmp_path) == []


def test_producers_of_any_topic_ask_the_mutants(tmp_path: Path) -> None:
    """KIP-679: WRITE on any topic is enough."""
    stage = started(tmp_path, AclMutant(ORDERS, "missing"))
    request = InitProducerIdRequest(None, 1000)
    response = stage.ask(ApiKey.INIT_PRODUCER_ID, 1, request, ALICE)
    assert response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert MutantNote(has_changed_decision=True) in notes(tmp_path)


def test_a_run_without_mutants_notes_accesses_with_their_tests(tmp_path: Path) -> None:
    stage = started(tmp_path)
    topic_error(stage, "orders")
    running = RunFolder(tmp_path).running_tests
    (running / "gw0").write_text("test_a")
    (running / "gw1").write_text("test_b")
    topic_error(stage, "orders")
    topic_error(stage, "orders")
    (running / "gw1").write_text("")
    topic_error(stage, "orders")
    found = notes(tmp_path)
    broker = BrokerNote("4.4", (ADMIN,), allow_everyone=False)
    assert found[:3] == [broker, AclNote(ORDERS), AclsNote((ORDERS,))]
    describe = Operation.DESCRIBE, ResourceType.TOPIC, "orders"
    alice = Actor(ALICE, "127.0.0.1")
    tests = [note.tests for note in found if isinstance(note, AccessNote)
             and (note.operation, note.resource_type, note.resource_name) == describe
             and note.actor == alice]  # fmt: skip
    assert tests == [(), ("test_a", "test_b"), ("test_a",)]


def test_acls_are_noted_before_any_access(tmp_path: Path) -> None:
    stage = started(tmp_path)
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "orders")
    acls = [note.acl for note in notes(tmp_path) if isinstance(note, AclNote)]
    assert acls == [ORDERS, make_acl(Operation.READ, "orders")]
    [(broker, found)] = situations_of_notes([notes(tmp_path)])
    assert (broker.release, set(found.acls)) == ("4.4", set(acls))


def test_an_access_is_noted_again_for_other_acls(tmp_path: Path) -> None:
    stage = started(tmp_path)
    topic_error(stage, "orders")
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "orders")
    topic_error(stage, "orders")
    acls: list[tuple[Acl, ...]] = []
    for note in notes(tmp_path):
        match note:
            case AclsNote():
                acls.append(note.acls)
            case AccessNote():
                assert len(acls) <= 2
    assert [len(each) for each in acls] == [1, 2]


def test_a_reset_broker_has_the_mutants_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunFolder(tmp_path).write_mutants([AclMutant(ORDERS, "missing")])
    monkeypatch.setenv(MUTATION_RUN, str(tmp_path))
    broker = Broker(Config(acls=(ORDERS,)))
    write = Action(Operation.WRITE, ResourceType.TOPIC, "orders")
    for _ in range(2):
        authorizer = broker.cluster.policy.deciding_authorizer(1)
        assert authorizer is not None
        assert not authorizer.authorize(Actor(ALICE, "127.0.0.1"), write).allowed
        broker.reset_to_initial_state()
    assert len(list(tmp_path.glob("broker-*.jsonl"))) == 1


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not the folder of a run"):
        BrokerMutationRun(str(tmp_path))


def test_delayed_acls_are_refused(tmp_path: Path) -> None:
    RunFolder(tmp_path).write_mutants([])
    stage = Stage(properties={"shim.acl.propagation.delay.ms": "5"})
    with pytest.raises(ConfigError, match="cannot be combined with --acl-propagation-delay"):
        BrokerMutationRun(str(tmp_path)).attach(stage.cluster)
