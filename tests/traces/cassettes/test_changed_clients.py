"""A client that sends one field differently is reported, as the guide says: field by field.

Each request of a recorded program is sent again with one field changed, or left out. What may be
tolerated is listed here by hand, not read from the code.
"""

import asyncio
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kafka_shim.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka_shim.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_shim.traces.cassettes.playback_report import MismatchError
from kafka_shim.traces.cassettes.playback_state import MatchMode
from tests.shim.wire import Wire
from tests.traces.cassettes.kit import Playback, acl, fetch, new_topic, record, records

A, B = (b"k1", b"a"), (b"k2", b"b")


class Step(NamedTuple):
    """A request of the recorded program."""

    api: ApiKey
    version: int
    message: Any


STEPS = {
    "create topics": Step(ApiKey.CREATE_TOPICS, 7, new_topic("orders")),
    "create acls": Step(ApiKey.CREATE_ACLS, 3, acl("orders")),
    "produce": Step(ApiKey.PRODUCE, 9, records("orders", A, B)),
    "list offsets": Step(
        ApiKey.LIST_OFFSETS,
        7,
        ListOffsetsRequest(
            replica_id=-1,
            topics=[ListOffsetsTopic("orders", [ListOffsetsPartition(0, timestamp=-2)])],
        ),
    ),
    "fetch": Step(ApiKey.FETCH, 12, fetch("orders", 0)),
    "commit": Step(
        ApiKey.OFFSET_COMMIT,
        8,
        OffsetCommitRequest(
            "billing",
            topics=[
                OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 2)])
            ],
        ),
    ),
    "delete records": Step(
        ApiKey.DELETE_RECORDS,
        2,
        DeleteRecordsRequest([DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, 1)])], 1000),
    ),
    "alter configs": Step(
        ApiKey.ALTER_CONFIGS,
        2,
        AlterConfigsRequest(
            [AlterConfigsResource(2, "orders", [AlterableConfig("retention.ms", "1")])]
        ),
    ),
    "create partitions": Step(
        ApiKey.CREATE_PARTITIONS,
        3,
        CreatePartitionsRequest([CreatePartitionsTopic("orders", 3, None)], 1000),
    ),
    "delete acls": Step(
        ApiKey.DELETE_ACLS,
        3,
        DeleteAclsRequest([DeleteAclsFilter(2, "orders", 3, "User:a", "*", 3, 3)]),
    ),
    "delete offsets": Step(
        ApiKey.OFFSET_DELETE,
        0,
        OffsetDeleteRequest(
            "billing", [OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(0)])]
        ),
    ),
    "delete groups": Step(ApiKey.DELETE_GROUPS, 2, DeleteGroupsRequest(["billing"])),
    "delete topics": Step(ApiKey.DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=["orders"])),
}  # fmt: skip

SETTINGS = frozenset({"timeout_ms", "acks", "isolation_level", "replica_id"})
"""Tolerated by default, and mismatches with `strict`."""
READ_AT_WILL = frozenset(
    {
        "fetch.max_wait_ms", "fetch.min_bytes", "fetch.max_bytes", "fetch.isolation_level",
        "fetch.rack_id", "fetch.topics.0.partitions.0.partition",
        "fetch.topics.0.partitions.0.fetch_offset",
        "fetch.topics.0.partitions.0.partition_max_bytes",
        "commit.topics.0.partitions.0.committed_metadata", "commit.member_id",
        "commit.generation_id_or_member_epoch",
    }
)  # fmt: skip
"""Fields that are tolerated by default, of reads and of members."""
NEVER = frozenset(
    {
        "committed_leader_epoch", "current_leader_epoch", "last_fetched_epoch", "log_start_offset",
        "session_id", "session_epoch", "cluster_id", "records", "replica_id",
    }
)  # fmt: skip
"""Fields that two runs never agree on; records are changed as records."""


async def story(wire: Wire, _: Wire) -> None:
    for step in STEPS.values():
        await wire.ask(*step)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(record(tmp_path_factory.mktemp("cassettes") / "trace", story))


