"""Topics that exist according to responses before and after a list without them."""

from pathlib import Path

import pytest

from kafka_shim.pipeline.rows.existence import ExistenceIndex, existence_records_from_rows
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_shim.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from kafka_shim.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from kafka_shim.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kafka_shim.trace_format.entries import Entry, Request, Response
from tests.pipeline.test_derived import ID, response_frame, rows, write
from tests.pipeline.traces import START_US, frame

Exchange = tuple[Request, Response]


def asked(at: int, api: ApiKey, version: int, request: object, response: object) -> Exchange:
    frames = frame(api, version, request), response_frame(api, version, response)  # type: ignore[arg-type]
    time_us = START_US + at * 10
    return (
        Request(0, at, time_us, frames[0]),
        Response(0, at, time_us + 1, api, version, frames[1]),
    )


def metadata(at: int) -> Exchange:
    request = MetadataRequest([MetadataRequestTopic(name="x")])
    topic = MetadataResponseTopic(name="x", topic_id=ID)
    return asked(at, ApiKey.METADATA, 12, request, MetadataResponse(topics=[topic]))


def every(at: int) -> Exchange:
    return asked(at, ApiKey.METADATA, 12, MetadataRequest(topics=None), MetadataResponse())


def produce(at: int, code: int = 0) -> Exchange:
    part = PartitionProduceResponse(error_code=code)
    told = ProduceResponse([TopicProduceResponse("x", partition_responses=[part])])
    return asked(at, ApiKey.PRODUCE, 12, ProduceRequest(None, 1, 1, [TopicProduceData("x")]), told)


def fetch(at: int, code: int = 0) -> Exchange:
    topic = FetchableTopicResponse(topic_id=ID, partitions=[PartitionData(error_code=code)])
    request = FetchRequest(topics=[FetchTopic(topic_id=ID)])
    return asked(at, ApiKey.FETCH, 13, request, FetchResponse(responses=[topic]))


def offsets(at: int, code: int = 0) -> Exchange:
    part = ListOffsetsPartitionResponse(error_code=code)
    told = ListOffsetsResponse(topics=[ListOffsetsTopicResponse("x", [part])])
    request = ListOffsetsRequest(topics=[ListOffsetsTopic("x")])
    return asked(at, ApiKey.LIST_OFFSETS, 7, request, told)


def create(at: int) -> Exchange:
    request = CreateTopicsRequest([CreatableTopic("x")])
    told = CreateTopicsResponse(topics=[CreatableTopicResult("x", ID)])
    return asked(at, ApiKey.CREATE_TOPICS, 7, request, told)


CASES: dict[str, tuple[list[Exchange], bool]] = {
    "metadata, produce": ([metadata(0), every(1), produce(2)], True),
    "metadata, fetch by id": ([metadata(0), every(1), fetch(2)], True),
    "offsets, produce": ([offsets(0), every(1), produce(2)], True),
    "fetch by id, named later": ([fetch(0), every(1), fetch(2), metadata(3)], True),
    "produce denied": ([metadata(0), every(1), produce(2, 29)], False),
    "fetch denied": ([metadata(0), every(1), fetch(2, 29)], False),
    "only before": ([metadata(0), produce(1), every(2)], False),
    "created, not known to the broker yet": ([create(0), every(1), metadata(2)], False),
}


@pytest.mark.parametrize("name", CASES)
def test_names_missing_in_a_list_were_denied_if_they_existed(name: str, tmp_path: Path) -> None:
    exchanges, is_denied = CASES[name]
    entries: list[Entry] = [entry for exchange in exchanges for entry in exchange]
    write(tmp_path, entries)
    existence = ExistenceIndex(existence_records_from_rows(rows("sightings", tmp_path)))
    found = rows("accesses", tmp_path, Selection(existence=existence, topic_names_by_id={ID: "x"}))
    listed = [
        row["allowed"]
        for row in found
        if row["role"] == "listed" and row["resource_name"] and row["operation"] == "DESCRIBE"
    ]
    assert listed == ([False] if is_denied else [])
