"""Behaviours of producers and consumer groups, and about retriable errors."""

from collections import Counter
from collections.abc import Iterator

from crc32c import crc32c

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import HEADER_BYTES, Batch, batches
from kafka_shim.shim.conformance.scorecard.behaviour import Behaviour, Sight
from kafka_shim.shim.conformance.scorecard.exchanges import Exchange
from kafka_shim.shim.traffic.replay.fields import NOT_YET

_MEMBER_ID_REQUIRED = 79
_COVERED_FROM = 21
_COORDINATED = (ApiKey.FIND_COORDINATOR, ApiKey.INIT_PRODUCER_ID, ApiKey.JOIN_GROUP)
_SEQUENCES = 1 << 31


def _produced(seen: list[Exchange]) -> Iterator[tuple[Exchange, object, Batch]]:
    """Yield every batch of format 2 with its partition."""
    for exchange in seen:
        if exchange.api != ApiKey.PRODUCE or exchange.request is None or exchange.version < 3:
            continue
        for topic in exchange.request.topic_data:
            for row in topic.partition_data:
                try:
                    found = list(batches(row.records or b""))
                except ProtocolError:
                    continue
                for batch in found:
                    yield exchange, (topic.name, topic.topic_id, row.index), batch


def _is_idempotent(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange, _, batch in _produced(seen):
        yield Sight(batch.producer_id >= 0, exchange)


def _wants_all_acks(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in seen:
        if exchange.api == ApiKey.PRODUCE and exchange.request is not None:
            yield Sight(exchange.request.acks == -1, exchange, f"acks {exchange.request.acks}")


def _has_right_checksums(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange, _, batch in _produced(seen):
        whole = batch.blob[batch.start : batch.start + 12 + batch.length]
        is_right = len(whole) >= HEADER_BYTES and crc32c(whole[_COVERED_FROM:]) == batch.crc
        yield Sight(is_right, exchange)


def _counts_sequences(seen: list[Exchange]) -> Iterator[Sight]:
    last: dict[object, tuple[int, int]] = {}
    given: Counter[tuple[int, int]] = Counter()  # the same id on another broker is another producer
    for exchange in seen:
        if exchange.api == ApiKey.INIT_PRODUCER_ID and exchange.response is not None:
            given[exchange.response.producer_id, exchange.response.producer_epoch] += 1
        for _, partition, batch in _produced([exchange]):
            if batch.producer_id < 0:
                continue
            producer = (batch.producer_id, batch.producer_epoch)
            key = (partition, producer, given[producer])
            first, following = last.get(key, (0, 0))
            is_right = batch.base_sequence in (first, following)  # an equal sequence is a retry
            yield Sight(is_right, exchange, f"sequence {batch.base_sequence}, {following} expected")
            count = batch.last_offset_delta + 1
            last[key] = (batch.base_sequence, (batch.base_sequence + count) % _SEQUENCES)


def _uses_given_ids(seen: list[Exchange]) -> Iterator[Sight]:
    given = {
        (exchange.response.producer_id, exchange.response.producer_epoch)
        for exchange in seen
        if exchange.api == ApiKey.INIT_PRODUCER_ID and exchange.response is not None
    }
    # EndTxn 5 and later return the next epoch (KIP-890)
    given |= {
        (exchange.response.producer_id, exchange.response.producer_epoch)
        for exchange in seen
        if exchange.api == ApiKey.END_TXN
        and exchange.version >= 5
        and exchange.response is not None
    }
    ids = {producer_id for producer_id, _ in given}
    for exchange, _, batch in _produced(seen):
        if batch.producer_id >= 0:
            is_given = (batch.producer_id, batch.producer_epoch) in given
            # an idempotent producer may raise its epoch itself after an error (KIP-360)
            is_given |= batch.producer_id in ids and batch.producer_epoch > 0
            yield Sight(is_given, exchange, f"producer {batch.producer_id}")


def _comes_again(seen: list[Exchange]) -> Iterator[Sight]:
    for number, exchange in enumerate(seen):
        if exchange.api not in _COORDINATED or not NOT_YET.intersection(exchange.errors):
            continue
        later = [other for other in seen[number + 1 :] if other.principal == exchange.principal]
        again = any(other.api == exchange.api for other in later)
        if again or any(other.time_us - exchange.time_us > 1_000_000 for other in later):
            yield Sight(again, exchange, f"errors {exchange.errors}")


def _joins_with_its_id(seen: list[Exchange]) -> Iterator[Sight]:
    for number, exchange in enumerate(seen):
        if exchange.api != ApiKey.JOIN_GROUP or _MEMBER_ID_REQUIRED not in exchange.errors:
            continue
        member_id = exchange.response.member_id
        again = next(
            (
                other
                for other in seen[number + 1 :]
                if other.api == ApiKey.JOIN_GROUP
                and other.request is not None
                and other.connection_id == exchange.connection_id
            ),
            None,
        )
        if again is not None:
            yield Sight(again.request.member_id == member_id, again)


def _leaves(seen: list[Exchange]) -> Iterator[Sight]:
    """Check that a member that got a generation sends LeaveGroup."""
    left = set()
    for exchange in seen:
        if exchange.request is None:
            continue
        if exchange.api == ApiKey.LEAVE_GROUP:
            left |= {
                exchange.request.member_id,
                *(row.member_id for row in exchange.request.members),
            }
        elif exchange.api == ApiKey.CONSUMER_GROUP_HEARTBEAT and exchange.request.member_epoch < 0:
            left.add(exchange.request.member_id)
    met = set()
    for exchange in seen:
        if exchange.response is None or exchange.errors or exchange.request is None:
            continue
        if exchange.api == ApiKey.JOIN_GROUP and exchange.request.group_instance_id is None:
            member_id = exchange.response.member_id
        elif (
            exchange.api == ApiKey.CONSUMER_GROUP_HEARTBEAT and exchange.request.instance_id is None
        ):
            member_id = exchange.request.member_id or exchange.response.member_id
        else:
            continue
        if member_id not in met:
            met.add(member_id)
            yield Sight(member_id in left, exchange, member_id or "")


def _wraps_sasl(seen: list[Exchange]) -> Iterator[Sight]:
    for exchange in seen:
        if exchange.api == ApiKey.SASL_HANDSHAKE:
            yield Sight(exchange.version >= 1, exchange)


RECORDS = (
    Behaviour(
        "producer.idempotent",
        "is idempotent by default",
        679,
        "batches carry a producer id",
        _is_idempotent,
    ),
    Behaviour(
        "producer.acks-all",
        "waits for all replicas by default",
        679,
        "acks is -1 in Produce",
        _wants_all_acks,
    ),
    Behaviour(
        "producer.checksums",
        "writes valid record batches",
        98,
        "format 2, and its CRC-32C is right",
        _has_right_checksums,
    ),
    Behaviour(
        "producer.sequences",
        "numbers its record batches without gaps",
        98,
        "each batch begins where the one before ended, or repeats it",
        _counts_sequences,
    ),
    Behaviour(
        "producer.given-ids",
        "produces with the producer id that the broker assigned",
        98,
        "the batches' producer id and epoch are from InitProducerId (or EndTxn 5)",
        _uses_given_ids,
    ),
    Behaviour(
        "errors.not-ready-retried",
        "retries when a coordinator is not ready",
        None,
        "FindCoordinator, InitProducerId or JoinGroup is sent again after errors 14, 15 or 16",
        _comes_again,
    ),
    Behaviour(
        "groups.member-id-required",
        "joins again with the assigned member id",
        394,
        "JoinGroup after MEMBER_ID_REQUIRED (79) contains the id of that response",
        _joins_with_its_id,
    ),
    Behaviour(
        "groups.leaves",
        "leaves its group when it ends",
        None,
        "a dynamic member sends LeaveGroup, or a heartbeat with epoch -1",
        _leaves,
    ),
    Behaviour(
        "sasl.wrapped",
        "logs in with SaslAuthenticate",
        152,
        "SaslHandshake is in version 1",
        _wraps_sasl,
    ),
)
