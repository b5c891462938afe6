"""Admin requests to a broker that is not the controller."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from tests.shim.play import ADMIN, LISTENER, Stage

CREATE = CreateTopicsRequest([CreatableTopic("orders", 1, 1)], 1000)


def asked_of(stage: Stage, node_id: int, api: ApiKey, version: int, request: Any) -> Any:
    session = Session(LISTENER, node_id, "127.0.0.1", 50_000 + node_id)
    session.principal = ADMIN
    session.phase = AuthenticationPhase.READY
    response = stage.send(api, version, request, session)
    assert isinstance(response, bytes)
    return stage.read(api, version, response)


@pytest.mark.parametrize("release", ["0.11", "1.1", "2.8"])
def test_zookeeper_brokers_return_not_controller(release: str) -> None:
    stage = Stage(release, brokers=3)
    controller = stage.ask(ApiKey.METADATA, 1, MetadataRequest([])).controller_id
    other = next(node_id for node_id in (1, 2, 3) if node_id != controller)
    refused = asked_of(stage, other, ApiKey.CREATE_TOPICS, 1, CREATE)
    assert refused.topics[0].error_code == ErrorCode.NOT_CONTROLLER
    assert "orders" not in stage.cluster.topics
    made = asked_of(stage, controller, ApiKey.CREATE_TOPICS, 1, CREATE)
    assert made.topics[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize("release", ["3.0", "4.3"])
def test_kraft_brokers_forward_to_the_controller(release: str) -> None:
    stage = Stage(release, brokers=3)
    for node_id in (1, 2, 3):
        wanted = CreateTopicsRequest([CreatableTopic(f"topic-{node_id}", 1, 1)], 1000)
        made = asked_of(stage, node_id, ApiKey.CREATE_TOPICS, 4, wanted)
        assert made.topics[0].error_code == ErrorCode.NONE
