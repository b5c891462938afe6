"""Stories of transactional producers that fence each other, or send requests out of order."""

from collections.abc import Callable

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.stories.producing import (
    UNBATCHED_UNTIL,
    fetched,
    offsets,
    produced,
)
from tests.recordings.conformance.telling import Move, Story, Teller

OWN_ID_SINCE = 3
"""The first version of InitProducerId with a producer id (KIP-360)."""

MEMBERS_SINCE = 3
"""The first version of TxnOffsetCommit with a member id (KIP-447)."""


class Producer:
    """Makes the moves of a transactional producer, with the last epoch that it was given."""

    def __init__(self, teller: Teller, name: str, user: str = "", timeout_ms: int = 60_000) -> None:
        self._teller = teller
        self._timeout_ms = timeout_ms
        self._name = name
        self._user = user
        self.made = ""

    def init(self, *, as_known: bool = False) -> Move:
        """Initialise the producer; with `as_known`, send its current id and epoch."""
        version = self._teller.version(ApiKey.INIT_PRODUCER_ID, OWN_ID_SINCE if as_known else 0)
        takes = self._identity() if as_known and version >= OWN_ID_SINCE else {}
        request = InitProducerIdRequest(
            transactional_id=self._name,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=-1,
            producer_epoch=-1,
        )
        self.made = self._teller.label()
        return self._move(ApiKey.INIT_PRODUCER_ID, request, takes, version, self.made)

    def add(self, topic: str, partition: int = 0) -> Move:
        rows = [AddPartitionsToTxnTopic(name=topic, partitions=[partition])]
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._name, v3_and_below_topics=rows
        )
        version = self._teller.version(ApiKey.ADD_PARTITIONS_TO_TXN, 0, UNBATCHED_UNTIL)
        takes = self._identity("v3_and_below_")
        return self._move(ApiKey.ADD_PARTITIONS_TO_TXN, request, takes, version)

    def produce(self, topic: str, sequence: int) -> Move:
        move = produced(self._teller, topic, self.made, sequence, self._name)
        return move._replace(user=self._user)

    def add_offsets(self, group: str) -> Move:
        request = AddOffsetsToTxnRequest(transactional_id=self._name, group_id=group)
        return self._move(ApiKey.ADD_OFFSETS_TO_TXN, request, self._identity())

    def commit_offsets(self, group: str, topic: str, member: str = "") -> Move:
        partition = TxnOffsetCommitRequestPartition(
            partition_index=1, committed_offset=11, committed_metadata="of a transaction"
        )
        topic_id = topic_id_of(topic)
        topics = [
            TxnOffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=[partition])
        ]
        request = TxnOffsetCommitRequest(transactional_id=self._name, group_id=group, topics=topics)
        version = self._teller.version(ApiKey.TXN_OFFSET_COMMIT, MEMBERS_SINCE if member else 0)
        if member and version >= MEMBERS_SINCE:
            request.member_id, request.generation_id_or_member_epoch = member, 1
        return self._move(ApiKey.TXN_OFFSET_COMMIT, request, self._identity(), version)

    def end(self, *, committed: bool) -> Move:
        """End the transaction; since version 5 the response has a new epoch (KIP-890)."""
        request = EndTxnRequest(transactional_id=self._name, committed=committed)
        version = self._teller.version(ApiKey.END_TXN)
        takes = self._identity()
        label = ""
        if version >= 5:
            label = self.made = self._teller.label()
        return self._move(ApiKey.END_TXN, request, takes, version, label)

    def _identity(self, prefix: str = "") -> dict[str, str]:
        fields = ("producer_id", "producer_epoch")
        return {f"{prefix}{field}": f"{self.made}:{field}" for field in fields}

    def _move(
        self,
        api: ApiKey,
        request: object,
        takes: dict[str, str],
        version: int = -1,
        label: str = "",
    ) -> Move:
        return Move(api, request, takes, label, version, self._user)


def rivals(teller: Teller) -> Story:
    """A second producer replaces the first one during a transaction."""
    draw = teller.draw
    name, topic = draw.fresh("tx"), draw.pick(*draw.topics)
    first = Producer(teller, name)
    second = Producer(teller, name, f"{teller.user}/{teller.number}")
    yield first.init()
    yield first.add(topic)
    yield first.produce(topic, 0)
    yield second.init()
    tries: list[Callable[[], Move]] = [
        lambda: first.add(topic, 1),
        lambda: first.produce(topic, 2),
        lambda: first.end(committed=True),
        lambda: first.add_offsets(draw.groups[0]),
        lambda: first.commit_offsets(draw.groups[0], topic),
    ]
    for attempt in draw.some(tries, 2, 4):
        yield attempt()
    yield second.add(topic)
    yield second.produce(topic, 0)
    yield fetched(topic)
    if draw.chance(0.5):
        yield first.init(as_known=draw.chance(0.5))
    yield second.end(committed=draw.chance(0.6))
    yield fetched(topic)
    yield offsets(topic)


def known_producer(teller: Teller) -> Story:
    """A producer initialises again with its own id, between and within transactions (KIP-360)."""
    draw = teller.draw
    topic = draw.pick(*draw.topics)
    producer = Producer(teller, draw.fresh("tx"))
    yield producer.init()
    yield producer.init(as_known=True)
    yield producer.add(topic)
    yield producer.produce(topic, 0)
    if draw.chance(0.5):
        yield producer.end(committed=True)
    yield producer.init(as_known=True)
    yield producer.add(topic)
    yield producer.produce(topic, draw.pick(0, 0, 2))
    yield producer.end(committed=True)
    yield fetched(topic)


def out_of_turn(teller: Teller) -> Story:
    """End transactions that never began; send records and offsets without adding partitions."""
    draw = teller.draw
    topic, group = draw.pick(*draw.topics), draw.pick(*draw.groups)
    producer = Producer(teller, draw.fresh("tx"))
    yield producer.init()
    ways = [
        lambda: producer.add(topic, draw.pick(0, 1, 7)),
        lambda: producer.produce(topic, 0),
        lambda: producer.add_offsets(group),
        lambda: producer.commit_offsets(group, topic, draw.pick("", "", "nobody")),
        lambda: producer.end(committed=draw.chance(0.5)),
    ]
    for _ in range(draw.number(5, 8)):
        yield draw.pick(*ways)()
    yield fetched(topic)
    yield _offsets_of(teller, group, topic)
    yield producer.end(committed=True)
    yield _offsets_of(teller, group, topic)


def _offsets_of(teller: Teller, group: str, topic: str) -> Move:
    old = OffsetFetchRequestTopic(name=topic, partition_indexes=[0, 1])
    new = OffsetFetchRequestTopics(
        name=topic, topic_id=topic_id_of(topic), partition_indexes=[0, 1]
    )
    request = OffsetFetchRequest(
        group_id=group,
        topics=[old],
        groups=[OffsetFetchRequestGroup(group_id=group, topics=[new])],
        require_stable=teller.draw.chance(0.3),
    )
    return Move(ApiKey.OFFSET_FETCH, request)
