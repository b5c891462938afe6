"""ACL changes in a recording are replayed against a target with a propagation delay."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.client.client import Client
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.config import Config, SecurityProtocol, parse_address
from kafka_shim.shim.state.authorization import PROPAGATION_DELAY
from kafka_shim.traces.replay.events import Recording, TraceEvents
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import report_lines
from kafka_shim.traces.replay.target import Target
from tests.cli.conftest import PLAINTEXT, SASL, USERS, Running

DELAY_MS = 150
ROUNDS = 4
KIND, PATTERN = ResourceType.TOPIC, PatternType.LITERAL
OPERATION, PERMISSION = Operation.DESCRIBE, Permission.ALLOW


def running(**properties: str) -> Running:
    return Running(
        Config(
            listeners=(PLAINTEXT, SASL),
            users=USERS,
            super_users=("User:ANONYMOUS", "User:admin"),
            properties=properties,
            seed=1,
        )
    )


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Record alice's requests while an admin creates and deletes her ACLs."""
    broker = running()
    broker.record(tmp_path)
    login = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, Login("PLAIN", "alice", "alice-secret"))
    plaintext, sasl = (parse_address(text, "") for text in (broker.plaintext, broker.sasl))
    with Client(*plaintext) as admin, Client(*sasl, login) as alice:
        for number in range(ROUNDS):
            name = f"orders-{number}"
            acl = AclCreation(KIND, name, PATTERN, "User:alice", "*", OPERATION, PERMISSION)
            doomed = DeleteAclsFilter(KIND, name, PATTERN, None, None, OPERATION, PERMISSION)
            asked = MetadataRequest(
                topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
            )
            admin.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest([acl]))
            alice.send_request(ApiKey.METADATA, asked)
            admin.send_request(ApiKey.DELETE_ACLS, DeleteAclsRequest([doomed]))
            alice.send_request(ApiKey.METADATA, asked)
    broker.stop()
    return tmp_path


@pytest.fixture
def late() -> Iterator[Running]:
    target = running(**{PROPAGATION_DELAY: str(DELAY_MS)})
    yield target
    target.stop()


def test_a_replay_waits_until_acl_changes_take_effect(trace: Path, late: Running) -> None:
    target = Target(
        parse_address(late.plaintext, ""),
        routes={"SASL_PLAINTEXT": parse_address(late.sasl, "")},
        users={"alice": "alice-secret"},
    )
    report = Replayer(Recording(TraceEvents(trace), []), target).replay()
    assert report.matches_recording, "\n".join(report_lines(report))
    assert report.responses >= 4 * ROUNDS
