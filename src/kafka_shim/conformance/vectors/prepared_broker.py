"""Prepare a broker for a group of vectors with Kafka's own requests, and clean it afterwards."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import EVERY_ACL, create_acls, delete_acls, describe_acls
from kafka_shim.client.client import Client, ClientError
from kafka_shim.conformance.vectors.vector_files import AclEntry, Situation, VectorGroup
from kafka_shim.conformance.vectors.version_fields import fit_to_version
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
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
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
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.wire_json import uuid_bytes

RARE_TYPES = frozenset({ResourceType.DELEGATION_TOKEN, ResourceType.USER})
"""Types of resources that came after the others; brokers without tokens do not know them."""
PARTITIONS = 2
COMMITTED_TOPICS = 3
_NO_ID = bytes(16)
_WAIT_S, _PAUSE_S = 20.0, 0.02
_NEWEST_WITH_NAMES = {ApiKey.OFFSET_COMMIT: 8, ApiKey.LIST_OFFSETS: 7}
_DELETED, _BROKER = 1, 4


class SetupError(Exception):
    """The broker cannot be prepared; the text says why."""


class PreparedBroker(NamedTuple):
    """The topic ids of a prepared broker, by those in the file.

    `missing_types` are the types of resources for which it cannot have ACLs.
    """

    topic_ids: dict[bytes, bytes]
    missing_types: frozenset[ResourceType]


def prepare_broker(client: Client, given: Situation) -> PreparedBroker:
    """Create topics, committed offsets and ACLs as a super user.

    Raise SetupError if the broker rejects something else than ACLs of RARE_TYPES.
    """
    missing_types: frozenset[ResourceType] = frozenset()
    try:
        ids = _create_topics(client, given)
        for group in given.groups:
            _commit_offset_five_of_partition_zero(
                client, group, list(given.topics)[:COMMITTED_TOPICS]
            )
        acls = list({_acl_from_entry(entry) for entry in given.acls})
        if acls:
            missing_types = _create_acls_of_known_types(client, acls)
    except ClientError as error:
        raise SetupError(str(error)) from error
    return PreparedBroker(ids, missing_types)


def _create_acls_of_known_types(client: Client, acls: Sequence[Acl]) -> frozenset[ResourceType]:
    """Create ACLs, without those of RARE_TYPES if the broker rejects them; return their types."""
    try:
        _create_acls(client, acls)
    except ClientError as error:
        common = [acl for acl in acls if acl.resource_type not in RARE_TYPES]
        if error.code != ErrorCode.INVALID_REQUEST or len(common) == len(acls):
            raise
        if common:
            _create_acls(client, common)
        return RARE_TYPES
    return frozenset()


def _create_acls(client: Client, acls: Sequence[Acl]) -> None:
    """Create ACLs; a broker without an authorizer has none, which is part of its file."""
    try:
        create_acls(client, acls)
    except ClientError as error:
        if error.code != ErrorCode.SECURITY_DISABLED:
            raise
        return
    _await("the ACLs are there", lambda: set(describe_acls(client)) >= set(acls))


def send_in_newest_version_with_names(client: Client, api: ApiKey, request: Any) -> Any:
    """Send a request in the newest version that both sides have, without fields it lacks."""
    version = min(client.negotiated_version(api), _NEWEST_WITH_NAMES.get(api, 99))
    return client.send_request(api, fit_to_version(request, version), version)


def _create_topics(client: Client, given: Situation) -> dict[bytes, bytes]:
    if not given.topics:
        return {}
    configs = [CreatableTopicConfig(name, value) for name, value in given.topic_settings.items()]
    topics = [
        CreatableTopic(
            name=name, num_partitions=PARTITIONS, replication_factor=1, configs=list(configs)
        )
        for name in given.topics
    ]
    created = send_in_newest_version_with_names(
        client, ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics, timeout_ms=10_000)
    )
    for topic in created.topics:
        if topic.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            raise SetupError(f"CreateTopics: {error_name_with_code(topic.error_code)}")
    described: list[Any] = []

    def are_up() -> bool:
        described[:] = _described_topics(client, list(given.topics))
        return all(
            not topic.error_code
            and len(topic.partitions) == PARTITIONS
            and all(partition.leader_id >= 0 for partition in topic.partitions)
            for topic in described
        ) and not any(_end_offset_errors(client, list(given.topics)))

    _await("the topics are there", are_up)
    return {
        uuid_bytes(given.topics[topic.name]): topic.topic_id
        for topic in described
        if topic.topic_id != _NO_ID
    }


def _described_topics(client: Client, names: Sequence[str]) -> list[Any]:
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    described: list[Any] = send_in_newest_version_with_names(
        client, ApiKey.METADATA, request
    ).topics
    return described


def _end_offset_errors(client: Client, names: Sequence[str]) -> list[int]:
    """Return the errors of all partitions: leaders are ready a little after Metadata has them."""
    partitions = [ListOffsetsPartition(index, timestamp=-1) for index in range(PARTITIONS)]
    topics = [ListOffsetsTopic(name, list(partitions)) for name in names]
    response = send_in_newest_version_with_names(
        client, ApiKey.LIST_OFFSETS, ListOffsetsRequest(topics=topics)
    )
    return [row.error_code for topic in response.topics for row in topic.partitions]


def _commit_offset_five_of_partition_zero(
    client: Client, group: str, topics: Sequence[str]
) -> None:
    def is_committed() -> bool:
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=5, committed_metadata="x"
        )
        rows = [OffsetCommitRequestTopic(name=name, partitions=[partition]) for name in topics]
        response = send_in_newest_version_with_names(
            client, ApiKey.OFFSET_COMMIT, OffsetCommitRequest(group, topics=rows)
        )
        return not any(row.error_code for topic in response.topics for row in topic.partitions)

    _await(f"the offsets of {group} are committed", is_committed)


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


def _await(goal: str, is_reached: Callable[[], bool]) -> None:
    """Wait for what brokers apply a little later. Raise SetupError if it does not happen."""
    deadline = time.monotonic() + _WAIT_S
    while not is_reached():
        if time.monotonic() > deadline:
            raise SetupError(f"not within {_WAIT_S:g} s: {goal}")
        time.sleep(_PAUSE_S)


def clean_broker(client: Client, group: VectorGroup, users: Mapping[str, Client]) -> None:
    """Remove what a group of vectors has left. Raise ClientError if a request is not answered."""
    if ApiKey.DELETE_ACLS in client.versions:
        _delete_all_acls(client)
    prefix = group.given.prefix
    _delete_topics(client, prefix)
    apis = {vector.when.api for vector in group.vectors}
    if ApiKey.CREATE_DELEGATION_TOKEN.wire_name in apis:
        for user in users.values():
            _expire_tokens(user)
    if ApiKey.DELETE_GROUPS in client.versions and group.given.groups:
        send_in_newest_version_with_names(
            client, ApiKey.DELETE_GROUPS, DeleteGroupsRequest(list(group.given.groups))
        )
    for vector in group.vectors:
        undo = _UNDO.get(vector.when.api)
        if undo is not None and not vector.when.request.get("validateOnly"):
            undo(client, vector.when.request)


def _delete_all_acls(client: Client) -> None:
    try:
        delete_acls(client, [EVERY_ACL])
    except ClientError as error:
        if error.code != ErrorCode.SECURITY_DISABLED:
            raise
        return
    _await("the ACLs are deleted", lambda: not describe_acls(client))


def _delete_topics(client: Client, prefix: str) -> None:
    listed = send_in_newest_version_with_names(
        client, ApiKey.METADATA, MetadataRequest(topics=None)
    ).topics
    names = [
        topic.name
        for topic in listed
        if topic.name and topic.name.startswith((f"{prefix}-", f"{prefix}."))
    ]
    if not names:
        return
    topics = [DeleteTopicState(name=name) for name in names]
    request = DeleteTopicsRequest(topics=topics, topic_names=names, timeout_ms=10_000)
    send_in_newest_version_with_names(client, ApiKey.DELETE_TOPICS, request)
    _await(
        "the topics are deleted",
        lambda: all(topic.error_code for topic in _described_topics(client, names)),
    )


def _expire_tokens(user: Client) -> None:
    if ApiKey.DESCRIBE_DELEGATION_TOKEN not in user.versions:
        return
    own = DescribeDelegationTokenRequest(owners=None)
    for token in send_in_newest_version_with_names(
        user, ApiKey.DESCRIBE_DELEGATION_TOKEN, own
    ).tokens:
        request = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
        send_in_newest_version_with_names(user, ApiKey.EXPIRE_DELEGATION_TOKEN, request)


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
    send_in_newest_version_with_names(
        client, api, msgspec.convert(fields, message_classes_by_name(name)[name])
    )


_UNDO: Mapping[str, Callable[[Client, Mapping[str, Any]], None]] = {
    ApiKey.ALTER_CLIENT_QUOTAS.wire_name: _remove_altered_client_quotas,
    ApiKey.INCREMENTAL_ALTER_CONFIGS.wire_name: _delete_altered_broker_configs,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS.wire_name: _delete_created_scram_credentials,
}
