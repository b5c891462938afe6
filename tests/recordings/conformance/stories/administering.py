"""Stories of administrators: topics, settings, ACLs, tokens, passwords, quotas."""

from kafka_shim.protocol.enums import (
    ApiKey,
    ConfigResourceType,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.protocol.messages import (
    incremental_alter_configs as incremental_alter_configs_messages,
)
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kafka_shim.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kafka_shim.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
)
from kafka_shim.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from kafka_shim.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
)
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.recordings.conformance.draw import USERS
from tests.recordings.conformance.scenario import ONE_SEGMENT, topic_id_of
from tests.recordings.conformance.telling import Move, Story, Teller
from tests.support.acl_filters import described_acls

ANY = 1
HOUR_MS = 3_600_000


def topic_life(teller: Teller) -> Story:
    """Create a topic, add partitions, describe it by name and id, delete and recreate it."""
    draw = teller.draw
    name = draw.pick(draw.fresh("new"), draw.ghosts[0])
    create = CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=2, replication_factor=1)], timeout_ms=3000
    )
    newest = draw.versions[ApiKey.CREATE_TOPICS][1]
    yield Move(ApiKey.CREATE_TOPICS, create, version=newest)  # its response has the id
    yield _metadata(teller, name)
    grow = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=3)], timeout_ms=3000
    )
    if draw.has(ApiKey.CREATE_PARTITIONS):
        yield Move(ApiKey.CREATE_PARTITIONS, grow)
    partition = ListOffsetsPartition(partition_index=2, timestamp=-1, max_num_offsets=1)
    topics = [ListOffsetsTopic(name=name, partitions=[partition])]
    yield Move(ApiKey.LIST_OFFSETS, ListOffsetsRequest(replica_id=-1, topics=topics))
    yield _metadata(teller, name)
    delete = DeleteTopicsRequest(
        topics=[
            draw.pick(DeleteTopicState(name=name), DeleteTopicState(topic_id=topic_id_of(name)))
        ],
        topic_names=[name],
        timeout_ms=3000,
    )
    yield Move(ApiKey.DELETE_TOPICS, delete)
    yield _metadata(teller, name)
    if draw.chance(0.5):
        yield Move(ApiKey.CREATE_TOPICS, create, version=newest)
        yield _metadata(teller, name)


def made(teller: Teller, name: str) -> Move:
    """Return a move that creates a topic for records with any timestamp."""
    topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
    topic.configs = [
        CreatableTopicConfig(name=key, value=value) for key, value in ONE_SEGMENT.items()
    ]
    request = CreateTopicsRequest(topics=[topic], timeout_ms=3000)
    newest = teller.draw.versions[ApiKey.CREATE_TOPICS][1]  # its response has the id
    return Move(ApiKey.CREATE_TOPICS, request, version=newest)


def deleted(name: str) -> Move:
    state = DeleteTopicState(name=name)
    request = DeleteTopicsRequest(topics=[state], topic_names=[name], timeout_ms=3000)
    return Move(ApiKey.DELETE_TOPICS, request)


def _metadata(teller: Teller, name: str) -> Move:
    draw = teller.draw
    version = teller.version(ApiKey.METADATA)
    topic = MetadataRequestTopic(name=name)
    if version >= 12 and draw.chance(0.5):
        topic = MetadataRequestTopic(topic_id=topic_id_of(name), name=None)
    request = MetadataRequest(
        topics=[topic],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )
    user = draw.pick("", "", *USERS) if version >= 4 else ""  # older requests may create it
    return Move(ApiKey.METADATA, request, version=version, user=user)


def settings(teller: Teller) -> Story:
    """Change settings of a topic, one by one and together; then restore them."""
    message = incremental_alter_configs_messages
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    kind = ConfigResourceType.TOPIC
    if draw.has(ApiKey.INCREMENTAL_ALTER_CONFIGS):
        for operation, value in ((0, "compact"), (2, "delete"), (3, "compact"), (1, None)):
            change = message.AlterableConfig(
                name="cleanup.policy", config_operation=operation, value=value
            )
            resource = message.AlterConfigsResource(
                resource_type=kind, resource_name=topic, configs=[change]
            )
            request = message.IncrementalAlterConfigsRequest(resources=[resource])
            yield Move(ApiKey.INCREMENTAL_ALTER_CONFIGS, request)
            yield _configs(topic)
    replace = AlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=kind,
                resource_name=topic,
                configs=[
                    AlterableConfig(name="retention.ms", value=draw.pick("-1", "99999999")),
                    AlterableConfig(name="segment.ms", value=ONE_SEGMENT["segment.ms"]),
                ],
            )
        ]
    )
    yield Move(ApiKey.ALTER_CONFIGS, replace)
    yield _configs(topic)


