"""A real cluster for cases: topics, groups and ACLs are created with Kafka's own requests."""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_formats.rules import parse_rule
from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_groups_request import DeleteGroupsRequest
from kafka_shim.protocol.messages.delete_topics_request import DeleteTopicsRequest
from kafka_shim.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_shim.protocol.messages.list_groups_request import ListGroupsRequest
from kafka_shim.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.shim.client.acls import (
    EVERY_ACL,
    AclRequestError,
    create_acls,
    delete_acls,
    describe_acls,
)
from kafka_shim.shim.client.client import Client, ClientError, connect
from kafka_shim.shim.client.topics import topic_names
from kafka_shim.shim.conformance.cluster_control import ClusterControl
from kafka_shim.shim.conformance.fixtures import Setup
from kafka_shim.shim.conformance.frames import FrameListener, HistoryWithResponses
from kafka_shim.shim.conformance.proxying import RecordingProxies
from kafka_shim.shim.conformance.writing import write_record
from kafka_shim.shim.settings.defaults import PLAINTEXT
from kafka_shim.shim.system_clock import SystemClock

_BY_NAME = {ApiKey.DELETE_TOPICS: 5, ApiKey.FIND_COORDINATOR: 2, ApiKey.OFFSET_COMMIT: 7}
"""The newest versions of these requests with one thing per request, identified by its name."""
_MADE = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
"""Success of CreateTopics; a retry after a timeout finds the topic of the first request."""
_WAIT_S, _PAUSE_S = 60.0, 0.1

_NUMBERS = itertools.count(1)


class RealClusters:
    """A real cluster, all of whose topics, groups and ACLs are deleted before each case.

    `servers` are addresses by listener name; clients of `PLAINTEXT` are allowed everything.
    """

    authority = None

    def __init__(
        self, servers: Mapping[str, str], release: str, on_frame: FrameListener | None = None
    ) -> None:
        self._servers = servers
        self._proxies = RecordingProxies(on_frame)
        self._cluster = RealCluster(servers, release, self._proxies)

    async def cluster(self, setup: Setup, title: str) -> "RealCluster":
        """Empty the cluster and return it; cases for real brokers use the default set-up."""
        assert setup == Setup(), title
        await self._proxies.start(self._servers.values())
        await asyncio.to_thread(self._cluster.empty)
        self._proxies.begin(title)
        return self._cluster

    async def stop(self) -> None:
        """Delete what the last case created."""
        await self._proxies.stop()
        await asyncio.to_thread(self._cluster.empty)