def failures(trace: Path, match: MatchMode, steps: dict[str, Step]) -> list[str]:
    """Return the failures of a playback of these requests, until one has no response."""
    played = Playback(trace, match=match)
    for step in steps.values():
        try:
            played.ask(*step)
        except MismatchError as error:
            return [str(error)]
    found: list[str] = played.report["failures"]
    return found


def leaf_paths(spec: StructSpec, message: Any, version: int, path: str = "") -> Iterator[str]:
    """Yield the path of each field of a message that its version has, through first rows."""
    for field in spec.fields:
        value = getattr(message, field.attribute)
        if not field.versions.has(version) or field.attribute in NEVER:
            continue
        if field.struct is None:
            yield f"{path}{field.attribute}"
        elif value:
            row, place = (value[0], ".0") if isinstance(value, list) else (value, "")
            yield from leaf_paths(field.struct, row, version, f"{path}{field.attribute}{place}.")


def changed(message: Any, path: str) -> Any:
    """Return a copy with another value at a path."""
    copy = deepcopy(message)
    *places, attribute = path.split(".")
    struct = copy
    for place in places:
        struct = struct[int(place)] if place.isdigit() else getattr(struct, place)
    setattr(struct, attribute, other_value(getattr(struct, attribute)))
    return copy


def other_value(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case -1:
            return 1
        case int():
            return value - 1 if value > 1 << 30 else value + 1
        case str() | None:
            return f"{value or ''}x"
        case [first, *rest]:
            return [other_value(first), *rest]
    raise AssertionError(value)


CHANGES = [
    (name, path)
    for name, step in STEPS.items()
    for path in leaf_paths(
        load_message_spec(type(step.message).__name__).top_level_struct, step.message, step.version
    )
]


@pytest.mark.parametrize("match", list(MatchMode))
def test_the_recorded_program_itself_is_not_reported(trace: Path, match: MatchMode) -> None:
    assert failures(trace, match, STEPS) == []


@pytest.mark.parametrize(
    ("name", "path"), CHANGES, ids=[f"{name}: {path}" for name, path in CHANGES]
)
def test_a_changed_field_is_reported(trace: Path, name: str, path: str) -> None:
    step = STEPS[name]
    steps = {**STEPS, name: step._replace(message=changed(step.message, path))}
    assert failures(trace, MatchMode.STRICT, steps)
    tolerated = path.rpartition(".")[2] in SETTINGS or f"{name}.{path}" in READ_AT_WILL
    assert bool(failures(trace, MatchMode.ORDER, steps)) is not tolerated


RECORDS = {
    "another key": records("orders", (b"k9", b"a"), B),
    "another value": records("orders", (b"k1", b"x"), B),
    "a record more": records("orders", A, B, (b"k3", b"c")),
    "another order": records("orders", B, A),
    "another partition": records("orders", A, B, partition=1),
}


@pytest.mark.parametrize("changed_records", RECORDS.values(), ids=RECORDS)
@pytest.mark.parametrize("match", [MatchMode.ORDER, MatchMode.STRICT])
def test_changed_records_are_reported(trace: Path, match: MatchMode, changed_records: Any) -> None:
    steps = {**STEPS, "produce": STEPS["produce"]._replace(message=changed_records)}
    assert failures(trace, match, steps)


def test_a_change_twice_is_reported(trace: Path) -> None:
    for name in STEPS.keys() - {"list offsets", "fetch", "commit"}:
        assert failures(trace, MatchMode.ORDER, STEPS | {"again": STEPS[name]})


@pytest.mark.parametrize("name", sorted(STEPS.keys() - {"list offsets", "fetch"}))
def test_a_missing_change_is_reported_by_strict(trace: Path, name: str) -> None:
    steps = {key: step for key, step in STEPS.items() if key != name}
    assert failures(trace, MatchMode.STRICT, steps)


def test_a_damaged_file_is_a_failure(tmp_path: Path) -> None:
    trace = asyncio.run(record(tmp_path / "trace", story))
    [segment] = trace.glob("*.ktrace")
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 0xFF
    segment.write_bytes(content)
    report = Playback(trace).report
    assert report["damage"]
    assert [text for text in report["failures"] if text.startswith("damaged: ")]
    accepted = Playback(trace, accepts_damage=True).report
    assert (accepted["damage"], accepted["failures"]) == (report["damage"], [])
