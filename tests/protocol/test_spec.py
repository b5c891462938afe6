"""Message definitions are read into typed specs."""

import pytest

from kafka_shim.protocol.codec.message_spec import (
    NONE,
    TOP_VERSION,
    VersionRange,
    load_message_spec,
    parse_version_range,
    snake_case,
)
from tests.protocol.values import ALL_NAMES


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("TopicId", "topic_id"),
        ("timeoutMs", "timeout_ms"),
        ("V3AndBelowTopics", "v3_and_below_topics"),
        ("isKRaftController", "is_k_raft_controller"),
        ("ISRNodes", "isr_nodes"),
        ("FetchRequest", "fetch_request"),
        ("Id", "id"),
        ("HWM", "hwm"),
    ],
)
def test_names(name: str, snake: str) -> None:
    assert snake_case(name) == snake


@pytest.mark.parametrize(
    ("text", "low", "high"), [("3", 3, 3), ("0-4", 0, 4), ("2+", 2, TOP_VERSION)]
)
def test_version_ranges(text: str, low: int, high: int) -> None:
    versions = parse_version_range(text)
    assert versions == (low, high)
    assert versions.text == text
    assert versions.has(low)
    assert versions.has(high)
    assert not versions.has(low - 1)


def test_no_versions() -> None:
    assert parse_version_range("none") == parse_version_range(None) == NONE
    assert NONE.text == "none"
    assert not NONE.has(0)
    assert VersionRange(5, 4).text == "none"


def test_a_definition() -> None:
    spec = load_message_spec("CreateAclsRequest")
    assert (spec.api_key, spec.type, spec.versions, spec.flexible_versions.low) == (
        30,
        "request",
        (0, 3),
        2,
    )
    assert [struct.name for struct in spec.structs_inner_first] == [
        "AclCreation",
        "CreateAclsRequest",
    ]
    pattern = spec.structs_inner_first[0].fields[2]
    assert (pattern.attribute, pattern.element_kind, pattern.default) == (
        "resource_pattern_type",
        "int8",
        3,
    )
    assert not pattern.versions.has(0)


def test_every_definition_is_sound() -> None:
    for name in ALL_NAMES:
        spec = load_message_spec(name)
        assert spec.name == name
        assert spec.versions.low <= spec.versions.high
        for struct in spec.structs_inner_first:
            attributes = [field.attribute for field in struct.fields]
            assert len(set(attributes)) == len(attributes)
            assert all(name.isidentifier() for name in attributes)
            tags = [field.tag for field in struct.fields if field.tag >= 0]
            assert len(set(tags)) == len(tags)
            for field in struct.fields:
                assert (field.tag >= 0) == (field.tagged_versions != NONE)
                assert (
                    field.default is not None
                    or field.may_be_null
                    or field.element_kind == "records"
                )


def test_defaults() -> None:
    fields = {
        field.name: field
        for struct in load_message_spec("FetchRequest").structs_inner_first
        for field in struct.fields
    }
    assert fields["MaxBytes"].default == 0x7FFFFFFF
    assert fields["ClusterId"].default is None
    assert fields["ReplicaState"].default is ...
    assert fields["Topics"].default == []
    assert fields["RackId"].default == ""
