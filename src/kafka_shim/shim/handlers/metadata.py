"""3 Metadata, versions 0-13. Brokers need no permission; topics need DESCRIBE (KIP-430, KIP-516).

Denied topics are left out if all topics are requested; named ones get TOPIC_AUTHORIZATION_FAILED
(29) whether they exist or not. If the request has any topic id, names are ignored; an unknown id
gets UNKNOWN_TOPIC_ID (100) even without any permission. A request for a missing topic creates it if
the caller has CREATE; this response still returns it as missing.
"""

from collections.abc import Iterable, Set

from kafka_shim.authorizer.requirements import (
    METADATA_ALL_TOPICS,
    METADATA_AUTO_CREATE,
    METADATA_CLUSTER_OPERATIONS,
    METADATA_TOPIC,
)
from kafka_shim.protocol.enums import NO_OPERATIONS, ResourceType
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.controller import serves_controller_requests
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.topics import METADATA_LOG, NO_ID, Partition, Topic, name_error

CACHED_SINCE = 0
_NO_NODES: Set[int] = frozenset()
_TOPIC = ResourceType.TOPIC  # module constant: enum attribute lookup is slow on CPython 3.11


def handle(request: MetadataRequest, context: RequestContext) -> MetadataResponse:
    # brokers, cluster id and controller id are for everybody
    context.access.declare_no_further_checks()
    has_ids = _requests_topic_ids(request, context.version)
    if request.topics is None or (context.version == 0 and not request.topics):
        topics = _describe_all_visible_topics(request, context)
    elif has_ids:
        ids = [topic.topic_id for topic in request.topics if topic.topic_id != NO_ID]
        topics = _describe_topics_by_id(ids, request, context)
    else:
        names = [topic.name for topic in request.topics if topic.name is not None]
        topics = _describe_topics_by_name(names, request, context)
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node_id, host=host, port=port, rack=rack)
            for node_id, host, port, rack in context.live_broker_endpoints()
        ],
        cluster_id=context.cluster.cluster_id,
        controller_id=context.cluster.controller_id,
        topics=topics,
        cluster_authorized_operations=_cluster_operations(request, context),
    )


def error_response(
    request: MetadataRequest,
    error: ErrorCode,
    message: str | None,
) -> MetadataResponse:
    topics = request.topics or []
    return MetadataResponse(
        topics=[
            MetadataResponseTopic(error_code=error, name=topic.name or "", topic_id=topic.topic_id)
            for topic in topics
        ],
        error_code=error,
    )


def _requests_topic_ids(request: MetadataRequest, version: int) -> bool:
    """Return whether a topic has an id.

    Raise RequestRejected for null names or ids in versions without both (before 12).
    """
    if version < 10:
        return False
    has_id = lacks_name = False
    for topic in request.topics or ():
        has_id = has_id or topic.topic_id != NO_ID
        lacks_name = lacks_name or topic.name is None
    if version < 12 and (has_id or lacks_name):
        raise RequestRejected(ErrorCode.INVALID_REQUEST)
    if lacks_name and not has_id:
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
    return has_id


def _describe_all_visible_topics(
    request: MetadataRequest, context: RequestContext
) -> list[MetadataResponseTopic]:
    topics = [topic for topic in context.cluster.topics if topic.has_any_partition_ever_been_led]
    visible = context.access.filter_visible(METADATA_ALL_TOPICS, topics, lambda topic: topic.name)
    dead_nodes = _dead_nodes(context)
    return [_topic_row(topic, dead_nodes, request, context) for topic in visible]


def _describe_topics_by_name(
    names: Iterable[str], request: MetadataRequest, context: RequestContext
) -> list[MetadataResponseTopic]:
    allowed, denied = context.access.split_allowed(
        METADATA_TOPIC, dict.fromkeys(names), lambda name: name
    )
    described, missing, create_denied = [], [], []
    topics = context.cluster.topics
    dead_nodes = _dead_nodes(context)
    auto_creates = None  # not looked up where all topics are known
    for name in allowed:
        topic = topics.led_topic(name)
        if topic is not None:
            described.append(_topic_row(topic, dead_nodes, request, context))
            continue
        if auto_creates is None:
            auto_creates = request.allow_auto_topic_creation and _auto_create_is_enabled(
                context.cluster
            )
        if auto_creates and not context.access.allows(METADATA_AUTO_CREATE, name):
            create_denied.append(_creation_denied_row(name, context))
        else:
            missing.append(
                _auto_create_topic_row(name, request, context, auto_creates=auto_creates)
            )
    if not denied:
        return [*described, *missing, *create_denied]
    error = context.cluster.policy.bind(METADATA_TOPIC).error
    unasked = _default_operations(context)
    return [
        *described,
        *missing,
        *create_denied,
        *(
            MetadataResponseTopic(error_code=error, name=name, topic_authorized_operations=unasked)
            for name in denied
        ),
    ]


