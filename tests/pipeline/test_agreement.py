"""Results of the pipeline from each source of a real broker's run, compared with its log."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.pipeline.rows.access_roles import LISTED, REQUIRED
from kafka_shim.pipeline.rows.access_row import api_name
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.message_frames import read_request_frame
from kafka_shim.trace_format.entries import Request, Response, decode_response_entry
from kafka_shim.trace_format.segments import Block, read_trace
from tests.pipeline.agreement import (
    RELEASE,
    SOURCES,
    Agreement,
    Decision,
    accesses,
    logged,
    unpacked,
)
from tests.pipeline.circumstances import Exchanges, undetermined
from tests.recordings.traffic.recording import PROXY
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.folders("docs/explanation/derived-accesses.md")]

DERIVED = SOURCES[:3]
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "derived-accesses.md"

Run = tuple[Counter[Decision], dict[str, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    traces = unpacked(folder)
    return logged(folder), {source: accesses(trace) for source, trace in traces.items()}


@pytest.mark.parametrize("source", SOURCES)
def test_all_derived_decisions_are_right(source: str, run: Run) -> None:
    log, rows = run
    agreement = Agreement(log, rows[source])
    assert not agreement.wrong
    assert {decision.kind for decision in agreement.unlogged} <= {"InitProducerId WRITE TOPIC"}


@pytest.mark.parametrize("source", SOURCES)
def test_all_decisions_that_messages_determine_are_derived(
    source: str, folder: Path, run: Run
) -> None:
    """Each logged decision is derived as often, unless a recorded pair shows it is undetermined."""
    log, rows = run
    agreement = Agreement(log, rows[source])
    if source not in DERIVED:
        assert not agreement.missed
        return
    exchanges = Exchanges(folder / (PROXY if source == "proxy" else source))
    shapes = undetermined(RELEASE, source)
    for decision, times in log.items():
        lost = times - agreement.told[decision]
        assert lost <= 0 or exchanges.unclear(decision, shapes) >= lost, decision


@pytest.mark.parametrize("source", SOURCES)
def test_the_page_has_the_figures(source: str, run: Run) -> None:
    log, rows = run
    agreement = Agreement(log, rows[source])
    page = PAGE.read_text()
    found = len(log) - len(agreement.missed)
    assert f"| {source} | {found} of {len(log)} | {len(agreement.wrong)} |" in page
    assert f"{sum(log.values()):,} decisions, {len(log)} of them distinct" in page


TOLD = [
    ("alice", "Metadata", "DESCRIBE", "secret", False),  # known topic: error 29 is by DESCRIBE
    ("dave", "Metadata", "WRITE", "orders", False),  # from the authorized operations (KIP-430)
    ("erin", "DescribeTopicPartitions", "WRITE", "shared", True),
    ("dave", "ListGroups", "DESCRIBE", "erin-classic", False),  # not in the list
    ("dave", "ListTransactions", "DESCRIBE", "invoicing-2", False),
    ("dave", "OffsetFetch", "DESCRIBE", "returns", False),
    ("dave", "Metadata", "DESCRIBE", "vault", False),
    ("erin", "DescribeShareGroupOffsets", "DESCRIBE", "shared", True),
    ("dave", "DeleteTopics", "DELETE", "old-3", False),
]


@pytest.mark.parametrize("wanted", TOLD, ids=lambda wanted: " ".join(map(str, wanted)))
@pytest.mark.parametrize("source", DERIVED)
def test_decisions_shown_by_responses_are_found(
    source: str, wanted: tuple[Any, ...], run: Run
) -> None:
    log, rows = run
    assert wanted in {_short(decision) for decision in Agreement(log, rows[source]).told}


NOT_TOLD = [
    ("alice", "Metadata", "DESCRIBE", "seen-only"),  # error 29 for want of CREATE
    ("dave", "DeleteTopics", "DELETE", "gone-seen"),
    ("dave", "DeleteTopics", "DELETE", "gone-deletable"),
    ("dave", "DeleteTopics", "DESCRIBE", "old-2"),
    ("dave", "OffsetCommit", "READ", "orders"),  # the group was denied
]


@pytest.mark.parametrize("wanted", NOT_TOLD, ids=" ".join)
@pytest.mark.parametrize("source", DERIVED)
def test_decisions_not_shown_by_responses_are_unknown(
    source: str, wanted: tuple[str, ...], run: Run
) -> None:
    _, rows = run
    found = [
        row["allowed"]
        for row in rows[source]
        if wanted == (_name(row), row["api"], row["operation"], row["resource_name"])
        and row["role"] != "possible"
    ]
    assert set(found) == {None}


@pytest.mark.parametrize("source", DERIVED)
def test_fetches_of_sessions_without_topic_names_are_counted(source: str, run: Run) -> None:
    log, rows = run
    told = Agreement(log, rows[source]).told
    asked = {decision: times for decision, times in log.items() if decision.api == "Fetch"}
    assert {decision: told[decision] for decision in asked} == asked


def test_the_lookup_of_any_topic_denies_nothing(run: Run) -> None:
    _, rows = run
    probes = [row for row in rows["audit log"] if row["resource_name"] == "*"]
    assert {row["role"] for row in probes if not row["allowed"]} == {"unlogged"}


@pytest.mark.heavy
def test_spark_returns_the_same(spark: Any, folder: Path, run: Run) -> None:
    """Both for jobs and for spark.read, which find the names of topic ids in a first pass."""
    from kafka_shim.pipeline.spark.data_source import FORMAT
    from kafka_shim.pipeline.trace_input import spark_trace_input

    _, rows = run
    columns = ("principal", "api", "operation", "resource_name", "role", "allowed")
    expected = Counter(tuple(row[name] for name in columns) for row in rows["proxy"])
    trace, options = str(folder / "proxy"), {"release": "4.3"}
    by_job = spark_trace_input(spark, [trace], options).table("accesses", *columns)
    by_name = spark.read.format(FORMAT).options(**options).load(trace).select(*columns)
    for found in (by_job, by_name):
        assert Counter(tuple(row) for row in found.collect()) == expected


def _name(row: dict[str, Any]) -> str:
    return str(row["principal"]).removeprefix("User:")


def _short(decision: Decision) -> tuple[Any, ...]:
    name = decision.principal.removeprefix("User:")
    return name, decision.api, decision.operation, decision.resource_name, decision.allowed


def _refused_by_name(folder: Path) -> set[tuple[str, str]]:
    """Return principals and topics: Metadata named the topic, and the response refused it."""
    found, named = set(), {}
    for block in read_trace(folder / PROXY):
        assert isinstance(block, Block)
        principals = {each.number: each.principal for each in block.body.connections}
        for entry in block.body.entries:
            if getattr(entry, "api_key", None) != ApiKey.METADATA:
                continue
            key = entry.connection, entry.sequence
            if isinstance(entry, Request):
                _, message = read_request_frame(entry.frame)
                named[key] = {topic.name for topic in message.topics or ()}
            elif isinstance(entry, Response):
                response = decode_response_entry(entry)
                assert response is not None
                found |= {
                    (principals[entry.connection], topic.name)
                    for topic in response.topics
                    if topic.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
                    and topic.name in named.get(key, ())
                }
    return found


def test_a_logged_refusal_of_metadata_is_a_denial_of_the_request(folder: Path, run: Run) -> None:
    """The clients asked for these topics by name and got error 29, and the log has the denial."""
    refused = _refused_by_name(folder)
    assert len(refused) > 5
    metadata = [row for row in run[1]["audit log"] if row["api"] == "Metadata"]
    denied = {
        (row["principal"], row["resource_name"])
        for row in metadata
        if row["role"] == REQUIRED and row["operation"] == "DESCRIBE" and not row["allowed"]
    }
    logged_refusals = {
        (decision.principal, decision.resource_name)
        for decision in run[0]
        if decision.kind == "Metadata DESCRIBE TOPIC" and not decision.allowed
    }
    assert refused & logged_refusals <= denied
    assert len(refused & logged_refusals) > 5


def test_a_denial_is_left_out_as_of_a_list_only_if_the_request_asked_for_one(
    folder: Path, run: Run
) -> None:
    """Compare derived lists with the requests that the proxy recorded, by kind of line."""
    left_out = {
        (row["principal"], row["api"])
        for row in run[1]["audit log"]
        if row["role"] == LISTED and not row["allowed"] and row["operation"] == "DESCRIBE"
    }
    assert left_out
    listed = set()
    for block in read_trace(folder / PROXY):
        assert isinstance(block, Block)
        principals = {each.number: each.principal for each in block.body.connections}
        for entry in block.body.entries:
            if isinstance(entry, Request):
                header, message = read_request_frame(entry.frame)
                if not getattr(message, "topics", None):
                    listed.add((principals[entry.connection], api_name(header.api_key)))
    assert left_out <= listed
