"""Prepare a real broker with Kafka's own requests: topics, records, offsets of groups and ACLs.

What brokers apply a little later is awaited.
"""

import time
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import EVERY_ACL, create_acls, delete_acls, describe_acls
from kafka_shim.client.client import Client, ClientError, connect, topic_names
from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records.batches import Record, encode_batch
from kafka_shim.shim.system_clock import SystemClock

_NEWEST_WITH_NAMES = {
    ApiKey.DELETE_TOPICS: 5,
    ApiKey.FIND_COORDINATOR: 2,
    ApiKey.LIST_OFFSETS: 7,
    ApiKey.OFFSET_COMMIT: 7,
}
"""The newest versions of these requests that identify things by names, one thing per request."""
_WAIT_S, _PAUSE_S = 60.0, 0.1


class AclsError(ClientError):
    """The broker does not hold the expected ACLs, but those in `held`."""

    def __init__(self, held: set[Acl]) -> None:
        super().__init__("the broker does not hold the expected ACLs")
        self.held = held


def send_by_name(client: Client, api: ApiKey, request: msgspec.Struct) -> Any:
    """Send a request in the newest version that both sides have, without fields it lacks."""
    version = client.negotiated_version(api)
    version = min(version, _NEWEST_WITH_NAMES.get(api, version))
    return client.send_request(api, reset_unsupported_fields(request, version), version)


def create_visible_acls(client: Client, acls: Sequence[Acl]) -> None:
    """Create ACLs, and wait until the broker lists them."""
    create_acls(client, acls)
    await_acls(client, lambda held: set(acls) <= held)


def delete_all_acls(client: Client, wait_s: float = _WAIT_S) -> None:
    """Delete all ACLs, and wait until the broker lists none; it may have no authorizer."""
    try:
        delete_acls(client, [EVERY_ACL])
    except ClientError as error:
        if error.code != ErrorCode.SECURITY_DISABLED:
            raise
        return
    await_acls(client, lambda held: not held, wait_s)


def await_acls(
    client: Client, are_expected: Callable[[set[Acl]], bool], wait_s: float = _WAIT_S
) -> None:
    """Wait until the broker lists the expected ACLs. Raise AclsError after `wait_s`."""
    deadline = time.monotonic() + wait_s
    while not are_expected(held := set(describe_acls(client))):
        if time.monotonic() > deadline:
            raise AclsError(held)
        time.sleep(_PAUSE_S)


def commit_offset(
    client: Client,
    group: str,
    topics: Sequence[str],
    partition: OffsetCommitRequestPartition,
    wait_s: float = _WAIT_S,
) -> None:
    """Commit an offset of a partition of each topic, as soon as the group has a coordinator."""
    rows = [OffsetCommitRequestTopic(name=topic, partitions=[partition]) for topic in topics]

    def find_coordinator_error() -> int:
        code: int = send_by_name(
            client, ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(key=group)
        ).error_code
        return code

    def commit_error() -> int:
        response = send_by_name(
            client, ApiKey.OFFSET_COMMIT, OffsetCommitRequest(group_id=group, topics=rows)
        )
        codes = (row.error_code for topic in response.topics for row in topic.partitions)
        return next((code for code in codes if code), 0)

    retry_until_no_error(f"find the coordinator of {group}", find_coordinator_error, wait_s)
    retry_until_no_error(f"commit for {group}", commit_error, wait_s)


def delete_topics(client: Client, names: list[str], wait_s: float = _WAIT_S) -> None:
    """Delete topics, and wait until they can be created again."""
    request = DeleteTopicsRequest(topic_names=names, timeout_ms=10_000)
    send_by_name(client, ApiKey.DELETE_TOPICS, request)
    deleted_names = set(names)

    def remaining_topic_error() -> int:
        exist = deleted_names.intersection(topic_names(client))
        return int(ErrorCode.TOPIC_ALREADY_EXISTS) if exist else 0

    retry_until_no_error(f"delete {', '.join(names)}", remaining_topic_error, wait_s)
    retry_until_no_error(
        f"have {', '.join(names)} to be creatable",
        lambda: _create_topics_error(client, names),
        wait_s,
    )


def _create_topics_error(client: Client, names: list[str]) -> int:
    """Create topics and return the error; with ZooKeeper, topics being deleted are not listed."""
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    request = CreateTopicsRequest(topics=topics, timeout_ms=10_000, validate_only=True)
    response = client.send_request(ApiKey.CREATE_TOPICS, request)
    exists_code = ErrorCode.TOPIC_ALREADY_EXISTS
    return int(exists_code) if any(row.error_code == exists_code for row in response.topics) else 0


def retry_until_no_error(task: str, attempt: Callable[[], int], wait_s: float = _WAIT_S) -> None:
    """Call `attempt` until it returns no error. Raise ClientError after `wait_s`."""
    deadline = time.monotonic() + wait_s
    while code := attempt():
        if time.monotonic() > deadline:
            raise ClientError(f"cannot {task}: {error_name_with_code(code)}")
        time.sleep(_PAUSE_S)


_NEWEST_BY_NAME = 12
"""The newest version of Produce that identifies topics by name."""


def write_record(servers: str, topic: str, value: bytes) -> None:
    """Write to partition 0 without authentication. Raise ClientError if the broker reports an
    error.

    Ask the brokers in turn until one leads the topic, since the leader may just have moved.
    """
    batch = encode_batch([Record(0, SystemClock().now_ms(), None, value)])
    data = PartitionProduceData(index=0, records=batch)
    topics = [TopicProduceData(name=topic, partition_data=[data])]
    request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topics)
    brokers = cycle(servers.split(","))
    retry_until_no_error(f"write to {topic}", lambda: _produce_error(next(brokers), request), 10.0)


def _produce_error(server: str, request: ProduceRequest) -> int:
    """Return the partition's error; LEADER_NOT_AVAILABLE (5) if the broker does not answer."""
    try:
        with connect(server) as client:
            version = min(client.negotiated_version(ApiKey.PRODUCE), _NEWEST_BY_NAME)
            response = client.send_request(ApiKey.PRODUCE, request, version)
    except ClientError:
        return ErrorCode.LEADER_NOT_AVAILABLE
    code: int = response.responses[0].partition_responses[0].error_code
    return code