def _describe_topics_by_id(
    ids: Iterable[bytes], request: MetadataRequest, context: RequestContext
) -> list[MetadataResponseTopic]:
    unknown, known = [], []
    for topic_id in dict.fromkeys(ids):
        topic = context.cluster.topics.by_id(topic_id)
        if topic is None:
            unknown.append(_topic_row_without_name(topic_id, ErrorCode.UNKNOWN_TOPIC_ID))
        else:
            known.append(topic)
    allowed, denied = context.access.split_allowed(METADATA_TOPIC, known, lambda topic: topic.name)
    dead_nodes = _dead_nodes(context)
    return [
        *unknown,
        *(_topic_row(topic, dead_nodes, request, context) for topic in allowed),
        *(
            _topic_row_without_name(topic.topic_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            for topic in denied
        ),
    ]


def _auto_create_topic_row(
    name: str, request: MetadataRequest, context: RequestContext, *, auto_creates: bool
) -> MetadataResponseTopic:
    """Create a missing topic if enabled, and return its row, which still reports it as missing."""
    error: int = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    is_checked = auto_creates or context.facts.topics.metadata_rejects_invalid_topic_names
    if name_error(name) is not None:
        if is_checked:
            error = ErrorCode.INVALID_TOPIC_EXCEPTION
    elif _auto_create(name, context, auto_creates=auto_creates):
        facts, at_controller = context.facts.topics, serves_controller_requests(context)
        error = (
            facts.controller_auto_created_topic_error
            if at_controller
            else facts.auto_created_topic_error
        )
    return MetadataResponseTopic(
        error_code=error,
        name=name,
        is_internal=name in context.cluster.topics.internal_names,
        topic_authorized_operations=_topic_operations(name, request, context),
    )


def _auto_create(name: str, context: RequestContext, *, auto_creates: bool) -> bool:
    """Create a missing topic if release and settings allow it; return whether it was created now,
    or before and is not visible yet.
    """
    is_internal = name in context.cluster.topics.internal_names
    if name == METADATA_LOG and context.facts.topics.create_metadata_topic_error != NO_ERROR:
        return False
    if not auto_creates and not (
        is_internal and context.facts.topics.metadata_creates_internal_topics
    ):
        return False
    is_made = name in context.cluster.topics
    return is_made or _create_default_topic(context.cluster, name) is not None


def _creation_denied_row(name: str, context: RequestContext) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        name=name,
        is_internal=name in context.cluster.topics.internal_names,
        topic_authorized_operations=_default_operations(context),
    )


def _topic_row_without_name(topic_id: bytes, error: ErrorCode) -> MetadataResponseTopic:
    """Return the row of an unknown or denied topic id."""
    return MetadataResponseTopic(error_code=error, name=None, topic_id=topic_id)


def _dead_nodes(context: RequestContext) -> Set[int]:
    dead_nodes = _NO_NODES
    for node_id, node in context.cluster.nodes.items():
        if not node.is_alive:
            dead_nodes = dead_nodes | {node_id}
    return dead_nodes


def _topic_row(
    topic: Topic, dead_nodes: Set[int], request: MetadataRequest, context: RequestContext
) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            _partition_row(partition, dead_nodes, context.version)
            for partition in topic.partitions
            if partition.was_led
        ],
        topic_authorized_operations=_topic_operations(topic.name, request, context),
    )


def _partition_row(
    partition: Partition, dead_nodes: Set[int], version: int
) -> MetadataResponsePartition:
    leader_id = -1 if partition.leader_id in dead_nodes else partition.leader_id
    response = MetadataResponsePartition(
        error_code=NO_ERROR if leader_id >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
        partition_index=partition.index,
        leader_id=leader_id,
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=partition.isr,
    )
    if dead_nodes:
        response.offline_replicas = [each for each in partition.replicas if each in dead_nodes]
        if version == 0 and response.offline_replicas:
            _omit_dead_nodes(response, dead_nodes)
    return response


def _omit_dead_nodes(response: MetadataResponsePartition, dead_nodes: Set[int]) -> None:
    """Name running brokers only: version 0 has no field for the others (KIP-4)."""
    response.replica_nodes = [each for each in response.replica_nodes if each not in dead_nodes]
    response.isr_nodes = [each for each in response.isr_nodes if each not in dead_nodes]
    if response.leader_id >= 0:
        response.error_code = ErrorCode.REPLICA_NOT_AVAILABLE


def _topic_operations(name: str, request: MetadataRequest, context: RequestContext) -> int:
    if context.version < 8 or not request.include_topic_authorized_operations:
        return _default_operations(context)
    return context.access.authorized_operations(_TOPIC, name)


def _default_operations(context: RequestContext) -> int:
    return (
        context.facts.access.unrequested_operations_value if context.version >= 8 else NO_OPERATIONS
    )


def _cluster_operations(request: MetadataRequest, context: RequestContext) -> int:
    """Return the operations on the cluster (versions 8 to 10); 0 without DESCRIBE (KIP-430)."""
    if not 8 <= context.version <= 10:
        return NO_OPERATIONS
    if not request.include_cluster_authorized_operations:
        return context.facts.access.unrequested_operations_value
    if not context.access.allows(METADATA_CLUSTER_OPERATIONS):
        return 0
    return context.access.authorized_operations(ResourceType.CLUSTER)


def _auto_create_is_enabled(cluster: Cluster) -> bool:
    """Return whether a request for a missing topic creates it."""
    return cluster.configs.effective_broker_bool("auto.create.topics.enable")


def _create_default_topic(cluster: Cluster, name: str) -> Topic | None:
    """Create a topic with the broker's defaults; return None if its name collides with another."""
    assert name not in cluster.topics
    if cluster.topics.names_colliding_in_metrics(name):
        return None
    if name in cluster.topics.internal_names and cluster.coordinators.uses_broker_settings(name):
        return cluster.coordinators.create_internal_topic(name)
    return cluster.create_topic_with_defaults(name, {})
