"""Prepare a broker for a group of vectors with Kafka's own requests, and clean it afterwards."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import create_acls
from kafka_shim.client.client import Client, ClientError, topic_names
from kafka_shim.client.preparation import (
    AclsError,
    await_acls,
    commit_offset,
    delete_all_acls,
    delete_topics,
    retry_until_no_error,
    send_by_name,
)
from kafka_shim.conformance.vectors.vector_files import AclEntry, Situation, VectorGroup
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
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
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequestPartition,
)
from kafka_shim.protocol.wire_json import uuid_bytes

RARE_TYPES = frozenset({ResourceType.DELEGATION_TOKEN, ResourceType.USER})
"""Types of resources that came after the others; brokers without tokens do not know them."""
PARTITIONS = 2
COMMITTED_TOPICS = 3
_NO_ID = bytes(16)
_DELETED, _BROKER = 1, 4


class SetupError(Exception):
    """The broker cannot be prepared; the text says why."""


class AclsRemainError(Exception):
    """The broker still holds ACLs after their deletion; the text names one."""


class PreparedBroker(NamedTuple):
    """The topic ids of a prepared broker, by those in the file.

    `missing_types` are the types of resources for which it cannot have ACLs.
    """

    topic_ids: dict[bytes, bytes]
    missing_types: frozenset[ResourceType]


def prepare_broker(client: Client, given: Situation, wait_s: float) -> PreparedBroker:
    """Create topics, committed offsets and ACLs as a super user.

    Raise SetupError if the broker rejects something else than ACLs of RARE_TYPES, or does not show
    everything within `wait_s`.
    """
    missing_types: frozenset[ResourceType] = frozenset()
    try:
        ids = _create_topics(client, given, wait_s)
        for group in given.groups:
            partition = OffsetCommitRequestPartition(
                partition_index=0, committed_offset=5, committed_metadata="x"
            )
            commit_offset(client, group, list(given.topics)[:COMMITTED_TOPICS], partition, wait_s)
        acls = list({_acl_from_entry(entry) for entry in given.acls})
        missing_types = _create_supported_acls(client, acls, wait_s)
    except ClientError as error:
        raise SetupError(str(error)) from error
    return PreparedBroker(ids, missing_types)


def _create_supported_acls(
    client: Client, acls: Sequence[Acl], wait_s: float
) -> frozenset[ResourceType]:
    """Create ACLs, without those of RARE_TYPES if the broker rejects them; return their types."""
    try:
        _create_exact_acls(client, acls, wait_s)
    except ClientError as error:
        common = [acl for acl in acls if acl.resource_type not in RARE_TYPES]
        if error.code != ErrorCode.INVALID_REQUEST or len(common) == len(acls):
            raise
        _create_exact_acls(client, common, wait_s)
        return RARE_TYPES
    return frozenset()


def _create_exact_acls(client: Client, acls: Sequence[Acl], wait_s: float) -> None:
    """Create ACLs; a broker without an authorizer has none, which is part of its file."""
    expected = set(acls)
    try:
        if acls:
            create_acls(client, acls)
        if ApiKey.DESCRIBE_ACLS in client.versions:
            await_acls(client, lambda held: held == expected, wait_s)
    except AclsError as error:
        raise SetupError(_acl_difference(expected, error.held)) from error
    except ClientError as error:
        if error.code != ErrorCode.SECURITY_DISABLED:
            raise


def _acl_difference(expected: set[Acl], held: set[Acl]) -> str:
    """Return an ACL that the broker does not hold, or holds though it should not."""
    missing = sorted(map(acl_line, expected - held))
    extra = sorted(map(acl_line, held - expected))
    if missing:
        instead = f" but {extra[0]}" if extra else ""
        return f"the broker does not hold the ACL {missing[0]}{instead}"
    return f"the broker still holds the ACL {extra[0]}"


def _create_topics(client: Client, given: Situation, wait_s: float) -> dict[bytes, bytes]:
    if not given.topics:
        return {}
    configs = [CreatableTopicConfig(name, value) for name, value in given.topic_settings.items()]
    topics = [
        CreatableTopic(
            name=name, num_partitions=PARTITIONS, replication_factor=1, configs=list(configs)
        )
        for name in given.topics
    ]
    created = send_by_name(
        client, ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics, timeout_ms=10_000)
    )
    for topic in created.topics:
        if topic.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            raise SetupError(f"CreateTopics: {error_name_with_code(topic.error_code)}")
    described: list[Any] = []

    def missing_topic_error() -> int:
        described[:] = _described_topics(client, list(given.topics))
        for topic in described:
            codes = [topic.error_code, *(each.error_code for each in topic.partitions)]
            are_led = [each.leader_id >= 0 for each in topic.partitions] == [True] * PARTITIONS
            if any(codes) or not are_led:
                return next(filter(None, codes), int(ErrorCode.LEADER_NOT_AVAILABLE))
        return next(filter(None, _end_offset_errors(client, list(given.topics))), 0)

    retry_until_no_error("see the topics", missing_topic_error, wait_s)
    return {
        uuid_bytes(given.topics[topic.name]): topic.topic_id
        for topic in described
        if topic.topic_id != _NO_ID
    }


def _described_topics(client: Client, names: Sequence[str]) -> list[Any]:
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    described: list[Any] = send_by_name(client, ApiKey.METADATA, request).topics
    return described


def _end_offset_errors(client: Client, names: Sequence[str]) -> list[int]:
    """Return the errors of all partitions: leaders are ready a little after Metadata has them."""
    partitions = [ListOffsetsPartition(index, timestamp=-1) for index in range(PARTITIONS)]
    topics = [ListOffsetsTopic(name, list(partitions)) for name in names]
    response = send_by_name(client, ApiKey.LIST_OFFSETS, ListOffsetsRequest(topics=topics))
    return [row.error_code for topic in response.topics for row in topic.partitions]


def _acl_from_entry(entry: AclEntry) -> Acl:
    return Acl(
        ResourceType[entry.resource_type],
        entry.resource_name,
        PatternType[entry.pattern_type],
        entry.principal,
        entry.host,
        Operation[entry.operation],
        Permission[entry.permission_type],
    )


def clean_broker(
    client: Client, group: VectorGroup, users: Mapping[str, Client], wait_s: float
) -> None:
    """Remove what a group of vectors has left, and all ACLs.

    Raise AclsRemainError if ACLs are still there after `wait_s`, and ClientError if topics are, or
    if a request is not answered.
    """
    if ApiKey.DELETE_ACLS in client.versions:
        try:
            delete_all_acls(client, wait_s)
        except AclsError as error:
            raise AclsRemainError(_acl_difference(set(), error.held)) from error
    prefix = group.given.prefix
    names = [name for name in topic_names(client) if name.startswith((f"{prefix}-", f"{prefix}."))]
    if names:
        delete_topics(client, names, wait_s)
    apis = {vector.when.api for vector in group.vectors}
    if ApiKey.CREATE_DELEGATION_TOKEN.wire_name in apis:
        for user in users.values():
            _expire_tokens(user)
    if ApiKey.DELETE_GROUPS in client.versions and group.given.groups:
        send_by_name(client, ApiKey.DELETE_GROUPS, DeleteGroupsRequest(list(group.given.groups)))
    for vector in group.vectors:
        undo = _UNDO.get(vector.when.api)
        if undo is not None and not vector.when.request.get("validateOnly"):
            undo(client, vector.when.request)


def setting_differences(client: Client, expected: Mapping[str, str]) -> list[str]:
    """Return the settings of the broker that differ from those of a file, in words."""
    brokers = send_by_name(client, ApiKey.METADATA, MetadataRequest(topics=[])).brokers
    if ApiKey.DESCRIBE_CONFIGS not in client.versions or not brokers:
        return []
    resource = DescribeConfigsResource(_BROKER, str(brokers[0].node_id), list(expected))
    response = send_by_name(client, ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest([resource]))
    values = {row.name: row.value for result in response.results for row in result.configs}
    return [
        f"{name}={values[name]}, expected {value}"
        for name, value in expected.items()
        if values.get(name) not in (None, value)
    ]


def _expire_tokens(user: Client) -> None:
    if ApiKey.DESCRIBE_DELEGATION_TOKEN not in user.versions:
        return
    own = DescribeDelegationTokenRequest(owners=None)
    for token in send_by_name(user, ApiKey.DESCRIBE_DELEGATION_TOKEN, own).tokens:
        request = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
        send_by_name(user, ApiKey.EXPIRE_DELEGATION_TOKEN, request)


def _remove_altered_client_quotas(client: Client, request: Mapping[str, Any]) -> None:
    entries = [
        {
            "entity": [_quota_entity_fields(each) for each in entry.get("entity", ())],
            "ops": [{"key": each["key"], "remove": True} for each in entry.get("ops", ())],
        }
        for entry in request.get("entries", ())
    ]
    _send_served_request(client, ApiKey.ALTER_CLIENT_QUOTAS, {"entries": entries})


def _quota_entity_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"entity_type": fields.get("entityType", ""), "entity_name": fields.get("entityName")}


def _delete_altered_broker_configs(client: Client, request: Mapping[str, Any]) -> None:
    resources = [
        {
            "resource_type": _BROKER,
            "resource_name": resource.get("resourceName", ""),
            "configs": [
                {"name": each["name"], "config_operation": _DELETED}
                for each in resource.get("configs", ())
            ],
        }
        for resource in request.get("resources", ())
        if resource["resourceType"] == _BROKER
    ]
    if resources:
        _send_served_request(client, ApiKey.INCREMENTAL_ALTER_CONFIGS, {"resources": resources})


def _delete_created_scram_credentials(client: Client, request: Mapping[str, Any]) -> None:
    deletions = [
        {"name": each.get("name", ""), "mechanism": each["mechanism"]}
        for each in request.get("upsertions", ())
    ]
    _send_served_request(client, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, {"deletions": deletions})


def _send_served_request(client: Client, api: ApiKey, fields: Mapping[str, Any]) -> None:
    if api not in client.versions:
        return
    name = f"{api.wire_name}Request"
    send_by_name(client, api, msgspec.convert(fields, message_classes_by_name(name)[name]))


_UNDO: Mapping[str, Callable[[Client, Mapping[str, Any]], None]] = {
    ApiKey.ALTER_CLIENT_QUOTAS.wire_name: _remove_altered_client_quotas,
    ApiKey.INCREMENTAL_ALTER_CONFIGS.wire_name: _delete_altered_broker_configs,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS.wire_name: _delete_created_scram_credentials,
}
