"""Whatever a well-formed request says, the broker answers it or closes: a handler never fails.

KAFKA_SHIM_FUZZ=100 plays a hundred times as many requests.
"""

import os
from random import Random
from typing import Any

import msgspec
import pytest

from protocol import codecs
from protocol.enums import ApiKey, Operation, ResourceType
from protocol.errors import EncodeError
from protocol.headers import RequestHeader, write_request_header
from protocol.spec import load
from shim.dispatch import Pending, dispatch
from shim.errors import CloseConnection
from shim.session import Session
from shim.wait import NoAnswer
from tests.protocol.values import Values
from tests.shim.play import SASL_LISTENER, Stage

ROUNDS = 3 * int(os.environ.get("KAFKA_SHIM_FUZZ", "1"))
RELEASES = ("0.11", "2.4", "2.8", "3.6", "4.3")
USERS = ("User:admin", "User:alice")
NAMES = ("orders", "payments", "none", "g", "tx", "kafka-cluster", "", "__consumer_offsets", "*")


def stage_of(release: str) -> Stage:
    stage = Stage(release, users={"alice": "alice-secret"})
    for name in ("orders", "payments"):
        stage.topic(name, 2)
    stage.topic("__consumer_offsets", 1)
    kinds = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
    for kind in kinds:
        stage.allow("User:alice", Operation.ALL, kind, "*")
    stage.allow("User:alice", Operation.DESCRIBE, ResourceType.TOPIC, "payments", deny=True)
    return stage


def likely(value: Any, random: Random, ids: list[bytes]) -> Any:
    """Bend random values towards what exists: known names, small numbers, real topic ids."""
    for name in value.__struct_fields__:
        content = getattr(value, name)
        if isinstance(content, msgspec.Struct):
            likely(content, random, ids)
        elif isinstance(content, list):
            for place, row in enumerate(content):
                if isinstance(row, msgspec.Struct):
                    likely(row, random, ids)
                elif random.random() < 0.6:
                    content[place] = bent(row, random, ids)
        elif name != "unknown_tags" and random.random() < 0.6:
            setattr(value, name, bent(content, random, ids))
    return value


def bent(content: Any, random: Random, ids: list[bytes]) -> Any:
    if isinstance(content, str):
        return random.choice(NAMES)
    if isinstance(content, bool) or content is None:
        return content
    if isinstance(content, int):
        return random.choice((-1, 0, 0, 1, 1, 2, 5))
    if isinstance(content, bytes) and len(content) == 16:
        return random.choice(ids)
    return content


def play(stage: Stage, api: ApiKey, version: int, request: Any, session: Session) -> None:
    header = RequestHeader(api, version, 7, "fuzz")
    try:
        frame = write_request_header(header) + codecs.write_request(request, version)
    except EncodeError:
        return  # bent into something that this version cannot say
    try:
        answer = dispatch(frame, session, stage.cluster)
    except CloseConnection:
        return
    if isinstance(answer, Pending):
        stage.clock.advance(700_000)
        assert answer.wait.is_done, f"{api.wire_name} v{version} waits for ever"
    elif not isinstance(answer, NoAnswer):
        stage.read(api, version, answer)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("release", RELEASES)
def test_no_request_makes_a_handler_fail(release: str) -> None:
    stage = stage_of(release)
    played = 0
    for key, (low, high) in sorted(stage.cluster.apis.advertised.items()):
        spec = load(f"{key.wire_name}Request")
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
    keys = sorted(stage.cluster.apis.advertised)
    for seed in range(400 * ROUNDS):
        key = random.choice(keys)
        spec = load(f"{key.wire_name}Request")
        version = random.randint(*stage.cluster.apis.advertised[key])
        version = max(version, spec.versions.low)
        request = Values(seed).message(spec, version)
        header = write_request_header(RequestHeader(key, version, 7, "fuzz"))
        frame = bytearray(header + codecs.write_request(request, version))
        for _ in range(random.randint(1, 4)):
            frame[random.randrange(len(frame))] = random.randrange(256)
        del frame[random.randrange(len(frame) + 1) :]
        try:
            answer = dispatch(bytes(frame), stage.session("User:alice"), stage.cluster)
        except CloseConnection:
            continue
        assert isinstance(answer, bytes | Pending | NoAnswer)
