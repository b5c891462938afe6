"""Waits until a real broker has applied a change, which takes a moment."""

import itertools
import time
from collections.abc import Iterator
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.delete_acls import DeleteAclsRequest
from kafka_shim.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.streams_group_heartbeat import Topology
from tests.oracle.real_kafka import numbers
from tests.recordings.codes import has_code
from tests.recordings.peers.peer import Peer, ask_root
from tests.support.acl_filters import deleted_acls, described_acls

SETTLE_SECONDS: Final = {
    ApiKey.CREATE_ACLS: 0.1,
    ApiKey.DELETE_ACLS: 0.1,
    ApiKey.CREATE_TOPICS: 0.3,
    ApiKey.DELETE_TOPICS: 0.5,
    ApiKey.CREATE_PARTITIONS: 0.3,
    ApiKey.ALTER_CONFIGS: 0.15,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: 0.15,
    ApiKey.ALTER_CLIENT_QUOTAS: 0.15,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: 0.15,
    ApiKey.CREATE_DELEGATION_TOKEN: 0.15,
    ApiKey.RENEW_DELEGATION_TOKEN: 0.15,
    ApiKey.EXPIRE_DELEGATION_TOKEN: 0.15,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: 0.15,
}
"""Seconds until a change takes effect by ZooKeeper's notifications, on a slow machine."""

MARKERS_SECONDS: Final = 0.25
"""Seconds until transaction markers are written, which happens after the response."""
ENDING: Final = frozenset({ApiKey.END_TXN, ApiKey.INIT_PRODUCER_ID})

ASSIGNING: Final = frozenset(
    {
        ApiKey.JOIN_GROUP,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
    }
)
ASSIGNING_SECONDS: Final = 0.08
"""Seconds in which a broker assigns, evaluates expressions, and stores groups in the background."""

MAKING_SECONDS: Final = 0.5
"""Seconds in which share groups initialise partitions, and streams groups create topics."""
FIRST_MAKING_SECONDS: Final = 3.0
"""The same for the first group of a broker, on a busy machine."""

INTERNAL_TOPICS_SECONDS: Final = 10.0
"""Maximal wait for internal topics of streams groups; a denied one is never created."""

MISSING_INTERNAL_TOPICS: Final = 3

CHANGED: Final = frozenset({0, 7})
"""Error codes of requests that have changed something, or may do so after their time-out."""

CREATING: Final = frozenset({3, 5})
"""Error codes of Metadata for a topic that is being created."""

ACLS_IN_THE_LOG: Final = (3, 2)
"""The first KRaft release with StandardAuthorizer; earlier ones have their ACLs in ZooKeeper."""

ACL_CHANGES: Final = frozenset({ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS})

MARKER: Final = "barrier"
NO_AUTHORIZER: Final = 54
_PATIENCE_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.005


