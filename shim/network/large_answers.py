"""Small requests that take long because of what there is: they are worked on as large ones are."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.protocol import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.messages.create_topics_request import CreateTopicsRequest
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.groups import MANY_MEMBERS

MANY = 5_000
"""Partitions, groups, transactions or ACLs that an answer may tell of in one turn."""
MANY_MADE = 2_000
"""Partitions that are made in one turn."""

MayBeLong = Callable[[Cluster, bytes], bool]


def _of_topics(cluster: Cluster, _frame: bytes) -> bool:
    return cluster.topics.partition_count > MANY


def _of_acls(cluster: Cluster, _frame: bytes) -> bool:
    authorizer = cluster.policy.authorizer
    return isinstance(authorizer, StandardAuthorizer) and len(authorizer.store) > MANY


def _of_groups(cluster: Cluster, _frame: bytes) -> bool:
    return len(cluster.groups) > MANY


def _of_members(cluster: Cluster, frame: bytes) -> bool:
    return cluster.groups.joins >= MANY_MEMBERS or _of_topics(cluster, frame)


def _heartbeat(cluster: Cluster, frame: bytes) -> bool:
    """One of a consumer group may bring a new target assignment of all its members."""
    if _of_topics(cluster, frame):
        return True
    if cluster.groups.joins < MANY_MEMBERS:
        return False
    request = _read(frame)
    if request is None:
        return False
    said = (
        request.subscribed_topic_names,
        request.subscribed_topic_regex,
        request.server_assignor,
    )
    changes = request.member_epoch == 0 or said != (None, None, None)
    return cluster.groups.is_long(request.group_id, changes=changes)


def _creates(_cluster: Cluster, frame: bytes) -> bool:
    """A few bytes can name very many partitions to be made."""
    request = _read(frame)
    if request is None:
        return False
    is_creation = isinstance(request, CreateTopicsRequest)
    made = 0
    for topic in request.topics:
        made += max(0, topic.num_partitions if is_creation else topic.count)
    return made > MANY_MADE


def _read(frame: bytes) -> Any:
    """The request, None if it is none."""
    try:
        header, at = read_request_header(frame)
        return codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return None


_BY_STATE: Mapping[ApiKey, MayBeLong] = {
    ApiKey.METADATA: _of_topics,
    ApiKey.CREATE_TOPICS: _creates,
    ApiKey.CREATE_PARTITIONS: _creates,
    ApiKey.DESCRIBE_LOG_DIRS: _of_topics,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: _of_topics,
    ApiKey.ELECT_LEADERS: _of_topics,
    ApiKey.LIST_CONFIG_RESOURCES: _of_topics,
    ApiKey.OFFSET_FETCH: _of_topics,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: _of_topics,
    ApiKey.SHARE_GROUP_HEARTBEAT: _of_topics,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _heartbeat,
    ApiKey.DESCRIBE_GROUPS: _of_members,
    ApiKey.CONSUMER_GROUP_DESCRIBE: _of_members,
    ApiKey.SHARE_GROUP_DESCRIBE: _of_members,
    ApiKey.STREAMS_GROUP_DESCRIBE: _of_members,
    ApiKey.LIST_GROUPS: _of_groups,
    ApiKey.DESCRIBE_ACLS: _of_acls,
    ApiKey.DELETE_ACLS: _of_acls,
}
BY_STATE: Mapping[bytes, MayBeLong] = MappingProxyType(
    {key.to_bytes(2, "big"): may_be for key, may_be in _BY_STATE.items()}
)
"""By how a frame begins: whether its answer may take long."""
