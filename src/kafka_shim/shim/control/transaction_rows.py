"""Transactional ids and the producers of partitions in the control API."""

from collections.abc import Iterator
from typing import Any

from kafka_shim.shim.state.cluster import Cluster

PRODUCERS_MAX = 1000


def transaction_state_rows(cluster: Cluster) -> dict[str, Any]:
    """Return transactional ids by name, and at most 1000 producers, first those in transactions."""
    transactions = sorted(
        cluster.transactions, key=lambda transaction: transaction.transactional_id
    )
    producers = sorted(_producer_rows(cluster), key=lambda row: row["transaction_offset"] < 0)
    return {
        "transactions": [
            {
                "transactional_id": transaction.transactional_id,
                "state": transaction.state.value,
                "producer_id": transaction.producer_id,
                "producer_epoch": transaction.epoch,
                "timeout_ms": transaction.timeout_ms,
                "started_ms": transaction.started_ms if transaction.is_ongoing else -1,
                "updated_ms": transaction.updated_ms,
                "partitions": [
                    {"topic": topic, "partition": partition}
                    for topic, partition in transaction.partitions
                ],
            }
            for transaction in transactions
        ],
        "producers": producers[:PRODUCERS_MAX],
    }


def _producer_rows(cluster: Cluster) -> Iterator[dict[str, Any]]:
    for topic in cluster.topics:
        for partition in topic.partitions:
            for producer in partition.log.producers:
                yield {
                    "topic": topic.name,
                    "partition": partition.index,
                    "producer_id": producer.producer_id,
                    "producer_epoch": producer.epoch,
                    "last_sequence": producer.last_sequence,
                    "last_timestamp_ms": producer.last_timestamp,
                    "transaction_offset": producer.transaction_offset,
                }
