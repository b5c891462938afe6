"""What producers and consumers need after they may not describe what they use."""

import pytest

from kafka_shim.authorizer.client_needs import ClientRole, detect_role
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.shim.observing.request_history import History
from tests.shim.play import Stage

APP = "User:app"
METADATA = MetadataRequest(topics=[MetadataRequestTopic(name="orders")])
COORDINATOR = FindCoordinatorRequest(key="billing", key_type=0)


@pytest.mark.parametrize(
    ("client_id", "role"),
    [
        ("producer-1", ClientRole.PRODUCER),
        ("console-producer", ClientRole.PRODUCER),
        ("kafka-python-producer-3", ClientRole.PRODUCER),
        ("aiokafka-producer-2", ClientRole.PRODUCER),
        ("consumer-billing-1", ClientRole.CONSUMER),
        ("consumer-1", ClientRole.CONSUMER),
        ("console-consumer", ClientRole.CONSUMER),
        ("adminclient-1", None),
        ("rdkafka", None),
        ("my-producer", None),
        (None, None),
    ],
)
def test_default_client_ids_tell_the_role(client_id: str | None, role: ClientRole | None) -> None:
    found = detect_role(client_id, 0)
    assert (found and found.role) == role


def test_requests_tell_the_role_unless_they_have_several() -> None:
    produces, joins = 1 << ApiKey.INIT_PRODUCER_ID, 1 << ApiKey.JOIN_GROUP
    found = detect_role("rdkafka", produces)
    assert found is not None
    assert (found.role, found.evidence) == (ClientRole.PRODUCER, "it sent InitProducerId")
    found = detect_role("producer-1", joins)  # requests are more certain than names
    assert found is not None
    assert found.role is ClientRole.CONSUMER
    assert detect_role("app", produces | joins) is None


class Client:
    """A client of a stage with a history; returns the remedy of its last request."""

    def __init__(self, client_id: str) -> None:
        self.stage, self.client_id = Stage(), client_id
        self.stage.topic("orders")
        self.history = History()
        self.stage.dispatcher.set_history(self.history)
        self.session = self.stage.session(APP)

    def remedy(self, api: ApiKey, version: int, request: object) -> tuple[list[str], str]:
        self.stage.send(api, version, request, self.session, self.client_id)
        *_, entry = self.history
        assert entry.denied_request is not None
        remedy = entry.denied_request.remedy
        assert remedy is not None
        return [acl_line(acl) for acl in remedy.add], remedy.advice


def line(operation: str, kind: str, name: str) -> str:
    return f"{{principal: {APP}, allow: {operation}, {kind}: {name}}}"


def test_a_producer_needs_write_on_the_topic() -> None:
    lines, advice = Client("producer-1").remedy(ApiKey.METADATA, 9, METADATA)
    assert lines == [line("Write", "topic", "orders")]
    why = "the client is a producer: its client id is producer-1"
    assert advice == f"Write includes Describe; {why}"


def test_a_producer_is_known_by_its_requests() -> None:
    client = Client("own-name")
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    client.remedy(ApiKey.INIT_PRODUCER_ID, 4, request)
    lines, advice = client.remedy(ApiKey.METADATA, 9, METADATA)
    assert lines == [line("Write", "topic", "orders")]
    assert advice.endswith("it sent InitProducerId")


def test_a_consumer_needs_read_on_the_group_and_the_topic() -> None:
    client = Client("consumer-billing-1")
    lines, advice = client.remedy(ApiKey.FIND_COORDINATOR, 3, COORDINATOR)
    assert lines == [line("Read", "group", "billing")]
    why = "the client is a consumer: its client id is consumer-billing-1"
    assert advice == f"Read includes Describe; {why}"
    lines, _ = client.remedy(ApiKey.METADATA, 9, METADATA)
    assert lines == [line("Read", "topic", "orders")]


def test_an_unknown_client_is_advised_in_one_line_and_opens_no_more_than_needed() -> None:
    client = Client("rdkafka")
    assert client.remedy(ApiKey.METADATA, 9, METADATA) == (
        [line("Describe", "topic", "orders")],
        "a producer needs Write, a consumer Read; both include Describe",
    )
    assert client.remedy(ApiKey.FIND_COORDINATOR, 3, COORDINATOR) == (
        [line("Describe", "group", "billing")],
        "a consumer needs Read, which includes Describe",
    )


def test_denied_groups_of_a_list_are_shown_by_describe_on_the_cluster() -> None:
    client = Client("adminclient-1")
    commit = OffsetCommitRequestTopic(
        name="orders", partitions=[OffsetCommitRequestPartition(0, 1, -1)]
    )
    client.stage.ask(ApiKey.OFFSET_COMMIT, 2, OffsetCommitRequest("billing", topics=[commit]))
    lines, advice = client.remedy(ApiKey.LIST_GROUPS, 4, ListGroupsRequest())
    assert lines == [line("Describe", "group", "billing")]
    assert advice == "Describe on the cluster shows all groups"
