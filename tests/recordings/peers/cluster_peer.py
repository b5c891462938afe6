"""Several brokers of a cluster as one peer, which sends each request to the broker it is for."""

import itertools
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableReplicaAssignment
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.recordings.peers.peer import PATIENCE_MS, ask_root
from tests.recordings.peers.socket_peer import SocketPeer

OTHER: Final = "!"
"""A connection whose name ends with this sends to a broker that the request is not for."""
BY_LEADER: Final = frozenset(
    {
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.DELETE_RECORDS,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.SHARE_FETCH,
        ApiKey.SHARE_ACKNOWLEDGE,
    }
)
BY_TRANSACTION: Final = frozenset(
    {
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.DESCRIBE_TRANSACTIONS,
    }
)
LISTS: Final = {ApiKey.LIST_GROUPS: "groups", ApiKey.LIST_TRANSACTIONS: "transaction_states"}
"""APIs that list what is on one broker, with the field of the list; all brokers are asked."""
GROUP, TRANSACTION = 0, 1
PARTITIONS_MAX: Final = 20


class ClusterPeer:
    """Brokers in the order of their ids. New topics are spread over them in the same way on each
    cluster, so that leaders can be compared.
    """

    takes_effect_later = True

    def __init__(self, brokers: Sequence[SocketPeer], *, kraft: bool) -> None:
        self.release = brokers[0].release
        self._brokers = list(brokers)
        self._kraft = kraft
        self._asked: dict[str, tuple[SocketPeer, ApiKey, int, Any]] = {}

    def send(self, connection: str, api: ApiKey, version: int, request: Any) -> None:
        if api is ApiKey.CREATE_TOPICS:
            request = self._placed(request)
        at = self._broker_of(api, request)
        broker = self._brokers[at]
        if connection.endswith(OTHER):
            broker = self._brokers[(at + 1) % len(self._brokers)]
        self._asked[connection] = broker, api, version, request
        broker.send(connection, api, version, request)

    def receive(self, connection: str, patience_ms: int = PATIENCE_MS) -> Any:
        asked, api, version, request = self._asked[connection]
        response = asked.receive(connection, patience_ms)
        if isinstance(response, str):
            return response
        if api in LISTS:
            for broker in self._brokers:
                if broker is not asked:
                    broker.send(connection, api, version, request)
                    more = broker.receive(connection, patience_ms)
                    rows = getattr(response, LISTS[api])
                    rows += [] if isinstance(more, str) else getattr(more, LISTS[api])
        if getattr(response, "controller_id", -1) > 0:  # KRaft brokers name any broker
            response.controller_id = 1
        if api is ApiKey.FIND_COORDINATOR:  # depends on hashes of random ids
            for row in (response, *response.coordinators):
                row.node_id = min(row.node_id, 1)
        return response

    def hang_up(self, connection: str) -> None:
        self._asked[connection][0].hang_up(connection)

    def use_token(self, connection: str, token_id: str, hmac: bytes) -> None:
        for broker in self._brokers:
            broker.use_token(connection, token_id, hmac)

    def now_ms(self) -> int:
        return self._brokers[0].now_ms()

    def pause(self, milliseconds: int) -> None:
        self._brokers[0].pause(milliseconds)

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        self._brokers[0].compact(topic, roll)

    def _placed(self, request: Any) -> Any:
        """Return a CreateTopics request that says where the partitions are."""
        request = msgspec.convert(msgspec.to_builtins(request), type(request))
        for topic in request.topics:
            is_plain = topic.replication_factor in (1, -1) and not topic.assignments
            if is_plain and 0 < topic.num_partitions <= PARTITIONS_MAX:
                topic.assignments = [
                    CreatableReplicaAssignment(index, [self._home_of(topic.name)])
                    for index in range(topic.num_partitions)
                ]
                topic.num_partitions = topic.replication_factor = -1
        return request

    def _home_of(self, topic: str) -> int:
        """Return the id of the broker that leads all partitions of a new topic."""
        return 1 + zlib.crc32(topic.encode()) % len(self._brokers)

    def _broker_of(self, api: ApiKey, request: Any) -> int:
        """Return the index of the broker that a request is for; the first one serves most."""
        if api in BY_LEADER:
            return self._leader(request)
        if api in BY_TRANSACTION:
            names = ("transactional_id", "v3_and_below_transactional_id", "transactional_ids")
            return self._coordinator(TRANSACTION, _first(request, names))
        group = _first(request, ("group_id", "group_ids", "groups_names", "groups"))
        if group:
            return self._coordinator(GROUP, group)
        return 0 if self._kraft else self._controller()

    def _controller(self) -> int:
        found = ask_root(self._brokers[0], ApiKey.METADATA, MetadataRequest(topics=[]))
        return max(0, found.controller_id - 1)

    def _coordinator(self, kind: int, key: str) -> int:
        if not key:
            return 0
        request = FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key])
        found = ask_root(self._brokers[0], ApiKey.FIND_COORDINATOR, request)
        row = found.coordinators[0] if found.coordinators else found
        return max(0, row.node_id - 1)

    def _leader(self, request: Any) -> int:
        rows = getattr(request, "topics", None) or getattr(request, "topic_data", None)
        if not rows:
            return 0
        row = rows[0]
        name = getattr(row, "topic", "") or getattr(row, "name", "")
        named = (
            MetadataRequestTopic(name=name) if name else MetadataRequestTopic(row.topic_id, None)
        )
        look = MetadataRequest(topics=[named], allow_auto_topic_creation=False)
        topics = ask_root(self._brokers[0], ApiKey.METADATA, look).topics
        parts = getattr(row, "partitions", None) or getattr(row, "partition_data", None) or [0]
        index = next(
            (
                getattr(parts[0], field)
                for field in ("partition", "partition_index", "index")
                if hasattr(parts[0], field)
            ),
            0,
        )
        found = itertools.chain.from_iterable(topic.partitions for topic in topics)
        leaders = [part.leader_id for part in found if part.partition_index == index]
        return max(0, leaders[0] - 1) if leaders else 0


def _first(request: Any, names: Sequence[str]) -> str:
    """Return the first text in one of these fields."""
    for name in names:
        value = getattr(request, name, None)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, msgspec.Struct):
            value = getattr(value, "group_id", None)
        if isinstance(value, str) and value:
            return value
    return ""
