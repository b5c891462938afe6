"""Requirements of the APIs for consumer groups and their offsets."""

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

OFFSET_COMMIT_GROUP = Requirement(
    api=ApiKey.OFFSET_COMMIT,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_EACH,
)
OFFSET_COMMIT_TOPIC = Requirement(
    api=ApiKey.OFFSET_COMMIT,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    hidden=terms.HIDDEN,
    names=("topics[].name", "topics[].topic_id"),
    note="before this check, an unknown topic id is UNKNOWN_TOPIC_ID (100)",
)

OFFSET_FETCH_GROUP = Requirement(
    api=ApiKey.OFFSET_FETCH,
    any_of=(
        NeedAlternative(Operation.READ, ResourceType.GROUP, until="1.0"),
        NeedAlternative(Operation.DESCRIBE, ResourceType.GROUP, since="1.0"),
    ),
    denied=(
        Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.EACH, (0, 0)),
        Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.EACH, (1, 1), until="3.5"),
        Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.EMPTY, (1, 1), "3.5", "3.9"),
        Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.EACH, (1, 1), since="3.9"),
        Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.TOP, (2, 7)),
        Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.EACH, (8, NEWEST)),
    ),
    names=("group_id", "groups[].group_id"),
    kip=163,
    note="since version 8, each group is checked separately",
)
OFFSET_FETCH_TOPIC = Requirement(
    api=ApiKey.OFFSET_FETCH,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_UNDESCRIBED,
    names=("topics[].name", "groups[].topics[].name", "groups[].topics[].topic_id"),
    when="topics are named",
    note="before this check, an unknown topic id is UNKNOWN_TOPIC_ID (100)",
)
OFFSET_FETCH_ALL_TOPICS = Requirement(
    api=ApiKey.OFFSET_FETCH,
    name="all_topics",
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.LEFT_OUT,
    names=("response.topics[].name", "response.groups[].topics[].name"),
    versions=(2, NEWEST),
    when="topics is null",
)

FIND_COORDINATOR_GROUP = Requirement(
    api=ApiKey.FIND_COORDINATOR,
    any_of=terms.GROUP_DESCRIBE,
    denied=(
        Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.TOP, (0, 3)),
        Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.EACH, (4, NEWEST)),
    ),
    names=("key", "coordinator_keys[]"),
    when="key_type is 0",
)
FIND_COORDINATOR_TRANSACTION = Requirement(
    api=ApiKey.FIND_COORDINATOR,
    name="transaction",
    any_of=terms.TRANSACTIONAL_ID_DESCRIBE,
    denied=(
        Denial(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, DenialEffect.TOP, (0, 3)),
        Denial(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            DenialEffect.EACH,
            (4, NEWEST),
        ),
    ),
    names=("key", "coordinator_keys[]"),
    versions=(1, NEWEST),
    when="key_type is 1",
    kip=98,
)
FIND_COORDINATOR_SHARE = Requirement(
    api=ApiKey.FIND_COORDINATOR,
    name="share",
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_EACH,
    versions=(6, NEWEST),
    when="key_type is 2",
    kip=932,
    note="checked for each key; since 4.0 the first denial ends the checks, and all keys get the"
    " error",
)

JOIN_GROUP = Requirement(
    api=ApiKey.JOIN_GROUP,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
)
HEARTBEAT = Requirement(
    api=ApiKey.HEARTBEAT,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
)
LEAVE_GROUP = Requirement(
    api=ApiKey.LEAVE_GROUP,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    note="checked once for all members of the request",
)
SYNC_GROUP = Requirement(
    api=ApiKey.SYNC_GROUP,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    note="before this check, since version 5, a missing protocol is"
    " INCONSISTENT_GROUP_PROTOCOL (23)",
)

DESCRIBE_GROUPS = Requirement(
    api=ApiKey.DESCRIBE_GROUPS,
    any_of=terms.GROUP_DESCRIBE,
    denied=terms.GROUP_EACH,
    names=("groups[]",),
)
LIST_GROUPS = Requirement(
    api=ApiKey.LIST_GROUPS,
    any_of=(
        *terms.needs_logged_before(Operation.DESCRIBE, ResourceType.CLUSTER, release="3.4"),
        NeedAlternative(Operation.DESCRIBE, ResourceType.GROUP, since="2.1", until="3.4"),
        NeedAlternative(Operation.DESCRIBE, ResourceType.GROUP, since="3.4", log_if_denied=False),
    ),
    denied=(
        Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.TOP, until="2.1"),
        Denial(ErrorCode.NONE, DenialEffect.HIDE, since="2.1"),
    ),
    names=("response.groups[].group_id",),
    kip=231,
    note="the cluster is checked once, even if there is no group",
)
DELETE_GROUPS = Requirement(
    api=ApiKey.DELETE_GROUPS,
    any_of=terms.GROUP_DELETE,
    denied=terms.GROUP_EACH,
    names=("groups_names[]",),
    kip=229,
)

OFFSET_DELETE_GROUP = Requirement(
    api=ApiKey.OFFSET_DELETE,
    any_of=terms.GROUP_DELETE,
    denied=terms.GROUP_TOP,
    kip=496,
)
OFFSET_DELETE_TOPIC = Requirement(
    api=ApiKey.OFFSET_DELETE,
    any_of=terms.TOPIC_READ,
    denied=terms.TOPIC_EACH,
    names=("topics[].name",),
    kip=496,
    note="an error of the whole group takes precedence",
)

CONSUMER_GROUP_HEARTBEAT_GROUP = Requirement(
    api=ApiKey.CONSUMER_GROUP_HEARTBEAT,
    any_of=terms.GROUP_READ,
    denied=terms.GROUP_TOP,
    kip=848,
)
CONSUMER_GROUP_HEARTBEAT_TOPIC = Requirement(
    api=ApiKey.CONSUMER_GROUP_HEARTBEAT,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_TOP,
    names=("subscribed_topic_names[]",),
    since="4.0",
    when="subscribed_topic_names is not empty",
    kip=848,
    note="one denied topic fails the request, whether or not it exists",
)
CONSUMER_GROUP_HEARTBEAT_REGEX = Requirement(
    api=ApiKey.CONSUMER_GROUP_HEARTBEAT,
    name="regex",
    any_of=(NeedAlternative(Operation.DESCRIBE, ResourceType.TOPIC, log_if_denied=False),),
    denied=terms.LEFT_OUT,
    names=("subscribed_topic_regex",),
    since="4.0",
    versions=(1, NEWEST),
    when="subscribed_topic_regex is set",
    kip=848,
    source="GroupMetadataManager",
    note="checked for the topics that match the expression",
)
CONSUMER_GROUP_DESCRIBE_GROUP = Requirement(
    api=ApiKey.CONSUMER_GROUP_DESCRIBE,
    any_of=terms.GROUP_DESCRIBE,
    denied=terms.GROUP_EACH,
    names=("group_ids[]",),
    kip=848,
)
CONSUMER_GROUP_DESCRIBE_TOPIC = Requirement(
    api=ApiKey.CONSUMER_GROUP_DESCRIBE,
    any_of=terms.TOPIC_DESCRIBE,
    denied=terms.TOPIC_EACH,
    names=(
        "response.groups[].members[].assignment.topic_partitions[].topic_name",
        "response.groups[].members[].target_assignment.topic_partitions[].topic_name",
    ),
    since="4.0",
    kip=848,
    note="a denied topic replaces the whole group by an entry with TOPIC_AUTHORIZATION_FAILED (29)",
)