class RealCluster:
    """Prepares cases as a client that does not log in.

    The driver's client is sent through `proxies`, if there is one.
    """

    def __init__(
        self, servers: Mapping[str, str], release: str, proxies: RecordingProxies | None = None
    ) -> None:
        self._servers = servers
        self._proxies = proxies
        self.release = release

    @property
    def frames(self) -> HistoryWithResponses | None:
        return None if self._proxies is None else self._proxies.frames

    @property
    def cluster_control(self) -> ClusterControl | None:
        """None: the suite cannot operate brokers that it did not start."""
        return None

    def now_ms(self) -> int:
        return SystemClock().now_ms()

    def servers(self, security: str) -> str:
        found = self.addresses(security)
        return found if self._proxies is None else self._proxies.local(found)

    def addresses(self, security: str) -> str:
        """Return the cluster's own addresses of a listener."""
        return self._servers[security]

    def empty(self) -> None:
        """Delete all topics, groups and ACLs."""
        with self.client() as client:
            _delete_all_acls(client)
            names = [name for name in topic_names(client) if not name.startswith("__")]
            if names:
                _delete_topics(client, names)
            listed = client.ask(ApiKey.LIST_GROUPS, ListGroupsRequest()).groups
            if listed and ApiKey.DELETE_GROUPS in client.versions:
                request = DeleteGroupsRequest([group.group_id for group in listed])
                client.ask(ApiKey.DELETE_GROUPS, request)

    async def create_topic(self, name: str, partitions: int) -> None:
        await asyncio.to_thread(self._create_topic, name, partitions)

    def _create_topic(self, name: str, partitions: int) -> None:
        topic = self.topic(name, partitions)
        with self.client() as client:
            codes: list[int] = []

            def made() -> int:
                request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
                codes.append(client.ask(ApiKey.CREATE_TOPICS, request).topics[0].error_code)
                late = ErrorCode.REQUEST_TIMED_OUT in codes and codes[-1] in _MADE
                return 0 if late else codes[-1]

            wait_until_zero(f"create {name}", made)
            request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])

            def seen() -> int:
                (found,) = client.ask(ApiKey.METADATA, request).topics
                codes = [found.error_code, *(each.error_code for each in found.partitions)]
                return next((code for code in codes if code), 0)

            wait_until_zero(f"see {name}", seen)

    def topic(self, name: str, partitions: int) -> CreatableTopic:
        """Return the definition of a topic."""
        return CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)

    async def delete_topic(self, name: str) -> None:
        await asyncio.to_thread(self._delete_topic, name)

    def _delete_topic(self, name: str) -> None:
        with self.client() as client:
            _delete_topics(client, [name])

    async def commit(self, group: str, topic: str) -> None:
        await asyncio.to_thread(self._commit, group, topic)

    def _commit(self, group: str, topic: str) -> None:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=0)
        topics = [OffsetCommitRequestTopic(name=topic, partitions=[partition])]
        request = OffsetCommitRequest(group_id=group, topics=topics)
        with self.client() as client:

            def found() -> int:
                wanted = FindCoordinatorRequest(key=group)
                code: int = _ask(client, ApiKey.FIND_COORDINATOR, wanted).error_code
                return code

            def done() -> int:
                response = _ask(client, ApiKey.OFFSET_COMMIT, request)
                code: int = response.topics[0].partitions[0].error_code
                return code

            wait_until_zero(f"find the coordinator of {group}", found)
            wait_until_zero(f"commit for {group}", done)

    async def write(self, topic: str, value: bytes) -> None:
        await asyncio.to_thread(write_record, self.addresses(PLAINTEXT), topic, value)

    async def acls(self) -> list[Acl]:
        return await asyncio.to_thread(self._acls)

    def _acls(self) -> list[Acl]:
        with self.client() as client:
            return describe_acls(client)

    async def create_acls(self, acls: Iterable[Acl]) -> None:
        await asyncio.to_thread(self._create_acls, list(acls))

    def _create_acls(self, acls: list[Acl]) -> None:
        with self.client() as client:
            create_acls(client, acls)

            def unknown() -> int:
                is_there = set(acls) <= set(describe_acls(client))
                return 0 if is_there else int(ErrorCode.RESOURCE_NOT_FOUND)

            wait_until_zero("see the ACLs", unknown)

    async def delete_acls(self, acls: Iterable[Acl]) -> None:
        await asyncio.to_thread(self._delete_acls, list(acls))

    def _delete_acls(self, acls: list[Acl]) -> None:
        with self.client() as client:
            delete_acls(client, [acl.exactly() for acl in acls])

    async def settle(self) -> None:
        """Wait until the broker has applied what clients changed, such as tokens, which no request
        shows: it applies an ACL that is added later after it.
        """
        (marker,) = parse_rule(
            {"principal": "User:nobody", "allow": ["Read"], "topic": f"settled-{next(_NUMBERS)}"}
        )
        await self.create_acls([marker])
        await self.delete_acls([marker])

    def client(self) -> Client:
        """Return a connection that is allowed everything."""
        return connect(self.addresses(PLAINTEXT))


def _ask(client: Client, api: ApiKey, request: msgspec.Struct) -> Any:
    return client.ask(api, request, min(client.version_of(api), _BY_NAME[api]))


def _delete_all_acls(client: Client) -> None:
    try:
        delete_acls(client, [EVERY_ACL])
    except AclRequestError as error:
        if error.code != ErrorCode.SECURITY_DISABLED:
            raise


def _delete_topics(client: Client, names: list[str]) -> None:
    version = min(client.version_of(ApiKey.DELETE_TOPICS), _BY_NAME[ApiKey.DELETE_TOPICS])
    request = DeleteTopicsRequest(topic_names=names, timeout_ms=10_000)
    client.ask(ApiKey.DELETE_TOPICS, request, version)
    gone = set(names)

    def pending_cases() -> int:
        is_there = gone.intersection(topic_names(client))
        return int(ErrorCode.TOPIC_ALREADY_EXISTS) if is_there else 0

    wait_until_zero(f"delete {', '.join(names)}", pending_cases)
    wait_until_zero(
        f"have {', '.join(names)} to be made", lambda: _unavailable_names(client, names)
    )


def _unavailable_names(client: Client, names: list[str]) -> int:
    """Create topics and return the error; with ZooKeeper, topics being deleted are not listed."""
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    request = CreateTopicsRequest(topics=topics, timeout_ms=10_000, validate_only=True)
    response = client.ask(ApiKey.CREATE_TOPICS, request)
    code = ErrorCode.TOPIC_ALREADY_EXISTS
    return int(code) if any(row.error_code == code for row in response.topics) else 0


def wait_until_zero(task: str, ask: Callable[[], int]) -> None:
    """Call `ask` until it returns no error; ClientError after 20 seconds."""
    ends = time.monotonic() + _WAIT_S
    while code := ask():
        if time.monotonic() > ends:
            raise ClientError(f"cannot {task}: {error_name_with_code(code)}")
        time.sleep(_PAUSE_S)
