"""Requirements of the APIs for topics and their records."""

from kafka_shim.authorizer.requirement import (
    NEWEST,
    Denial,
    DenialEffect,
    NeedAlternative,
    Requirement,
)
from kafka_shim.authorizer.requirements import terms
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

PRODUCE_TRANSACTIONAL_ID = Requirement(
    api=ApiKey.PRODUCE,
    any_of=terms.TRANSACTIONAL_ID_WRITE,
    denied=terms.TRANSACTIONAL_ID_EACH,
    versions=(3, NEWEST),
    when="a batch is transactional",
    kip=98,
    note="all partitions fail; since 2.1 a null id is denied; acks=0 closes the connection",
)
PRODUCE_IDEMPOTENT = Requirement(
    api=ApiKey.PRODUCE,
    name="idempotent",
    any_of=(NeedAlternative(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, until="2.8"),),
    denied=terms.CLUSTER_EACH,
    versions=(3, NEWEST),
    when="a batch carries a producer id and none is transactional",
    kip=679,
    note="all partitions fail; since 2.8 WRITE on the topic is enough",
)
PRODUCE_TOPIC = Requirement(
    api=ApiKey.PRODUCE,
    any_of=terms.TOPIC_WRITE,
    denied=terms.TOPIC_EACH,
    hidden=terms.HIDDEN,
    names=("topic_data[].name", "topic_data[].topic_id"),
    note="before this check, an unknown topic id is UNKNOWN_TOPIC_ID (100);"
    " acks=0 closes the connection once the allowed partitions are appended",
)

FETCH_FOLLOWER = Requirement(
    api=ApiKey.FETCH,
    name="follower",
    any_of=terms.CLUSTER_ACTION,
    denied=(
        Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.EACH, until="1.1"),
        Denial(ErrorCode.TOPIC_AUTHORIZATION_FAILED, DenialEffect.EACH, since="1.1"),
    ),
    when="replica_id is 0 or more",
    note="since 1.1 READ on the topics is then not checked; unknown topic ids are denied too",
)
FETCH_TOPIC = Requirement(
    api=ApiKey.FETCH,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    hidden=terms.HIDDEN,
    names=("topics[].topic", "topics[].topic_id"),
    when="replica_id is below 0",
    note="before 1.1 for every replica_id; also topics of the fetch session;"
    " before this check, an unknown topic id is UNKNOWN_TOPIC_ID (100)",
)

LIST_OFFSETS_TOPIC = Requirement(
    api=ApiKey.LIST_OFFSETS,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_UNDESCRIBED,
    names=("topics[].name",),
)

METADATA_TOPIC = Requirement(
    api=ApiKey.METADATA,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_UNDESCRIBED,
    names=("topics[].name", "topics[].topic_id"),
    when="topics are named",
    note="by id: UNKNOWN_TOPIC_ID (100) if unknown,"
    " else TOPIC_AUTHORIZATION_FAILED (29) with the id and without the name",
)
METADATA_ALL_TOPICS = Requirement(
    api=ApiKey.METADATA,
    name="all_topics",
    any_of=terms.needs_logged_before(Operation.DESCRIBE, ResourceType.TOPIC),
    denied=terms.LEFT_OUT,
    names=("response.topics[].name",),
    when="topics is null (in version 0: empty)",
)
METADATA_AUTO_CREATE = Requirement(
    api=ApiKey.METADATA,
    name="auto_create",
    any_of=(
        *terms.needs_logged_before(Operation.CREATE, ResourceType.CLUSTER),
        NeedAlternative(Operation.CREATE, ResourceType.TOPIC, since="2.0"),
    ),
    denied=terms.TOPIC_EACH,
    names=("topics[].name",),
    when="DESCRIBE is allowed, the topic is missing, and request and broker allow auto-creation",
    kip=277,
)
METADATA_CLUSTER_OPERATIONS = Requirement(
    api=ApiKey.METADATA,
    name="cluster_operations",
    any_of=terms.CLUSTER_DESCRIBE,
    denied=terms.BY_VALUE,
    versions=(8, 10),
    when="include_cluster_authorized_operations is true",
    kip=430,
    note="denied: cluster_authorized_operations is 0",
)