def _configs(topic: str) -> Move:
    resource = DescribeConfigsResource(
        resource_type=ConfigResourceType.TOPIC,
        resource_name=topic,
        configuration_keys=["cleanup.policy", "retention.ms"],
    )
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    return Move(ApiKey.DESCRIBE_CONFIGS, request)


def acl_change(teller: Teller) -> Story:
    """Create and delete an ACL; authorized operations show the change."""
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    user = draw.pick(*USERS)
    acl = AclCreation(
        resource_type=ResourceType.TOPIC,
        resource_name=topic,
        resource_pattern_type=PatternType.LITERAL,
        principal=draw.pick(f"User:{user}", "User:*"),
        host=draw.pick("*", "*", "127.0.0.1"),
        operation=draw.pick(*list(Operation)[Operation.ALL : Operation.ALTER_CONFIGS + 1]),
        permission_type=draw.pick(Permission.DENY, Permission.ALLOW),
    )
    chosen = DeleteAclsFilter(
        resource_type_filter=acl.resource_type,
        resource_name_filter=topic,
        pattern_type_filter=acl.resource_pattern_type,
        principal_filter=acl.principal,
        host_filter=acl.host,
        operation=acl.operation,
        permission_type=acl.permission_type,
    )
    looking = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in draw.topics],
        include_topic_authorized_operations=True,
    )
    newest = draw.versions[ApiKey.METADATA][1]
    for change in (CreateAclsRequest(creations=[acl]), DeleteAclsRequest(filters=[chosen])):
        is_create = isinstance(change, CreateAclsRequest)
        yield Move(ApiKey.CREATE_ACLS if is_create else ApiKey.DELETE_ACLS, change)
        yield Move(ApiKey.METADATA, looking, version=newest, user=user)
        yield Move(ApiKey.DESCRIBE_ACLS, described_acls())


def token_life(teller: Teller) -> Story:
    """Create a token, renew it, describe it as several users, and let it expire."""
    draw = teller.draw
    renewer = CreatableRenewers(principal_type="User", principal_name=draw.pick(*USERS))
    create = CreateDelegationTokenRequest(renewers=[renewer], max_lifetime_ms=-1)
    made = teller.label()
    yield Move(ApiKey.CREATE_DELEGATION_TOKEN, create, label=made)
    takes = {"hmac": f"{made}:hmac"}
    for _ in range(2):
        for user in draw.some(USERS, 2, 3):
            request = DescribeDelegationTokenRequest(owners=None)
            yield Move(ApiKey.DESCRIBE_DELEGATION_TOKEN, request, user=user)
        renew = RenewDelegationTokenRequest(hmac=b"none", renew_period_ms=HOUR_MS)
        yield Move(ApiKey.RENEW_DELEGATION_TOKEN, renew, takes, user=draw.pick("", *USERS))
        expire = ExpireDelegationTokenRequest(
            hmac=b"none", expiry_time_period_ms=draw.pick(-1, HOUR_MS)
        )
        yield Move(ApiKey.EXPIRE_DELEGATION_TOKEN, expire, takes, user=draw.pick("", *USERS))


def passwords(teller: Teller) -> Story:
    draw = teller.draw
    name = draw.fresh("user")
    for mechanism in (1, 2):
        upsertion = ScramCredentialUpsertion(
            name=name,
            mechanism=mechanism,
            iterations=4096,
            salt=b"salt",
            salted_password=b"\x01" * 32,
        )
        request = AlterUserScramCredentialsRequest(upsertions=[upsertion])
        yield Move(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, request)
        yield _described(name)
    for _ in range(2):
        deletion = ScramCredentialDeletion(name=name, mechanism=1)
        removal = AlterUserScramCredentialsRequest(deletions=[deletion])
        yield Move(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, removal)
        yield _described(name)


def _described(name: str) -> Move:
    request = DescribeUserScramCredentialsRequest(users=[UserName(name=name)])
    return Move(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, request)


def quotas(teller: Teller) -> Story:
    draw = teller.draw
    name = draw.fresh("quota")
    kinds = draw.pick(["user"], ["client-id"], ["user", "client-id"])
    entity = [RequestEntityData(entity_type=kind, entity_name=name) for kind in kinds]
    changes = (
        (("producer_byte_rate", "consumer_byte_rate"), False),
        (("producer_byte_rate",), True),
    )
    for keys, remove in changes:
        ops = [OpData(key=key, value=1e9, remove=remove) for key in keys]
        request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=entity, ops=ops)])
        yield Move(ApiKey.ALTER_CLIENT_QUOTAS, request)
        components = [ComponentData(entity_type=kind, match_type=0, match=name) for kind in kinds]
        describe = DescribeClientQuotasRequest(components=components, strict=draw.chance(0.5))
        yield Move(ApiKey.DESCRIBE_CLIENT_QUOTAS, describe)
