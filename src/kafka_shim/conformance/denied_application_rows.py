"""Denials that producers and consumers meet: topics without Describe, and parts of transactions."""

from kafka_shim.authorizer.requirements import TXN_OFFSET_COMMIT_TOPIC
from kafka_shim.conformance.case_context import TRANSACTIONAL_PRODUCER
from kafka_shim.conformance.denied_command import (
    ALLOWED,
    DENIED,
    DeniedCommand,
    RecommendedCheck,
    allow_on_group,
    allow_on_topic,
    allow_on_transactional_id,
    hides_topics_without_describe,
    requires_permission,
)
from kafka_shim.protocol.enums import Operation, ResourceType

_POLL = {"count": 1, "seconds": 5}


def _reports_topics_without_describe(release: str) -> bool:
    return not hides_topics_without_describe(release)


APPLICATION_DENIALS: tuple[DeniedCommand, ...] = (
    DeniedCommand(
        "consume-unseen",
        "consume",
        {"topics": [DENIED], **_POLL},
        allow_on_topic("Read"),
        29,
        (allow_on_group("Read"),),
        settings={"group_id": DENIED},
        supports_release=_reports_topics_without_describe,
    ),
    DeniedCommand(
        "consume-assigned-unseen",
        "consume_assigned",
        {"partitions": [f"{DENIED}-0"], **_POLL},
        allow_on_topic("Read"),
        29,
        (allow_on_group("Read"),),  # librdkafka looks its coordinator up nevertheless
        settings={"group_id": DENIED},
        supports_release=_reports_topics_without_describe,
    ),
    DeniedCommand(
        "produce-several",
        "produce_to_several",
        {"topics": [DENIED, ALLOWED], "value": "a"},
        allow_on_topic("Write"),
        29,
        (allow_on_topic("Describe"), allow_on_topic("All", name=ALLOWED)),
        (DENIED, ALLOWED),
        settings={"linger_ms": "500"},  # so that both are in one request
    ),
    DeniedCommand(
        "transactional-id-write",
        "begin",
        {},
        allow_on_transactional_id("Write"),
        53,
        (allow_on_transactional_id("Describe"), allow_on_topic("Write")),
        settings=TRANSACTIONAL_PRODUCER,
        capabilities="transactions",
        origin="KIP-98",
        is_fatal=True,
    ),
    DeniedCommand(
        "transaction-by-offset-topic",
        "send_offsets",
        {"group": ALLOWED, "topic": DENIED, "partition": 0, "offset": 0},
        allow_on_topic("Read"),
        29,
        (
            allow_on_transactional_id("Write", "Describe"),
            allow_on_group("Read", name=ALLOWED),
            allow_on_topic("Describe"),
        ),
        settings=TRANSACTIONAL_PRODUCER,
        before=(("begin", {}),),
        then="commit",
        capabilities="transactions",
        origin="KIP-98",
        supports_release=requires_permission(
            TXN_OFFSET_COMMIT_TOPIC, Operation.READ, ResourceType.TOPIC
        ),
        is_fatal=True,
        recommended_check=RecommendedCheck.ERROR_CODE,
        recommendation_origin="KIP-98",  # which does not list the error for TxnOffsetCommit
    ),
)
