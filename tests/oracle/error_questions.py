"""Requests, in any version, to which a real broker returns a known error."""

import secrets
import time
from typing import Any

import msgspec

from kafka_shim.client.client import CLIENT_ID, Client
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from tests.recordings.codes import codes_of
from tests.recordings.records.batches import batch

TOPIC, COMPACTED, SMALL, GROUP = "orders", "compacted", "small", "workers"
_INSTANCE = "first"
_COORDINATED, _STATIC, _FETCHES, _CREATES = 2, 5, 4, 5
"""Versions that all brokers here support: FindCoordinator with one key, JoinGroup with static
members, Fetch, and CreateTopics without quotas.
"""
_WAIT_S = 30.0
_LATER = 1000
"""An epoch, offset or generation larger than any that exists."""
_OF_TEMPORARY = {int(code) for code in ErrorCode if code in range(14, 17)} | {51}


def asked(client: Client, api: ApiKey, request: msgspec.Struct, version: int | None = None) -> Any:
    """Return the response; retry while the coordinator returns a temporary error."""
    ends = time.monotonic() + _WAIT_S
    while True:
        response = client.send_request(api, request, version)
        if not _OF_TEMPORARY.intersection(codes_of(response)) or time.monotonic() > ends:
            return response
        time.sleep(0.1)


class Questions:
    """Requests to a broker; the static member `member` has replaced `replaced`."""

    def __init__(self, client: Client) -> None:
        _create(client, TOPIC)
        _create(client, COMPACTED, {"cleanup.policy": "compact"})
        _create(client, SMALL, {"max.message.bytes": "100"})
        self.topic_ids = {each: _topic_id(client, each) for each in (TOPIC, COMPACTED, SMALL)}
        for key_type, key in enumerate((GROUP, "tx")):
            finding = FindCoordinatorRequest(key=key, key_type=key_type)
            asked(client, ApiKey.FIND_COORDINATOR, finding, _COORDINATED)
        self.replaced = self._join(client).member_id
        joined = self._join(client)
        self.member = joined.member_id
        assignment = SyncGroupRequestAssignment(self.member, b"")
        syncing = SyncGroupRequest(
            GROUP, joined.generation_id, self.member, _INSTANCE, assignments=[assignment]
        )
        asked(client, ApiKey.SYNC_GROUP, syncing, 3)

    def _join(self, client: Client) -> Any:
        return asked(client, ApiKey.JOIN_GROUP, _joining(""), _STATIC)

    def end_of_fenced(self, client: Client, version: int) -> Any:
        name, made = _fenced(client, 2)
        return _end(client, version, name, made)

    def end_of_unknown(self, client: Client, version: int) -> Any:
        name, made = _fenced(client, 1)
        made.producer_id += 1
        return _end(client, version, name, made)

    def begin_of_fenced(self, client: Client, version: int) -> Any:
        name, made = _fenced(client, 3)
        request = InitProducerIdRequest(name, 60_000, made.producer_id, made.producer_epoch)
        return asked(client, ApiKey.INIT_PRODUCER_ID, request, version)

    def too_long(self, client: Client, version: int) -> Any:
        request = InitProducerIdRequest("tx", 2**31 - 1)
        return asked(client, ApiKey.INIT_PRODUCER_ID, request, version)

    def no_transactional_id(self, client: Client, version: int) -> Any:
        return asked(client, ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest("", 60_000), version)

    def produce_of_fenced(self, client: Client, version: int) -> Any:
        _, older = _fenced(client, 2)
        producer = older.producer_id, older.producer_epoch
        self._produce(client, version, TOPIC, batch(producer=(producer[0], producer[1] + 1, 0)))
        return self._produce(client, version, TOPIC, batch(producer=(*producer, 1)))

    def produce_keyless(self, client: Client, version: int) -> Any:
        return self._produce(client, version, COMPACTED, batch())

    def produce_large(self, client: Client, version: int) -> Any:
        return self._produce(client, version, SMALL, batch([bytes(1000)]))

    def produce(self, client: Client, version: int, name: str) -> Any:
        return self._produce(client, version, name, batch())

    def _produce(self, client: Client, version: int, name: str, records: bytes) -> Any:
        data = PartitionProduceData(index=0, records=records)
        topic = TopicProduceData(name, self.topic_ids[name], [data])
        request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[topic])
        return client.send_request(ApiKey.PRODUCE, request, version)

    def fetch_in_session(self, client: Client, version: int) -> Any:
        return self._fetch(client, version, TOPIC, session=(_LATER, 1))

    def fetch_in_later_epoch(self, client: Client, version: int) -> Any:
        return self._fetch(client, version, TOPIC, epoch=_LATER)

    def fetch_in_earlier_epoch(self, client: Client, version: int) -> Any:
        return self._fetch(client, version, TOPIC, epoch=0)

    def fetch_beyond(self, client: Client, version: int) -> Any:
        return self._fetch(client, version, TOPIC, offset=_LATER)

    def fetch_unknown(self, client: Client, version: int) -> Any:
        self.topic_ids["nothing"] = secrets.token_bytes(16)
        return self._fetch(client, version, "nothing")

    def fetch(self, client: Client, version: int, name: str) -> Any:
        return self._fetch(client, version, name)

    def _fetch(
        self,
        client: Client,
        version: int,
        name: str,
        *,
        offset: int = 0,
        epoch: int = -1,
        session: tuple[int, int] = (0, -1),
    ) -> Any:
        row = FetchPartition(0, epoch, offset, partition_max_bytes=1000)
        topic = FetchTopic(name, self.topic_ids[name], [row])
        request = FetchRequest(
            max_wait_ms=10, session_id=session[0], session_epoch=session[1], topics=[topic]
        )
        return client.send_request(ApiKey.FETCH, request, version)

    def join_as_replaced(self, client: Client, version: int) -> Any:
        return asked(client, ApiKey.JOIN_GROUP, _joining(self.replaced), version)

    def join_with_others(self, client: Client, version: int) -> Any:
        request = _joining("", "others")
        request.group_instance_id = None
        return asked(client, ApiKey.JOIN_GROUP, request, version)

    def commit_of_generation(self, client: Client, version: int) -> Any:
        return self._commit(client, version, self.member, _LATER)

    def commit_of_unknown(self, client: Client, version: int) -> Any:
        return self._commit(client, version, "nobody", 1)

    def commit_large(self, client: Client, version: int) -> Any:
        return self._commit(client, version, "", -1, "a" * 5000)

    def _commit(
        self, client: Client, version: int, member: str, generation: int, metadata: str = ""
    ) -> Any:
        row = OffsetCommitRequestPartition(0, 0, committed_metadata=metadata)
        topic = OffsetCommitRequestTopic(TOPIC, self.topic_ids[TOPIC], [row])
        group = GROUP if member else "nobodys"
        request = OffsetCommitRequest(group, generation, member, topics=[topic])
        return asked(client, ApiKey.OFFSET_COMMIT, request, version)

    def heartbeat_of_unknown(self, client: Client, version: int) -> Any:
        return asked(client, ApiKey.HEARTBEAT, HeartbeatRequest(GROUP, 1, "nobody"), version)

    def heartbeat_of_generation(self, client: Client, version: int) -> Any:
        return asked(
            client, ApiKey.HEARTBEAT, HeartbeatRequest(GROUP, _LATER, self.member), version
        )

    def create_again(self, client: Client, version: int) -> Any:
        return _try_create(client, version, CreatableTopic(TOPIC, 1, 1))

    def create_empty(self, client: Client, version: int) -> Any:
        return _try_create(client, version, CreatableTopic("new", 0, 1))

    def create_copied(self, client: Client, version: int) -> Any:
        return _try_create(client, version, CreatableTopic("new", 1, 5))

    def create_configured(self, client: Client, version: int) -> Any:
        configs = [CreatableTopicConfig("cleanup.policy", "nonsense")]
        return _try_create(client, version, CreatableTopic("new", 1, 1, configs=configs))

    def create_beyond_quota(self, client: Client, version: int) -> Any:
        return _try_create(client, version, CreatableTopic(f"late-{version}", 1, 1))

    def wait(self, client: Client) -> None:
        """Wait until the broker serves its topic again."""
        ends = time.monotonic() + _WAIT_S
        while any(codes_of(self.fetch(client, _FETCHES, TOPIC))) and time.monotonic() < ends:
            time.sleep(0.1)

    def limit(self, client: Client) -> None:
        """Limit this client's creation of topics, and use up its quota."""
        entry = RequestEntryData(
            [RequestEntityData("client-id", CLIENT_ID)], [OpData("controller_mutation_rate", 0.1)]
        )
        client.send_request(ApiKey.ALTER_CLIENT_QUOTAS, AlterClientQuotasRequest([entry]))
        time.sleep(2)
        _try_create(client, _CREATES, CreatableTopic("many", 50, 1))

    def topic_within(self, client: Client, folder: str) -> str:
        """Create topics; return one whose records are in this folder of the broker."""
        for number in range(4):
            _create(client, f"{TOPIC}-{number}")
        response = client.send_request(
            ApiKey.DESCRIBE_LOG_DIRS, DescribeLogDirsRequest(topics=None)
        )
        (found,) = [row for row in response.results if row.log_dir.endswith(f"/{folder}")]
        name: str = next(row.name for row in found.topics if row.name.startswith(f"{TOPIC}-"))
        self.topic_ids[name] = _topic_id(client, name)
        return name


