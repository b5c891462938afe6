"""Requirements of the APIs for share groups and streams groups."""

from kafka_shim.authorizer.requirement import NeedAlternative, Requirement
from kafka_shim.authorizer.requirements import terms
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType

# Kafka rejects the unstable versions of 3.9 (and in 4.0, those to initialise, delete and summarise
# share group state) with UNSUPPORTED_VERSION (35) before any check. Here they are checked, so that
# every answered request has a permission check.
_UNKNOWN_ID = "an unknown topic id fails the whole request with UNKNOWN_SERVER_ERROR (-1)"

SHARE_GROUP_HEARTBEAT_GROUP = Requirement(
    api=ApiKey.SHARE_GROUP_HEARTBEAT,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    kip=932,
)
SHARE_GROUP_HEARTBEAT_TOPIC = Requirement(
    api=ApiKey.SHARE_GROUP_HEARTBEAT,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_TOP,
    names=("subscribed_topic_names[]",),
    since="4.1",
    when="subscribed_topic_names is not empty",
    kip=932,
    note="one denied topic fails the request;"
    " before this check, an invalid member id is INVALID_REQUEST (42)",
)
SHARE_GROUP_DESCRIBE_GROUP = Requirement(
    api=ApiKey.SHARE_GROUP_DESCRIBE,
    any_of=terms.GROUP_DESCRIBE,
    denied=terms.GROUP_EACH,
    names=("group_ids[]",),
    kip=932,
)
SHARE_GROUP_DESCRIBE_TOPIC = Requirement(
    api=ApiKey.SHARE_GROUP_DESCRIBE,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_EACH,
    names=("response.groups[].members[].assignment.topic_partitions[].topic_name",),
    since="4.1",
    kip=932,
    note="a denied topic replaces the whole group by an entry with TOPIC_AUTHORIZATION_FAILED (29)",
)

SHARE_FETCH_GROUP = Requirement(
    api=ApiKey.SHARE_FETCH,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    kip=932,
)
SHARE_FETCH_TOPIC = Requirement(
    api=ApiKey.SHARE_FETCH,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    names=("topics[].topic_id",),
    kip=932,
    note=f"also topics of the share session; acknowledgements are denied too; {_UNKNOWN_ID}",
)
SHARE_ACKNOWLEDGE_GROUP = Requirement(
    api=ApiKey.SHARE_ACKNOWLEDGE,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    kip=932,
)
SHARE_ACKNOWLEDGE_TOPIC = Requirement(
    api=ApiKey.SHARE_ACKNOWLEDGE,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    names=("topics[].topic_id",),
    kip=932,
    note=f"{_UNKNOWN_ID}; without an authorizer it is UNKNOWN_TOPIC_ID (100)",
)

INITIALIZE_SHARE_GROUP_STATE = Requirement(
    api=ApiKey.INITIALIZE_SHARE_GROUP_STATE,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_EACH,
    kip=932,
)
READ_SHARE_GROUP_STATE = Requirement(
    api=ApiKey.READ_SHARE_GROUP_STATE,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_EACH,
    kip=932,
)
WRITE_SHARE_GROUP_STATE = Requirement(
    api=ApiKey.WRITE_SHARE_GROUP_STATE,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_EACH,
    kip=932,
)
DELETE_SHARE_GROUP_STATE = Requirement(
    api=ApiKey.DELETE_SHARE_GROUP_STATE,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_EACH,
    kip=932,
)
READ_SHARE_GROUP_STATE_SUMMARY = Requirement(
    api=ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_EACH,
    kip=932,
)

STREAMS_GROUP_HEARTBEAT_GROUP = Requirement(
    api=ApiKey.STREAMS_GROUP_HEARTBEAT,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    kip=1071,
)
STREAMS_GROUP_HEARTBEAT_TOPIC = Requirement(
    api=ApiKey.STREAMS_GROUP_HEARTBEAT,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_TOP,
    names=(
        "topology.subtopologies[].source_topics[]",
        "topology.subtopologies[].repartition_sink_topics[]",
        "topology.subtopologies[].repartition_source_topics[].name",
        "topology.subtopologies[].state_changelog_topics[].name",
    ),
    when="topology is set",
    kip=1071,
    note="one denied topic fails the request;"
    " before this check, an invalid topology is STREAMS_INVALID_TOPOLOGY (130)",
)
STREAMS_GROUP_HEARTBEAT_CREATE = Requirement(
    api=ApiKey.STREAMS_GROUP_HEARTBEAT,
    name="create",
    any_of=(
        NeedAlternative(Operation.CREATE, ResourceType.CLUSTER, log_if_denied=False),
        NeedAlternative(Operation.CREATE, ResourceType.TOPIC),
    ),
    denied=terms.BY_STATUS,
    names=(
        "topology.subtopologies[].repartition_source_topics[].name",
        "topology.subtopologies[].state_changelog_topics[].name",
    ),
    when="internal topics are missing",
    kip=1071,
    note="denied: status MISSING_INTERNAL_TOPICS names the topics, none is created, and the"
    " application does not start",
)
STREAMS_GROUP_DESCRIBE_GROUP = Requirement(
    api=ApiKey.STREAMS_GROUP_DESCRIBE,
    any_of=terms.GROUP_DESCRIBE,
    denied=terms.GROUP_EACH,
    names=("group_ids[]",),
    kip=1071,
)
STREAMS_GROUP_DESCRIBE_TOPIC = Requirement(
    api=ApiKey.STREAMS_GROUP_DESCRIBE,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_EACH,
    names=(
        "response.groups[].topology.subtopologies[].source_topics[]",
        "response.groups[].topology.subtopologies[].repartition_sink_topics[]",
        "response.groups[].topology.subtopologies[].repartition_source_topics[].name",
        "response.groups[].topology.subtopologies[].state_changelog_topics[].name",
    ),
    kip=1071,
    note="a denied topic replaces the whole group by an entry with TOPIC_AUTHORIZATION_FAILED (29)",
)

DESCRIBE_SHARE_GROUP_OFFSETS_GROUP = Requirement(
    api=ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    any_of=terms.GROUP_DESCRIBE,
    denied=terms.GROUP_EACH,
    names=("groups[].group_id",),
    kip=932,
)
DESCRIBE_SHARE_GROUP_OFFSETS_TOPIC = Requirement(
    api=ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_EACH,
    names=("groups[].topics[].topic_name",),
    when="topics are named",
    kip=932,
    note="an error of the whole group takes precedence",
)
DESCRIBE_SHARE_GROUP_OFFSETS_ALL_TOPICS = Requirement(
    api=ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    name="all_topics",
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.LEFT_OUT,
    names=("response.groups[].topics[].topic_name",),
    when="topics is null",
    kip=932,
)
ALTER_SHARE_GROUP_OFFSETS_GROUP = Requirement(
    api=ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    kip=932,
)
ALTER_SHARE_GROUP_OFFSETS_TOPIC = Requirement(
    api=ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    names=("topics[].topic_name",),
    kip=932,
    note="an error of the whole group takes precedence",
)
DELETE_SHARE_GROUP_OFFSETS_GROUP = Requirement(
    api=ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    any_of=terms.GROUP_DELETE,
    denied=terms.GROUP_TOP,
    kip=932,
)
DELETE_SHARE_GROUP_OFFSETS_TOPIC = Requirement(
    api=ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    names=("topics[].topic_name",),
    kip=932,
    note="an error of the whole group takes precedence",
)
STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_GROUP = Requirement(
    api=ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    kip=1331,
)
