"""Small requests that take long because of what there is: they are worked on as large ones are."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.messages.create_topics_request import CreateTopicsRequest
from kafka_shim.shim.network import large_heartbeats
from kafka_shim.shim.state.cluster import Cluster

if TYPE_CHECKING:
    from kafka_shim.protocol.messages.delete_acls_request import DeleteAclsFilter
    from kafka_shim.protocol.messages.describe_acls_request import DescribeAclsRequest

MANY = 5_000
"""Partitions, groups, transactions or ACLs that an answer may tell of in one turn."""
MANY_MADE = 2_000
"""Partitions that are made in one turn."""

RESOURCE_TYPES = frozenset(ResourceType) - {ResourceType.UNKNOWN, ResourceType.ANY}
_DELETE_ACLS = ApiKey.DELETE_ACLS.to_bytes(2, "big")

MayBeLong = Callable[[Cluster, bytes], bool]


def _of_topics(cluster: Cluster, _frame: bytes) -> bool:
    return cluster.topics.partition_count > MANY


def _metadata(cluster: Cluster, frame: bytes) -> bool:
    """Only the topics that are named count, unless all are asked for."""
    topics = cluster.topics
    if topics.partition_count <= MANY:
        return False
    request = _read(frame)
    if request is None:
        return False
    if not request.topics:  # None and, in version 0, an empty array are all
        return True
    found = (topics.get(named.name) or topics.by_id(named.topic_id) for named in request.topics)
    return sum(len(topic.partitions) for topic in found if topic is not None) > MANY


def _of_acls(cluster: Cluster, frame: bytes) -> bool:
    """Only the ACLs that apply to a name count, where the filters name a resource."""
    authorizer = cluster.policy.authorizer
    if not isinstance(authorizer, StandardAuthorizer) or len(authorizer.store) <= MANY:
        return False
    request = _read(frame)
    if request is None:
        return False
    filters = request.filters if frame[:2] == _DELETE_ACLS else [request]
    return _subjects_of(filters, authorizer.store) > MANY


def _subjects_of(
    filters: "Iterable[DescribeAclsRequest | DeleteAclsFilter]", store: AclStore
) -> int:
    """Return how many pairs of a pattern and a subject the filters may select, at the most."""
    count = 0
    for each in filters:
        kind, name = each.resource_type_filter, each.resource_name_filter
        if name is None or kind not in RESOURCE_TYPES:
            return len(store)
        for pattern in store.patterns_for(ResourceType(kind), name):
            count += 1 if pattern.others is None else 1 + len(pattern.others)
    return count


def _of_groups(cluster: Cluster, _frame: bytes) -> bool:
    return len(cluster.groups) > MANY


def _of_members(cluster: Cluster, frame: bytes) -> bool:
    return cluster.groups.joins >= large_heartbeats.MANY_MEMBERS or _of_topics(cluster, frame)


def _consumer_heartbeat(cluster: Cluster, frame: bytes) -> bool:
    has_many = _of_topics(cluster, frame)
    if not has_many and cluster.groups.joins < large_heartbeats.MANY_MEMBERS:
        return False
    request = _read(frame)
    return request is not None and large_heartbeats.of_consumers(
        cluster, request, has_many_topics=has_many
    )


def _share_heartbeat(cluster: Cluster, frame: bytes) -> bool:
    if _of_topics(cluster, frame):
        return True
    if cluster.groups.joins + cluster.topics.partition_count < large_heartbeats.MANY_SHARED:
        return False
    request = _read(frame)
    return request is not None and large_heartbeats.of_sharers(cluster, request)


def _streams_heartbeat(cluster: Cluster, frame: bytes) -> bool:
    if cluster.groups.joins < large_heartbeats.MANY_STREAMS:
        return False
    request = _read(frame)
    return request is not None and large_heartbeats.of_streams(cluster, request)


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
    ApiKey.METADATA: _metadata,
    ApiKey.CREATE_TOPICS: _creates,
    ApiKey.CREATE_PARTITIONS: _creates,
    ApiKey.DESCRIBE_LOG_DIRS: _of_topics,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: _of_topics,
    ApiKey.ELECT_LEADERS: _of_topics,
    ApiKey.LIST_CONFIG_RESOURCES: _of_topics,
    ApiKey.OFFSET_FETCH: _of_topics,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: _of_topics,
    ApiKey.SHARE_GROUP_HEARTBEAT: _share_heartbeat,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _consumer_heartbeat,
    ApiKey.STREAMS_GROUP_HEARTBEAT: _streams_heartbeat,
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
