"""Behaviours of producers and consumer groups, and about retriable errors."""

from collections import Counter
from collections.abc import Iterator

from crc32c import crc32c

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.scorecard.behaviour import Behaviour, Occurrence
from kafka_shim.conformance.scorecard.exchanges import Exchange
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import HEADER_BYTES, Batch, iterate_batches
from kafka_shim.traces.identities.message_fields import NOT_READY_ERRORS

_MEMBER_ID_REQUIRED = 79
_COVERED_FROM = 21
_COORDINATED = (ApiKey.FIND_COORDINATOR, ApiKey.INIT_PRODUCER_ID, ApiKey.JOIN_GROUP)
_SEQUENCES = 1 << 31


def _iter_v2_batches(
    exchanges: list[Exchange],
) -> Iterator[tuple[Exchange, object, Batch]]:
    """Yield every batch of format 2 with its partition."""
    for exchange in exchanges:
        if exchange.api_key != ApiKey.PRODUCE or exchange.request is None or exchange.version < 3:
            continue
        for topic in exchange.request.topic_data:
            for row in topic.partition_data:
                try:
                    decoded_batches = list(iterate_batches(row.records or b""))
                except ProtocolError:
                    continue
                for batch in decoded_batches:
                    yield exchange, (topic.name, topic.topic_id, row.index), batch


