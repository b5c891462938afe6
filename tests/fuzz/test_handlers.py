"""The broker answers every well-formed request or closes the connection; no handler fails.

KAFKA_SHIM_FUZZ=100 plays a hundred times as many requests.
"""

import os
from random import Random
from typing import Any

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import EncodeError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.wait import NoResponse
from tests.fuzz.frames import USERS, likely, stage_of
from tests.protocol.values import Values
from tests.shim.play import SASL_LISTENER, Stage
from tests.support.frames import request_frame

ROUNDS = 3 * int(os.environ.get("KAFKA_SHIM_FUZZ", "1"))
RELEASES = ("0.11", "2.4", "2.8", "3.6", "4.3")


def play(stage: Stage, api: ApiKey, version: int, request: Any, session: Session) -> None:
    header = RequestHeader(api, version, 7, "fuzz")
    try:
        frame = write_request_header(header) + codecs.write_request(request, version)
    except EncodeError:
        return  # this version cannot encode the altered value
    try:
        response = stage.dispatcher.dispatch(frame, session)
    except CloseConnection:
        return
    if isinstance(response, PendingExchange):
        stage.clock.advance(700_000)
        assert response.wait.is_finished, f"{api.wire_name} v{version} is never answered"
    elif not isinstance(response, NoResponse):
        stage.read(api, version, response)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("release", RELEASES)
def test_no_request_makes_a_handler_fail(release: str) -> None:
    stage = stage_of(release)
    played = 0
    for key, (low, high) in sorted(stage.dispatcher.apis.advertised.items()):
        spec = load_message_spec(f"{key.wire_name}Request")
        for version in range(max(low, spec.versions.low), high + 1):
            for seed in range(ROUNDS):
                random = Random(f"{release} {key} {version} {seed}")
                values = Values(f"{release}{key}{version}{seed}")
                ids = [topic.topic_id for topic in stage.cluster.topics] + [b"\x01" * 16, bytes(16)]
                request = likely(values.message(spec, version), random, ids)
                session = Session(SASL_LISTENER, 1, "127.0.0.1", 50_000)
                session.principal = random.choice(USERS)
                session.phase = session.phase.READY
                play(stage, key, version, request, session)
                played += 1
    assert played > 100


@pytest.mark.timeout(600)
@pytest.mark.parametrize("release", ["0.11", "4.3"])
def test_damaged_frames_close_or_are_answered(release: str) -> None:
    stage = stage_of(release)
    random = Random(release)
    keys = sorted(stage.dispatcher.apis.advertised)
    for seed in range(400 * ROUNDS):
        key = random.choice(keys)
        spec = load_message_spec(f"{key.wire_name}Request")
        version = random.randint(*stage.dispatcher.apis.advertised[key])
        version = max(version, spec.versions.low)
        request = Values(seed).message(spec, version)
        frame = bytearray(request_frame(key, version, request, 7, "fuzz"))
        for _ in range(random.randint(1, 4)):
            frame[random.randrange(len(frame))] = random.randrange(256)
        del frame[random.randrange(len(frame) + 1) :]
        try:
            response = stage.dispatcher.dispatch(bytes(frame), stage.session("User:alice"))
        except CloseConnection:
            continue
        assert isinstance(response, bytes | PendingExchange | NoResponse)
