"""Differences that follow from requests which a target did not get do not count."""

from pathlib import Path

import pytest

from kafka_shim.client.client import Client
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.records.batches import Record, encode_batch
from kafka_shim.shim.config import SecurityProtocol, parse_address
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.trace_format.segments import Damage
from kafka_shim.traces.replay.events import Event, Recording, TraceEvents
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import ReplayReport
from kafka_shim.traces.replay.target import OnUnreplayableRequest, Target
from tests.support.record_requests import produce_request
from tests.traces.replay.recorded_clients import shims

ADMIN = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, Login("PLAIN", "admin", "admin-secret"))


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record an admin who creates a topic and writes to it, and others who ask for it."""
    folder = tmp_path_factory.mktemp("trace")
    with shims(1, seed=1) as broker:
        broker.record(folder)
        plaintext, sasl = (parse_address(text, "") for text in (broker.plaintext, broker.sasl))
        with Client(*sasl, ADMIN) as admin, Client(*plaintext) as other:
            topic = CreatableTopic("orders", num_partitions=3, replication_factor=1)
            admin.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic]), 5)
            records = encode_batch([Record(0, 0, None, b"x")])
            admin.send_request(ApiKey.PRODUCE, produce_request("orders", records), 9)
            for name in ("orders", "unknown"):
                asked = MetadataRequest(
                    [MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
                )
                other.send_request(ApiKey.METADATA, asked, 9)
    return folder


def replay(recording: Recording, *users: str) -> ReplayReport:
    with shims(1, seed=2) as broker:
        target = Target(
            parse_address(broker.plaintext, ""),
            routes={"SASL_PLAINTEXT": parse_address(broker.sasl, "")},
            users={user: f"{user}-secret" for user in users},
            on_miss=OnUnreplayableRequest.SKIP,
        )
        return Replayer(recording, target).replay()


def test_what_a_missed_user_did_is_missing_later(trace: Path) -> None:
    report = replay(Recording(TraceEvents(trace), []))
    assert report.unreplayable_count == 3  # the log-in and two requests
    assert (report.consequences, report.differing_responses) == (1, 0)
    ((request_id, _),) = report.consequence_examples
    assert request_id.api == "Metadata"


def is_creation(event: Event) -> bool:
    entry = event.entry
    return isinstance(entry, Request | Response) and entry.api_key == ApiKey.CREATE_TOPICS


def test_what_a_damaged_part_did_is_missing_later(trace: Path) -> None:
    events = [event for event in TraceEvents(trace) if not is_creation(event)]
    damage = Damage("segment", 0, 1, "damaged")
    report = replay(Recording(events, [damage]), "admin")
    assert report.consequences == 2  # Produce and Metadata
    assert report.differing_responses == 0


def is_of_login(event: Event) -> bool:
    """Return whether an event comes before the end of a log-in."""
    return event.listener == "SASL_PLAINTEXT" and event.principal != "User:admin"


def test_a_trace_that_begins_in_the_middle_of_a_connection_is_authenticated(trace: Path) -> None:
    later = [event for event in TraceEvents(trace) if not is_of_login(event)]
    report = replay(Recording(later, []), "admin")
    assert report.matches_recording
    assert report.unreplayable_count == 0
