"""A real cluster for cases: topics, groups and ACLs are created with Kafka's own requests."""

import asyncio
import itertools
from collections.abc import Iterable, Mapping

from kafka_shim.authorizer.model import Acl
from kafka_shim.client.acls import (
    delete_acls,
    describe_acls,
)
from kafka_shim.client.client import Client, connect, topic_names
from kafka_shim.client.preparation import (
    commit_offset,
    create_visible_acls,
    delete_all_acls,
    delete_topics,
    retry_until_no_error,
    write_record,
)
from kafka_shim.conformance.cluster import ClusterControl
from kafka_shim.conformance.fixtures import ClusterSetup
from kafka_shim.conformance.frames import FrameListener, HistoryWithResponses
from kafka_shim.conformance.recording_proxies import RecordingProxies
from kafka_shim.policy.formats.yaml_rules import parse_rule
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequestPartition,
)
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.shim.settings.defaults import PLAINTEXT, SASL_PLAINTEXT
from kafka_shim.shim.system_clock import SystemClock

_CREATED_CODES = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
"""Success of CreateTopics; a retry after a timeout finds the topic of the first request."""

_MARKER_NUMBERS = itertools.count(1)


class RealClusterProvider:
    """A real cluster, all of whose topics, groups and ACLs are deleted before each case.

    `servers` are addresses by listener name; clients of `PLAINTEXT` are allowed everything.
    """

    ca_path = None

    def __init__(
        self, servers: Mapping[str, str], release: str, on_frame: FrameListener | None = None
    ) -> None:
        self._servers = servers
        self._proxies = RecordingProxies(on_frame)
        self._cluster = RealCluster(servers, release, self._proxies)

    async def provide_empty_cluster(self, setup: ClusterSetup, title: str) -> "RealCluster":
        """Empty the cluster and return it; cases for real brokers use the default set-up."""
        assert setup == ClusterSetup(), title
        await self._proxies.start(self._servers.values())
        await asyncio.to_thread(self._cluster.delete_all_resources)
        if self._cluster.enabled_mechanisms is None:
            await asyncio.to_thread(self._cluster.request_enabled_mechanisms)
        self._proxies.begin_case(title)
        return self._cluster

    async def close(self) -> None:
        """Delete what the last case created."""
        await self._proxies.stop()
        await asyncio.to_thread(self._cluster.delete_all_resources)


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
        self.enabled_mechanisms: frozenset[str] | None = None

    def request_enabled_mechanisms(self) -> None:
        """Set `enabled_mechanisms` to those that brokers list for an unknown one."""
        with connect(self.unproxied_servers(SASL_PLAINTEXT)) as client:
            request = SaslHandshakeRequest(mechanism="UNKNOWN")
            response = client.send_request(ApiKey.SASL_HANDSHAKE, request)
        self.enabled_mechanisms = frozenset(response.mechanisms)

    @property
    def frames(self) -> HistoryWithResponses | None:
        return None if self._proxies is None else self._proxies.frames

    @property
    def cluster_control(self) -> ClusterControl | None:
        """None: the suite cannot operate brokers that it did not start."""
        return None

    def now_ms(self) -> int:
        return SystemClock().now_ms()

    def accepted_connection_count(self) -> None:
        """Return None: only the brokers could tell."""

    def bootstrap_servers(self, listener: str) -> str:
        servers = self.unproxied_servers(listener)
        return servers if self._proxies is None else self._proxies.proxy_address(servers)

    def unproxied_servers(self, listener: str) -> str:
        """Return the cluster's own addresses of a listener."""
        return self._servers[listener]

    def delete_all_resources(self) -> None:
        """Delete all topics, groups and ACLs."""
        with self.connect_as_super_user() as client:
            delete_all_acls(client)
            names = [name for name in topic_names(client) if not name.startswith("__")]
            if names:
                delete_topics(client, names)
            listed = client.send_request(ApiKey.LIST_GROUPS, ListGroupsRequest()).groups
            if listed and ApiKey.DELETE_GROUPS in client.versions:
                request = DeleteGroupsRequest([group.group_id for group in listed])
                client.send_request(ApiKey.DELETE_GROUPS, request)

    async def create_topic(self, name: str, partitions: int) -> None:
        await asyncio.to_thread(self._create_topic_blocking, name, partitions)

    def _create_topic_blocking(self, name: str, partitions: int) -> None:
        topic = self.topic_to_create(name, partitions)
        with self.connect_as_super_user() as client:
            codes: list[int] = []

            def create_error() -> int:
                request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
                codes.append(
                    client.send_request(ApiKey.CREATE_TOPICS, request).topics[0].error_code
                )
                created_before_timeout = (
                    ErrorCode.REQUEST_TIMED_OUT in codes and codes[-1] in _CREATED_CODES
                )
                return 0 if created_before_timeout else codes[-1]

            retry_until_no_error(f"create {name}", create_error)
            request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])

            def metadata_error() -> int:
                (topic_row,) = client.send_request(ApiKey.METADATA, request).topics
                codes = [topic_row.error_code, *(each.error_code for each in topic_row.partitions)]
                return next((code for code in codes if code), 0)

            retry_until_no_error(f"see {name}", metadata_error)

    def topic_to_create(self, name: str, partitions: int) -> CreatableTopic:
        """Return the definition of a topic."""
        return CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)

    async def delete_topic(self, name: str) -> None:
        await asyncio.to_thread(self._delete_topic_blocking, name)

    def _delete_topic_blocking(self, name: str) -> None:
        with self.connect_as_super_user() as client:
            delete_topics(client, [name])

    async def commit_offset_zero_of_partition_zero(self, group: str, topic: str) -> None:
        await asyncio.to_thread(self._commit_offset_zero_blocking, group, topic)

    def _commit_offset_zero_blocking(self, group: str, topic: str) -> None:
        partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=0)
        with self.connect_as_super_user() as client:
            commit_offset(client, group, [topic], partition)

    async def write_record(self, topic: str, value: bytes) -> None:
        await asyncio.to_thread(write_record, self.unproxied_servers(PLAINTEXT), topic, value)

    async def acls(self) -> list[Acl]:
        return await asyncio.to_thread(self._acls_blocking)

    def _acls_blocking(self) -> list[Acl]:
        with self.connect_as_super_user() as client:
            return describe_acls(client)

    async def create_acls(self, acls: Iterable[Acl]) -> None:
        await asyncio.to_thread(self._create_acls_blocking, list(acls))

    def _create_acls_blocking(self, acls: list[Acl]) -> None:
        with self.connect_as_super_user() as client:
            create_visible_acls(client, acls)

    async def delete_acls(self, acls: Iterable[Acl]) -> None:
        await asyncio.to_thread(self._delete_acls_blocking, list(acls))

    def _delete_acls_blocking(self, acls: list[Acl]) -> None:
        with self.connect_as_super_user() as client:
            delete_acls(client, [acl.to_exact_filter() for acl in acls])

    async def wait_for_applied_changes(self) -> None:
        """Wait until the broker has applied what clients changed, such as tokens, which no request
        shows: it applies an ACL that is added later after it.
        """
        (marker,) = parse_rule(
            {
                "principal": "User:nobody",
                "allow": ["Read"],
                "topic": f"settled-{next(_MARKER_NUMBERS)}",
            }
        )
        await self.create_acls([marker])
        await self.delete_acls([marker])

    def connect_as_super_user(self) -> Client:
        """Return a connection that is allowed everything."""
        return connect(self.unproxied_servers(PLAINTEXT))