def _find_producer_ids(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange, _, batch in _iter_v2_batches(exchanges):
        yield Occurrence(batch.producer_id >= 0, exchange)


def _find_acks(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in exchanges:
        if exchange.api_key == ApiKey.PRODUCE and exchange.request is not None:
            yield Occurrence(exchange.request.acks == -1, exchange, f"acks {exchange.request.acks}")


def _find_wrong_checksums(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange, _, batch in _iter_v2_batches(exchanges):
        batch_bytes = batch.blob[batch.start_in_blob : batch.start_in_blob + 12 + batch.length]
        is_right = (
            len(batch_bytes) >= HEADER_BYTES and crc32c(batch_bytes[_COVERED_FROM:]) == batch.crc
        )
        yield Occurrence(is_right, exchange)


def _find_sequence_gaps(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    last: dict[object, tuple[int, int]] = {}
    assigned_ids: Counter[tuple[int, int]] = (
        Counter()
    )  # the same id on another broker is another producer
    for exchange in exchanges:
        if exchange.api_key == ApiKey.INIT_PRODUCER_ID and exchange.response is not None:
            assigned_ids[exchange.response.producer_id, exchange.response.producer_epoch] += 1
        for _, partition, batch in _iter_v2_batches([exchange]):
            if batch.producer_id < 0:
                continue
            producer = (batch.producer_id, batch.producer_epoch)
            key = (partition, producer, assigned_ids[producer])
            first, following = last.get(key, (0, 0))
            is_right = batch.base_sequence in (first, following)  # an equal sequence is a retry
            yield Occurrence(
                is_right, exchange, f"sequence {batch.base_sequence}, {following} expected"
            )
            count = batch.last_offset_delta + 1
            last[key] = (batch.base_sequence, (batch.base_sequence + count) % _SEQUENCES)


def _find_unassigned_producer_ids(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    assigned_ids = {
        (exchange.response.producer_id, exchange.response.producer_epoch)
        for exchange in exchanges
        if exchange.api_key == ApiKey.INIT_PRODUCER_ID and exchange.response is not None
    }
    # EndTxn 5 and later return the next epoch (KIP-890)
    assigned_ids |= {
        (exchange.response.producer_id, exchange.response.producer_epoch)
        for exchange in exchanges
        if exchange.api_key == ApiKey.END_TXN
        and exchange.version >= 5
        and exchange.response is not None
    }
    ids = {producer_id for producer_id, _ in assigned_ids}
    for exchange, _, batch in _iter_v2_batches(exchanges):
        if batch.producer_id >= 0:
            is_assigned = (batch.producer_id, batch.producer_epoch) in assigned_ids
            # an idempotent producer may raise its epoch itself after an error (KIP-360)
            is_assigned |= batch.producer_id in ids and batch.producer_epoch > 0
            yield Occurrence(is_assigned, exchange, f"producer {batch.producer_id}")


def _find_coordinator_retries(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for number, exchange in enumerate(exchanges):
        if exchange.api_key not in _COORDINATED or not NOT_READY_ERRORS.intersection(
            exchange.error_codes_except_none
        ):
            continue
        later_exchanges = [
            other for other in exchanges[number + 1 :] if other.principal == exchange.principal
        ]
        is_retried = any(other.api_key == exchange.api_key for other in later_exchanges)
        if is_retried or any(
            other.time_us - exchange.time_us > 1_000_000 for other in later_exchanges
        ):
            yield Occurrence(is_retried, exchange, f"errors {exchange.error_codes_except_none}")


def _find_second_joins(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for number, exchange in enumerate(exchanges):
        if (
            exchange.api_key != ApiKey.JOIN_GROUP
            or _MEMBER_ID_REQUIRED not in exchange.error_codes_except_none
        ):
            continue
        member_id = exchange.response.member_id
        is_retried = next(
            (
                other
                for other in exchanges[number + 1 :]
                if other.api_key == ApiKey.JOIN_GROUP
                and other.request is not None
                and other.connection_id == exchange.connection_id
            ),
            None,
        )
        if is_retried is not None:
            yield Occurrence(is_retried.request.member_id == member_id, is_retried)


def _find_leaving_members(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    """Check that a member that got a generation sends LeaveGroup."""
    left_members = set()
    for exchange in exchanges:
        if exchange.request is None:
            continue
        if exchange.api_key == ApiKey.LEAVE_GROUP:
            left_members |= {
                exchange.request.member_id,
                *(row.member_id for row in exchange.request.members),
            }
        elif (
            exchange.api_key == ApiKey.CONSUMER_GROUP_HEARTBEAT
            and exchange.request.member_epoch < 0
        ):
            left_members.add(exchange.request.member_id)
    joined_members = set()
    for exchange in exchanges:
        if (
            exchange.response is None
            or exchange.error_codes_except_none
            or exchange.request is None
        ):
            continue
        if exchange.api_key == ApiKey.JOIN_GROUP and exchange.request.group_instance_id is None:
            member_id = exchange.response.member_id
        elif (
            exchange.api_key == ApiKey.CONSUMER_GROUP_HEARTBEAT
            and exchange.request.instance_id is None
        ):
            member_id = exchange.request.member_id or exchange.response.member_id
        else:
            continue
        if member_id not in joined_members:
            joined_members.add(member_id)
            yield Occurrence(member_id in left_members, exchange, member_id or "")


def _find_sasl_handshakes(exchanges: list[Exchange]) -> Iterator[Occurrence]:
    for exchange in exchanges:
        if exchange.api_key == ApiKey.SASL_HANDSHAKE:
            yield Occurrence(exchange.version >= 1, exchange)


RECORDS = (
    Behaviour(
        "producer.idempotent",
        "is idempotent by default",
        679,
        "batches carry a producer id",
        _find_producer_ids,
        RequirementLevel.SHOULD,
    ),
    Behaviour(
        "producer.acks-all",
        "waits for all replicas by default",
        679,
        "acks is -1 in Produce",
        _find_acks,
        RequirementLevel.SHOULD,
    ),
    Behaviour(
        "producer.checksums",
        "writes valid record batches",
        98,
        "format 2, and its CRC-32C is right",
        _find_wrong_checksums,
    ),
    Behaviour(
        "producer.sequences",
        "numbers its record batches without gaps",
        98,
        "each batch begins where the one before ended, or repeats it",
        _find_sequence_gaps,
    ),
    Behaviour(
        "producer.given-ids",
        "produces with the producer id that the broker assigned",
        98,
        "the batches' producer id and epoch are from InitProducerId (or EndTxn 5)",
        _find_unassigned_producer_ids,
    ),
    Behaviour(
        "errors.not-ready-retried",
        "retries when a coordinator is not ready",
        None,
        "FindCoordinator, InitProducerId or JoinGroup is sent again after errors 14, 15 or 16",
        _find_coordinator_retries,
    ),
    Behaviour(
        "groups.member-id-required",
        "joins again with the assigned member id",
        394,
        "JoinGroup after MEMBER_ID_REQUIRED (79) contains the id of that response",
        _find_second_joins,
    ),
    Behaviour(
        "groups.leaves",
        "leaves its group when it ends",
        None,
        "a dynamic member sends LeaveGroup, or a heartbeat with epoch -1",
        _find_leaving_members,
    ),
    Behaviour(
        "sasl.wrapped",
        "logs in with SaslAuthenticate",
        152,
        "SaslHandshake is in version 1",
        _find_sasl_handshakes,
    ),
)
