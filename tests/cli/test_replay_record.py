"""`kafka-shim replay --on-miss record` takes missing responses from the target."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kafka_shim.cli import main
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import write_response_header
from kafka_shim.protocol.messages.describe_acls import DescribeAclsResponse
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataResponse
from kafka_shim.protocol.messages.produce import ProduceRequest
from kafka_shim.trace_format.entries import (
    BlockBody,
    Connection,
    ConnectionClosed,
    Entry,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import SegmentWriter
from tests.cli.conftest import Running
from tests.shim.observing.test_recorder import entries
from tests.support.acl_filters import ANY_ACL
from tests.support.frames import request_frame, response_frame

WHO = Connection(0, 1, 1, "PLAINTEXT", "127.0.0.1", 5000, "User:ANONYMOUS")

ANSWER = write_response_header(ApiKey.DESCRIBE_ACLS, 3, 3) + codecs.write_response(
    ApiKey.DESCRIBE_ACLS, 3, DescribeAclsResponse()
)


def request(sequence: int, api: ApiKey, version: int, message: object) -> Request:
    frame = request_frame(api, version, message, sequence, "test")
    return Request(0, sequence, 1_000 + sequence, frame)


def trace_of(folder: Path, *rows: Entry) -> Path:
    writer = SegmentWriter(folder, "w")
    writer.write_block(BlockBody([WHO], list(rows)))
    writer.close()
    return folder


@pytest.fixture
def cut_off(tmp_path: Path) -> Path:
    """Return a trace with five requests and one response; Produce with acks 0 expects none."""
    return trace_of(
        tmp_path / "trace",
        request(0, ApiKey.METADATA, 12, MetadataRequest(topics=[])),
        request(1, ApiKey.PRODUCE, 9, ProduceRequest(acks=0, topic_data=[])),
        request(2, ApiKey.METADATA, 12, MetadataRequest(topics=None)),
        request(3, ApiKey.DESCRIBE_ACLS, 3, ANY_ACL),
        Response(0, 3, 5_000, ApiKey.DESCRIBE_ACLS, 3, ANSWER),
        request(4, ApiKey.METADATA, 12, MetadataRequest(topics=[])),
        ConnectionClosed(0, 5, 6_000),
    )


def replay(
    capsys: pytest.CaptureFixture[str], trace: Path, target: Running, *options: str
) -> tuple[int, dict[str, object]]:
    code = main(["replay", str(trace), "--target", target.plaintext, "--json", *options])
    out = capsys.readouterr().out
    return code, json.loads(out[out.index("{\n") :])


def test_responses_match_requests_if_some_are_missing(
    cut_off: Path, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    _, report = replay(capsys, cut_off, start())
    assert report["responses"] == 1
    assert report["requests"] == 5
    assert report["unrecorded"] == 2
    assert report["missed"] == []


def test_the_new_trace_has_the_responses_of_the_target(
    cut_off: Path, tmp_path: Path, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    target = start()
    words = ("--on-miss", "record", "--record", str(tmp_path / "new"))
    replay(capsys, cut_off, target, *words)
    found, damage = entries(tmp_path / "new")
    assert damage == []
    assert [entry.sequence for _, entry in found if isinstance(entry, Request)] == [0, 1, 2, 3, 4]
    assert [entry.sequence for _, entry in found if isinstance(entry, Response)] == [0, 2, 3, 4]
    assert found[0][0].principal == "User:ANONYMOUS"
    code, report = replay(capsys, tmp_path / "new", target)
    assert (code, report["responses"], report["unrecorded"]) == (0, 4, 0)


def test_requests_are_sent_to_the_broker_with_the_same_id(
    tmp_path: Path, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    second = msgspec.structs.replace(WHO, number=1, writer_connection=2, node_id=2)
    asked = request(0, ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    response = response_frame(ApiKey.METADATA, 12, MetadataResponse(topics=[]), 0)
    writer = SegmentWriter(tmp_path / "trace", "w")
    there = Response(0, 0, 2_000, ApiKey.METADATA, 12, response)
    writer.write_block(
        BlockBody([WHO, second], [asked, there, msgspec.structs.replace(asked, connection=1)])
    )
    writer.close()
    target = start(brokers=2)
    target.record(tmp_path / "seen")
    words = ["--target", target.plaintext.partition(",")[0], "--json"]
    main(["replay", str(tmp_path / "trace"), *words])
    seen: list[int] = []
    deadline = time.monotonic() + 10
    while len(seen) < 3 and time.monotonic() < deadline:  # the trace is written every 100 ms
        time.sleep(0.05)
        found, _ = entries(tmp_path / "seen")
        seen = [who.node_id for who, entry in found if isinstance(entry, Request)]
    assert seen[1:] == [1, 2]  # first, the replay asks for versions


@pytest.mark.parametrize("words", [["--on-miss", "record"], ["--record", "somewhere"]])
def test_on_miss_record_and_the_option_record_require_each_other(
    cut_off: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(["replay", str(cut_off), "--target", "h:1", *words]) == 2
    assert "require each other" in capsys.readouterr().err