def _fenced(client: Client, times: int) -> tuple[str, InitProducerIdResponse]:
    """Initialise a new transactional id `times` times; return it and the first response."""
    name = secrets.token_hex(4)
    request = InitProducerIdRequest(name, 60_000)
    made = [asked(client, ApiKey.INIT_PRODUCER_ID, request, 1) for _ in range(times)]
    return name, made[0]


def _end(client: Client, version: int, name: str, made: InitProducerIdResponse) -> Any:
    request = EndTxnRequest(name, made.producer_id, made.producer_epoch, committed=False)
    return asked(client, ApiKey.END_TXN, request, version)


def _joining(member: str, protocol: str = "range") -> JoinGroupRequest:
    return JoinGroupRequest(
        GROUP,
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id=member,
        group_instance_id=_INSTANCE,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(protocol, b"")],
    )


def _try_create(client: Client, version: int, topic: CreatableTopic) -> Any:
    request = CreateTopicsRequest([topic], timeout_ms=10_000)
    return client.send_request(ApiKey.CREATE_TOPICS, request, version)


def _create(client: Client, name: str, configs: dict[str, str] | None = None) -> None:
    rows = [CreatableTopicConfig(key, value) for key, value in (configs or {}).items()]
    _try_create(
        client,
        client.negotiated_version(ApiKey.CREATE_TOPICS),
        CreatableTopic(name, 1, 1, configs=rows),
    )
    _topic_id(client, name)


def _topic_id(client: Client, name: str) -> bytes:
    """Return the id of a topic once it has a leader."""
    ends = time.monotonic() + _WAIT_S
    while time.monotonic() < ends:
        for topic in client.send_request(ApiKey.METADATA, MetadataRequest(topics=None)).topics:
            if topic.name == name and not any(codes_of(topic)):
                found: bytes = topic.topic_id
                return found
        time.sleep(0.1)
    raise RuntimeError(f"{name} is not there")