class Settling:
    """Waits until one broker has applied a change.

    A KRaft broker applies changes in order: when it shows a later change, made for this purpose, it
    has applied all earlier ones. For brokers with ZooKeeper, this waits for a fixed time.
    """

    def __init__(self, peer: Peer, *, kraft: bool) -> None:
        self._peer = peer
        self._kraft = kraft
        self._has_acls = True
        self._acls_are_apart = numbers(peer.release) < ACLS_IN_THE_LOG
        self._busy = False
        self._making_seconds = FIRST_MAKING_SECONDS
        self._numbers: Iterator[int] = itertools.count(1)
        self._internal: dict[str, list[str]] = {}  # internal topics by streams group

    def after(self, api: ApiKey, request: Any, response: Any) -> None:
        if self._busy or getattr(request, "validate_only", False):
            return
        if api in ENDING and response.error_code == 0:
            time.sleep(MARKERS_SECONDS)
        if api in ASSIGNING and response.error_code == 0:
            self._let_assign(api, request, response)
        creates = api is ApiKey.METADATA and request.allow_auto_topic_creation
        changes = api in SETTLE_SECONDS and has_code(response, CHANGED)
        if not changes and not (creates and has_code(response, CREATING)):
            return
        if not self._kraft:
            time.sleep(SETTLE_SECONDS.get(api, 0.3))
            return
        self._busy = True
        try:
            self._wait_for_marker(api)
        finally:
            self._busy = False

    def _let_assign(self, api: ApiKey, request: Any, response: Any) -> None:
        prepares = api is ApiKey.SHARE_GROUP_HEARTBEAT and request.subscribed_topic_names
        if api is ApiKey.STREAMS_GROUP_HEARTBEAT:
            if request.topology is not None:
                self._internal[request.group_id] = list(_internal_topics(request.topology))
            missing = [
                status
                for status in response.status
                if status.status_code == MISSING_INTERNAL_TOPICS
            ]
            if missing and "CREATE" not in missing[0].status_detail:
                self._wait_for_topics(self._internal.get(request.group_id, []))
            prepares = missing
        time.sleep(self._making_seconds if prepares else ASSIGNING_SECONDS)
        if prepares:
            self._making_seconds = MAKING_SECONDS

    def _wait_for_topics(self, names: list[str]) -> None:
        topics = [MetadataRequestTopic(name=name) for name in names]
        look = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        until = time.monotonic() + INTERNAL_TOPICS_SECONDS
        while time.monotonic() < until:
            found = ask_root(self._peer, ApiKey.METADATA, look)
            if not any(topic.error_code for topic in found.topics):
                return
            time.sleep(_POLL_SECONDS)

    def _wait_for_marker(self, api: ApiKey) -> None:
        by_quota = self._acls_are_apart and api not in ACL_CHANGES
        if self._has_acls and not by_quota:
            self._has_acls = self._mark_by_acl()
        if by_quota or not self._has_acls:
            self._mark_by_quota()

    def _mark_by_acl(self) -> bool:
        name = f"{MARKER}-{next(self._numbers)}"
        acl = AclCreation(
            resource_type=ResourceType.TRANSACTIONAL_ID,
            resource_name=name,
            principal="User:nobody",
            host="*",
            operation=Operation.DESCRIBE,
            permission_type=Permission.ALLOW,
        )
        made = ask_root(self._peer, ApiKey.CREATE_ACLS, CreateAclsRequest(creations=[acl]))
        if made.results[0].error_code == NO_AUTHORIZER:
            return False
        self._poll_acls(name, 1)
        chosen = deleted_acls(ResourceType.TRANSACTIONAL_ID, name, PatternType.LITERAL)
        ask_root(self._peer, ApiKey.DELETE_ACLS, DeleteAclsRequest(filters=[chosen]))
        self._poll_acls(name, 0)
        return True

    def _poll_acls(self, name: str, count: int) -> None:
        look = described_acls(ResourceType.TRANSACTIONAL_ID, name, PatternType.LITERAL)
        until = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < until:
            if len(ask_root(self._peer, ApiKey.DESCRIBE_ACLS, look).resources) == count:
                return
            time.sleep(_POLL_SECONDS)
        raise AssertionError(f"the broker does not show {count} acls on {name}")

    def _mark_by_quota(self) -> None:
        name = f"{MARKER}-{next(self._numbers)}"
        entity = [RequestEntityData(entity_type="client-id", entity_name=name)]
        look = DescribeClientQuotasRequest(
            components=[ComponentData(entity_type="client-id", match_type=0, match=name)]
        )
        for remove in (False, True):
            op = OpData(key="producer_byte_rate", value=1e9, remove=remove)
            request = AlterClientQuotasRequest(entries=[RequestEntryData(entity=entity, ops=[op])])
            ask_root(self._peer, ApiKey.ALTER_CLIENT_QUOTAS, request)
            until = time.monotonic() + _PATIENCE_SECONDS
            while time.monotonic() < until:
                found = ask_root(self._peer, ApiKey.DESCRIBE_CLIENT_QUOTAS, look)
                if bool(found.entries) is not remove:
                    break
                time.sleep(_POLL_SECONDS)
        time.sleep(0.05)  # quotas are visible before the rest of their batch is applied


def _internal_topics(topology: Topology) -> Iterator[str]:
    for part in topology.subtopologies:
        for topic in (*part.repartition_source_topics, *part.state_changelog_topics):
            yield topic.name
