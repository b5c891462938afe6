"""Skimming a request finds the same resource names as decoding all of it."""

from typing import Any

import pytest

from kafka_shim.protocol.codec.codecs import message_writer, write_request
from kafka_shim.protocol.codec.message_spec import ZERO_UUID, StructSpec, load_message_spec
from kafka_shim.protocol.codec.resource_names import (
    ResourceNames,
    names_reader,
    read_resource_names,
)
from kafka_shim.protocol.codec.wire_layout import WireLayout
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.protocol.values import ALL_NAMES, Values, versions_of

pytestmark = pytest.mark.deep

UNASKED = ("Cursor", "ForgottenTopic")
LISTS = {"topicName": "topics", "groupId": "groups", "transactionalId": "transactional_ids"}


def names_by_walking(
    message: Any, struct: StructSpec, layout: WireLayout, found: ResourceNames
) -> None:
    """Collect the names in a decoded request, in the order of its fields."""
    for field in layout.untagged_fields(struct):
        content = getattr(message, field.attribute)
        values = content if field.is_array else [content]
        for value in values or ():
            if field.struct:
                if value is not None and field.struct.name not in UNASKED:
                    names_by_walking(value, field.struct, layout, found)
            elif field.name == "ResourceName" and struct.name.endswith("ConfigsResource"):
                found.config_resources.append((message.resource_type & 255, value))
            elif field.name == "TopicId":
                found.topic_ids += [value] if value != ZERO_UUID else []
            elif value is not None:
                goal = "groups" if field.name == "GroupId" else LISTS.get(field.entity_type)
                if goal:
                    getattr(found, goal).append(value)


@pytest.mark.parametrize("name", [name for name in ALL_NAMES if name.endswith("Request")])
def test_skimming_finds_the_names_of_the_decoded_request(name: str) -> None:
    if name == "FindCoordinatorRequest":
        return  # see test_coordinators
    spec = load_message_spec(name)
    for version in versions_of(name):
        for seed in range(6):
            message = Values(("skim", name, version, seed)).message(spec, version)
            data = message_writer(name, version)(message)
            wanted = ResourceNames()
            names_by_walking(message, spec.top_level_struct, WireLayout(spec, version), wanted)
            assert names_reader(name, version)(b"head" + data, 4) == wanted, (version, seed)


def test_fetch() -> None:
    topics = [FetchTopic("a", partitions=[FetchPartition(0), FetchPartition(1)]), FetchTopic("b")]
    request = FetchRequest(topics=topics, forgotten_topics_data=[ForgottenTopic("gone")])
    assert read_resource_names(1, 12, write_request(request, 12), 0) == ResourceNames(
        topics=["a", "b"]
    )


def test_topic_ids() -> None:
    request = FetchRequest(topics=[FetchTopic(topic_id=b"i" * 16), FetchTopic()])
    assert read_resource_names(1, 13, write_request(request, 13), 0) == ResourceNames(
        topic_ids=[b"i" * 16]
    )


def test_several_kinds() -> None:
    topics = [AddPartitionsToTxnTopic("t", [1, 2])]
    old = AddPartitionsToTxnRequest(v3_and_below_transactional_id="x", v3_and_below_topics=topics)
    new = AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction("x", topics=topics)])
    wanted = ResourceNames(topics=["t"], transactional_ids=["x"])
    assert read_resource_names(24, 3, write_request(old, 3), 0) == wanted
    assert read_resource_names(24, 5, write_request(new, 5), 0) == wanted


def test_config_resources_bear_their_type() -> None:
    resources = [AlterConfigsResource(2, "t"), AlterConfigsResource(4, "")]
    request = IncrementalAlterConfigsRequest(resources)
    skimmed = read_resource_names(44, 1, write_request(request, 1), 0)
    assert skimmed == ResourceNames(config_resources=[(2, "t"), (4, "")])


@pytest.mark.parametrize(
    ("version", "asked", "wanted"),
    [
        (0, FindCoordinatorRequest("g"), ResourceNames(groups=["g"])),
        (1, FindCoordinatorRequest("x", 1), ResourceNames(transactional_ids=["x"])),
        (4, FindCoordinatorRequest("", 1, ["x", "y"]), ResourceNames(transactional_ids=["x", "y"])),
        (4, FindCoordinatorRequest("", 0, ["g"]), ResourceNames(groups=["g"])),
    ],
)
def test_coordinators(version: int, asked: FindCoordinatorRequest, wanted: ResourceNames) -> None:
    assert read_resource_names(10, version, write_request(asked, version), 0) == wanted


def test_names_of_acls_are_not_resources_in_use() -> None:
    data = write_request(CreateAclsRequest([AclCreation(2, "t")]), 3)
    assert read_resource_names(30, 3, data, 0) == ResourceNames()


def test_damage_behind_the_names_is_not_seen_and_before_is() -> None:
    data = write_request(FetchRequest(topics=[FetchTopic("a")]), 12)
    assert read_resource_names(1, 12, data[:-3], 0).topics == ["a"]
    with pytest.raises(DecodeError, match="FetchRequest v12: "):
        read_resource_names(1, 12, data[:29], 0)


def test_malformed_utf8_is_replaced() -> None:
    data = write_request(FetchRequest(topics=[FetchTopic("ab")]), 12).replace(b"ab", b"a\xff")
    assert read_resource_names(1, 12, data, 0).topics == ["a\ufffd"]
