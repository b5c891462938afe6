"""Record which errors real brokers return in each version of their APIs.

    python -m tests.oracle.error_versions 4.4.0 2.8.2

Writes tests/conformance/error_versions_recorded.json. Each row is a situation, with the
error code for each version that the release supports. Needs Java 17 and Maven.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kafka_shim.client.client import Client, ClientError, connect
from kafka_shim.protocol.codec.catalogue import request_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from tests.oracle.error_questions import Questions
from tests.oracle.operated_kafka import OperatedKafka
from tests.oracle.real_kafka import numbers
from tests.recordings.codes import codes_of

RECORDED = Path(__file__).parents[1] / "conformance/error_versions_recorded.json"
OFFLINE_S = 60.0
LOST = "other"
FOLDERS = {
    "log.dirs": f"logs,{LOST}",
    "metadata.log.dir": "logs",
    "replica.high.watermark.checkpoint.interval.ms": "500",
}
"""Settings with two log folders. The second one is removed later, which the broker detects at its
next checkpoint.
"""
FIRST = {ApiKey.PRODUCE: 3}
"""The first version with the record format that is sent here."""
_E = ErrorCode

Ask = Callable[[Client, int], Any]
Row = dict[str, int]

QUESTIONS: tuple[tuple[ApiKey, ErrorCode, Callable[[Questions, Client, int], Any]], ...] = (
    (ApiKey.END_TXN, _E.PRODUCER_FENCED, Questions.end_of_fenced),
    (ApiKey.INIT_PRODUCER_ID, _E.PRODUCER_FENCED, Questions.begin_of_fenced),
    (ApiKey.INIT_PRODUCER_ID, _E.INVALID_TRANSACTION_TIMEOUT, Questions.too_long),
    (ApiKey.INIT_PRODUCER_ID, _E.INVALID_REQUEST, Questions.no_transactional_id),
    (ApiKey.END_TXN, _E.INVALID_PRODUCER_ID_MAPPING, Questions.end_of_unknown),
    (ApiKey.PRODUCE, _E.INVALID_PRODUCER_EPOCH, Questions.produce_of_fenced),
    (ApiKey.PRODUCE, _E.INVALID_RECORD, Questions.produce_keyless),
    (ApiKey.PRODUCE, _E.MESSAGE_TOO_LARGE, Questions.produce_large),
    (ApiKey.FETCH, _E.FETCH_SESSION_ID_NOT_FOUND, Questions.fetch_in_session),
    (ApiKey.FETCH, _E.UNKNOWN_LEADER_EPOCH, Questions.fetch_in_later_epoch),
    (ApiKey.FETCH, _E.UNKNOWN_TOPIC_ID, Questions.fetch_unknown),
    (ApiKey.FETCH, _E.OFFSET_OUT_OF_RANGE, Questions.fetch_beyond),
    (ApiKey.JOIN_GROUP, _E.FENCED_INSTANCE_ID, Questions.join_as_replaced),
    (ApiKey.JOIN_GROUP, _E.INCONSISTENT_GROUP_PROTOCOL, Questions.join_with_others),
    (ApiKey.OFFSET_COMMIT, _E.ILLEGAL_GENERATION, Questions.commit_of_generation),
    (ApiKey.OFFSET_COMMIT, _E.UNKNOWN_MEMBER_ID, Questions.commit_of_unknown),
    (ApiKey.OFFSET_COMMIT, _E.OFFSET_METADATA_TOO_LARGE, Questions.commit_large),
    (ApiKey.HEARTBEAT, _E.UNKNOWN_MEMBER_ID, Questions.heartbeat_of_unknown),
    (ApiKey.HEARTBEAT, _E.ILLEGAL_GENERATION, Questions.heartbeat_of_generation),
    (ApiKey.CREATE_TOPICS, _E.TOPIC_ALREADY_EXISTS, Questions.create_again),
    (ApiKey.CREATE_TOPICS, _E.INVALID_PARTITIONS, Questions.create_empty),
    (ApiKey.CREATE_TOPICS, _E.INVALID_REPLICATION_FACTOR, Questions.create_copied),
    (ApiKey.CREATE_TOPICS, _E.INVALID_CONFIG, Questions.create_configured),
)
"""Requests to a running broker; the other tables also need a change of the broker."""
RESTARTED = (ApiKey.FETCH, _E.FENCED_LEADER_EPOCH, Questions.fetch_in_earlier_epoch)
THROTTLED = (ApiKey.CREATE_TOPICS, _E.THROTTLING_QUOTA_EXCEEDED, Questions.create_beyond_quota)
OFFLINE = (
    (ApiKey.PRODUCE, _E.KAFKA_STORAGE_ERROR, Questions.produce),
    (ApiKey.FETCH, _E.KAFKA_STORAGE_ERROR, Questions.fetch),
)


def recorded(release: str) -> Mapping[str, Row]:
    """Record all situations on a real broker of this release."""
    rows: dict[str, Row] = {}
    with OperatedKafka(release, "none", FOLDERS) as kafka:
        with connect(kafka.plain) as client:
            questions = Questions(client)
        for api, error, ask in QUESTIONS:
            rows |= _row(kafka.plain, api, error, partial(ask, questions))
        if kafka.is_kraft:  # with ZooKeeper, the leader epoch stays the same
            kafka.shut_down()
            kafka.start_again()
            with connect(kafka.plain) as client:
                questions.wait(client)
            api, error, ask = RESTARTED
            rows |= _row(kafka.plain, api, error, partial(ask, questions))
        with connect(kafka.plain) as client:
            name = questions.topic_within(client, LOST)
            questions.limit(client)
        api, error, ask = THROTTLED
        rows |= _row(kafka.plain, api, error, partial(ask, questions))
        (kafka.folder / LOST).rename(kafka.folder / "gone")
        _until_offline(kafka.plain, questions, name)
        for api, error, ask_about in OFFLINE:
            rows |= _row(kafka.plain, api, error, partial(ask_about, questions, name=name))
    return rows


def _row(address: str, api: ApiKey, error: ErrorCode, ask: Ask) -> dict[str, Row]:
    """Return the first error in the response of each version that the broker supports."""
    row: Row = {}
    with connect(address) as client:
        low, high = client.versions[api]
    own = request_versions(api)
    for version in range(max(low, own[0], FIRST.get(api, 0)), min(high, own[1]) + 1):
        with suppress(ClientError), connect(address) as client:
            code = next((code for code in codes_of(ask(client, version)) if code), 0)
            if code != _E.UNSUPPORTED_VERSION:
                row[str(version)] = code
    return {f"{api.wire_name} {error.name}": row}


def _until_offline(address: str, questions: Questions, name: str) -> None:
    """Wait until the broker has noticed that the folder of this topic is missing."""
    ends = time.monotonic() + OFFLINE_S
    while time.monotonic() < ends:
        with connect(address) as client:
            response = questions.produce(client, FIRST[ApiKey.PRODUCE] + 1, name)
        if _E.KAFKA_STORAGE_ERROR in codes_of(response):
            return
        time.sleep(0.5)
    raise RuntimeError(f"{name} is still there")


def main(releases: list[str]) -> None:
    found = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for release in releases:
        found[release] = recorded(release)
    blocks = []
    for release in sorted(found, key=numbers):
        rows = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in found[release].items()]
        blocks.append(f"{json.dumps(release)}: {{\n{_joined(rows)}\n}}")
    RECORDED.write_text(f"{{\n{_joined(blocks)}\n}}\n")


def _joined(lines: list[str]) -> str:
    return ",\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
