"""Kroxylicious' protocol log, in the layouts of its documentation."""

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.cli import main
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.headers import read_request_header, read_response_header
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.importers.protocol_log_export import exported_protocol_log_entries
from kafka_shim.traces.importers.protocol_log_import import import_protocol_log
from kafka_shim.traces.importers.request_log_export import exported_request_log_rows
from tests.cli.test_trace_import import trace  # noqa: F401 -- a fixture
from tests.shim.observing.test_recorder import entries

LOG = Path(__file__).parent / "kroxylicious.log"
REQUEST: dict[str, dict[str, Any]] = {
    "header": {
        "type": "REQUEST",
        "apiKey": "LIST_GROUPS",
        "apiVersion": 4,
        "correlationId": 7,
        "clientId": "c",
    },
    "payload": {"statesFilter": []},
}


ANSWER = {"header": REQUEST["header"] | {"type": "RESPONSE", "correlationId": 8}, "payload": {}}


def test_entries_of_all_layouts_are_imported(tmp_path: Path) -> None:
    with LOG.open() as lines:
        report = import_protocol_log(lines, tmp_path)
    assert (report.entries, report.unread) == (4, 0)
    found, _ = entries(tmp_path)
    metadata, login, login_response, answer = [entry for _, entry in found]
    header, at = read_request_header(metadata.frame)
    request = codecs.read_request(3, 13, metadata.frame, at)
    assert (header.client_id, request.topics[0].name) == ("producer-1", "my-topic")
    assert read_request_header(login.frame)[0].api_key == 36
    _, at = read_response_header(3, 13, answer.frame)
    response = codecs.read_response(3, 13, answer.frame, at)
    assert (response.brokers[0].port, response.controller_id) == (9194, 1)
    assert isinstance(login_response, Response)
    assert answer.time_us - metadata.time_us == 150_000
    assert [who.writer_connection for who, _ in found] == [1, 2, 2, 1]
    assert all(entry.redacted for _, entry in found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"header": {"type": "REQUEST"}}', "not an entry of the protocol log"),
        ('{"header": {"type": "REQUEST", ', "no whole entry begins here"),
        ('DEBUG {\n  "header" : {\n', "no whole entry begins here"),
        (json.dumps(REQUEST).replace("LIST_GROUPS", "DANCE"), "unknown API `DANCE`"),
        (json.dumps(REQUEST).replace('"apiVersion": 4', '"apiVersion": 99'), "99"),
        (
            json.dumps(REQUEST).replace("REQUEST", "RESPONSE").replace("7", "8"),
            "a response to no request",
        ),
    ],
)
def test_unreadable_lines_are_reported_and_the_rest_is_read(
    tmp_path: Path, text: str, says: str
) -> None:
    lines = iter(f"{json.dumps(REQUEST)}\nnothing\n{text}".splitlines(keepends=True))
    report = import_protocol_log(lines, tmp_path)
    assert report.entries == 1
    (example,) = report.examples
    assert example.line == 3
    assert says in example.reason


def test_without_session_ids_each_client_id_is_a_connection(tmp_path: Path) -> None:
    other = json.dumps(REQUEST).replace('"c"', '"d"')
    import_protocol_log(iter([json.dumps(REQUEST), other, json.dumps(REQUEST)]), tmp_path)
    found, _ = entries(tmp_path)
    assert [(who.writer_connection, entry.sequence) for who, entry in found] == [
        (1, 0),
        (2, 0),
        (1, 1),
    ]
    assert all(isinstance(entry, Request) for _, entry in found)


def test_an_exported_trace_is_imported_unchanged(trace: Path, tmp_path: Path) -> None:  # noqa: F811
    log = tmp_path / "log"
    assert (
        main(["trace", "export", str(trace), "--format", "protocol-log", "--output", str(log)]) == 0
    )
    assert len(log.read_text().splitlines()) == len(list(exported_protocol_log_entries(trace))) == 8
    words = ["trace", "import", "--input-format", "protocol-log", str(log), str(tmp_path / "again")]
    assert main(words) == 0
    kept = ("requestHeader", "request", "response")
    assert [
        {key: row[key] for key in kept} for row in exported_request_log_rows(tmp_path / "again")
    ] == [{key: row[key] for key in kept} for row in exported_request_log_rows(trace)]
