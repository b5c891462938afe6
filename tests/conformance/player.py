"""Plays scenarios against a broker, wherever it is: in this process, or behind a socket."""

from typing import Any, Protocol

import msgspec

from protocol.catalogue import classes
from protocol.enums import ApiKey
from protocol.messages.create_acls_request import AclCreation, CreateAclsRequest
from protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.conformance.normalise import normalise
from tests.conformance.scenario import GHOST_ID, Scenario, topic_id_of

CLOSED = {"closed": True}
ADMIN = "admin"
NO_ID = bytes(16)
API_OF = {key.wire_name: key for key in ApiKey}


class Peer(Protocol):
    """A broker that can be asked as somebody."""

    def newest(self, api: ApiKey) -> int:
        """The newest version that the broker advertises."""
        ...

    def ask(self, user: str, api: ApiKey, version: int, request: Any) -> Any:
        """The response, or None when the connection was closed instead."""
        ...


def play(scenario: Scenario, peer: Peer) -> list[Any]:
    """The normalised answers to every step; the cluster is left as it was."""
    ids = _set_up(scenario, peer)
    try:
        return [_step(step, scenario, peer, ids) for step in scenario.steps]
    finally:
        _clean_up(scenario, peer)


def _step(step: Any, scenario: Scenario, peer: Peer, ids: dict[bytes, bytes]) -> Any:
    api = API_OF[step.api]
    name = f"{api.wire_name}Request"
    request = _with_ids(msgspec.convert(step.request, classes(name)[name]), ids)
    answer = peer.ask(step.user, api, step.version, request)
    return CLOSED if answer is None else normalise(api, step.version, answer, scenario)


def _set_up(scenario: Scenario, peer: Peer) -> dict[bytes, bytes]:
    """Make topics, committed offsets and ACLs; tells the real ids by the scenario's."""
    topics = [
        CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        for name in scenario.topics
    ]
    answer = _admin(peer, ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics=topics, timeout_ms=9999))
    assert all(topic.error_code == 0 for topic in answer.topics), answer
    for group in scenario.groups:
        _commit(scenario, group, peer)
    acls = [msgspec.convert(acl, AclCreation) for acl in scenario.acls]
    answer = _admin(peer, ApiKey.CREATE_ACLS, CreateAclsRequest(creations=acls))
    assert all(result.error_code in (0, 54) for result in answer.results), answer
    asked = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in scenario.topics])
    found = _admin(peer, ApiKey.METADATA, asked).topics
    return {topic_id_of(topic.name): topic.topic_id for topic in found if topic.topic_id != NO_ID}


def _commit(scenario: Scenario, group: str, peer: Peer) -> None:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=5, committed_metadata="x"
    )
    topics = [
        OffsetCommitRequestTopic(name=name, partitions=[partition]) for name in scenario.topics[:3]
    ]
    request = OffsetCommitRequest(group_id=group, topics=topics)
    answer = _admin(peer, ApiKey.OFFSET_COMMIT, request, newest=8)
    assert all(one.error_code == 0 for topic in answer.topics for one in topic.partitions), answer


def _clean_up(scenario: Scenario, peer: Peer) -> None:
    every = DeleteAclsFilter(
        resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
    )
    _admin(peer, ApiKey.DELETE_ACLS, DeleteAclsRequest(filters=[every]))
    names = [*scenario.topics, f"{scenario.prefix}-ghost", f"{scenario.prefix}-orders-new"]
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in names], topic_names=names, timeout_ms=9999
    )
    _admin(peer, ApiKey.DELETE_TOPICS, request)


def _admin(peer: Peer, api: ApiKey, request: Any, newest: int = 99) -> Any:
    answer = peer.ask(ADMIN, api, min(newest, peer.newest(api)), request)
    assert answer is not None, f"{api.wire_name} of the administrator was closed"
    return answer


def _with_ids(value: Any, ids: dict[bytes, bytes]) -> Any:
    """The scenario's topic ids replaced by the cluster's, all through a message, in place."""
    for name in value.__struct_fields__ if isinstance(value, msgspec.Struct) else ():
        content = getattr(value, name)
        if name == "topic_id" and content != NO_ID:
            unknown = GHOST_ID if content.hex()[:2] not in ("11", "22") else content
            setattr(value, name, ids.get(content, unknown))
        elif isinstance(content, list):
            for row in content:
                _with_ids(row, ids)
        else:
            _with_ids(content, ids)
    return value