CREATE_TOPICS = Requirement(
    api=ApiKey.CREATE_TOPICS,
    any_of=(
        NeedAlternative(Operation.CREATE, ResourceType.CLUSTER, until="2.4"),
        NeedAlternative(Operation.CREATE, ResourceType.CLUSTER, "2.4", "3.0", log_if_denied=False),
        NeedAlternative(Operation.CREATE, ResourceType.CLUSTER, "3.0", "3.2"),
        NeedAlternative(Operation.CREATE, ResourceType.CLUSTER, since="3.2", log_if_denied=False),
        NeedAlternative(Operation.CREATE, ResourceType.TOPIC, since="2.0"),
    ),
    denied=(
        Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.EACH, until="2.0"),
        Denial(ErrorCode.TOPIC_AUTHORIZATION_FAILED, DenialEffect.EACH, since="2.0"),
    ),
    names=("topics[].name",),
    kip=277,
    source="ControllerApis",
    note="before this check, a repeated name is INVALID_REQUEST (42)",
)
CREATE_TOPICS_CONFIGS = Requirement(
    api=ApiKey.CREATE_TOPICS,
    name="configs",
    any_of=(
        NeedAlternative(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, since="2.4", until="2.5"),
        *(
            NeedAlternative(
                Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, since, until, log_if_denied=False
            )
            for since, until in (("2.5", "3.0"), ("3.3", None))
        ),
    ),
    denied=(Denial(ErrorCode.TOPIC_AUTHORIZATION_FAILED, DenialEffect.VALUE),),
    names=("topics[].name",),
    kip=525,
    source="ControllerApis",
    note="the topic is created; since version 5 topic_config_error_code is"
    " TOPIC_AUTHORIZATION_FAILED (29) and its settings are left out",
)

# KRaft's shortcut; a controller's denial of it is a probe since 3.2 (as for CREATE above).
_DELETE_ON_CLUSTER = (
    NeedAlternative(Operation.DELETE, ResourceType.CLUSTER, since="3.0", until="3.2"),
    NeedAlternative(Operation.DELETE, ResourceType.CLUSTER, since="3.2", log_if_denied=False),
)
DELETE_TOPICS_DESCRIBE = Requirement(
    api=ApiKey.DELETE_TOPICS,
    name="describe",
    any_of=(
        *_DELETE_ON_CLUSTER,
        NeedAlternative(Operation.DESCRIBE, ResourceType.TOPIC, since="2.8"),
    ),
    denied=terms.TOPIC_EACH,
    names=("topics[].name", "topics[].topic_id", "topic_names[]"),
    kip=516,
    source="ControllerApis",
    note="since 3.0 a denial fails topics by name, and hides the names of topics by id; 2.8 checks"
    " only topics by id, and a denial fails them",
)
DELETE_TOPICS = Requirement(
    api=ApiKey.DELETE_TOPICS,
    any_of=(
        *_DELETE_ON_CLUSTER,
        NeedAlternative(Operation.DELETE, ResourceType.TOPIC),
    ),
    denied=terms.TOPIC_EACH,
    hidden=terms.HIDDEN,
    names=("topics[].name", "topics[].topic_id", "topic_names[]"),
    source="ControllerApis",
    note="before this check, an unknown topic id is UNKNOWN_TOPIC_ID (100)",
)

DELETE_RECORDS_TOPIC = Requirement(
    api=ApiKey.DELETE_RECORDS,
    any_of=(NeedAlternative(Operation.DELETE, ResourceType.TOPIC),),
    denied=terms.TOPIC_EACH,
    hidden=terms.HIDDEN,
    names=("topics[].name",),
    kip=107,
)

OFFSET_FOR_LEADER_EPOCH = Requirement(
    api=ApiKey.OFFSET_FOR_LEADER_EPOCH,
    any_of=(
        *terms.needs_logged_before(Operation.CLUSTER_ACTION, ResourceType.CLUSTER),
        NeedAlternative(Operation.DESCRIBE, ResourceType.TOPIC, since="2.1"),
    ),
    denied=(
        Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.EACH, until="2.1"),
        Denial(ErrorCode.TOPIC_AUTHORIZATION_FAILED, DenialEffect.EACH, since="2.1"),
    ),
    names=("topics[].topic",),
    kip=320,
)

CREATE_PARTITIONS_TOPIC = Requirement(
    api=ApiKey.CREATE_PARTITIONS,
    any_of=(
        NeedAlternative(Operation.CREATE, ResourceType.CLUSTER, since="3.0", until="3.1"),
        NeedAlternative(Operation.CREATE, ResourceType.TOPIC, since="3.0", until="3.1"),
        NeedAlternative(Operation.ALTER, ResourceType.TOPIC, until="3.0"),
        NeedAlternative(Operation.ALTER, ResourceType.TOPIC, since="3.1"),
    ),
    denied=terms.TOPIC_EACH,
    names=("topics[].name",),
    kip=195,
    source="ControllerApis",
    note="3.0 checks the same as for CreateTopics;"
    " before this check, a repeated name is INVALID_REQUEST (42)",
)

DESCRIBE_PRODUCERS_TOPIC = Requirement(
    api=ApiKey.DESCRIBE_PRODUCERS,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    names=("topics[].name",),
    kip=664,
    note="before this check, since 3.0, an invalid name is INVALID_TOPIC_EXCEPTION (17)",
)

DESCRIBE_TOPIC_PARTITIONS_TOPIC = Requirement(
    api=ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_EACH,
    names=("topics[].name",),
    when="topics are named",
    kip=966,
    source="DescribeTopicPartitionsRequestHandler",
)
DESCRIBE_TOPIC_PARTITIONS_ALL_TOPICS = Requirement(
    api=ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    name="all_topics",
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.LEFT_OUT,
    names=("response.topics[].name",),
    when="topics is empty",
    kip=966,
    source="DescribeTopicPartitionsRequestHandler",
)
