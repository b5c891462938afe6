"""No secret reaches a trace, the history or a log, at any log level."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header, write_response_header
from kafka_shim.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig as Alteration,
    AlterConfigsResource as AlteredResource,
    IncrementalAlterConfigsRequest,
)
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.state.settings.config_definitions import definitions_of_release
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.trace_format.entries import ConnectionClosed, Request
from kafka_shim.trace_format.redaction import (
    SECRET_REQUESTS,
    is_secret_setting,
    redact_request,
    redact_response,
)
from kafka_shim.traces.proxy.proxy import Proxy
from kafka_shim.traces.replay.events import load_recording
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.target import OnUnreplayableRequest, Target
from tests.shim.observing.test_recorder import entries
from tests.shim.wire import Wire, connected, serving
from tests.support.acl_filters import ANY_ACL
from tests.support.commands import split
from tests.support.frames import request_frame, sized

SECRET = "hunter2-is-secret"
TOKENS = {
    "PLAIN": f"\0alice\0{SECRET}",
    "PLAIN with another's name": f"bob\0alice\0{SECRET}",
    "a name that begins like an API key": f"\0Alice\0{SECRET}",
    "a name of one letter": f"\0A\0{SECRET}",
    "OAUTHBEARER": f"n,,\x01auth=Bearer {SECRET}\x01\x01",
}


def written(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.fixture(autouse=True)
def all_logs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG):
        yield
    assert SECRET not in caplog.text


async def send_raw(wire: Wire, token: str) -> None:
    raw = token.encode()
    await wire.send(sized(raw))
    assert await wire.is_closed()


@pytest.mark.asyncio
@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "PLAINTEXT"])
@pytest.mark.parametrize("handshake", [None, 1])
async def test_of_a_raw_token_where_a_request_is_expected_only_the_length_is_recorded(
    token: str, listener: str, handshake: int | None, tmp_path: Path
) -> None:
    async with serving() as broker:
        broker.start_recording(tmp_path)
        async with connected(broker, listener) as wire:
            if handshake is not None:
                mechanism = SaslHandshakeRequest(mechanism="PLAIN")
                await wire.ask(ApiKey.SASL_HANDSHAKE, handshake, mechanism)
            await send_raw(wire, token)
    assert SECRET.encode() not in written(tmp_path)
    found, damage = entries(tmp_path)
    assert damage == []
    assert len([1 for _, entry in found if isinstance(entry, Request)]) == int(bool(handshake))
    [closed] = [entry for _, entry in found if isinstance(entry, ConnectionClosed)]
    assert closed.reason == f"a frame of {len(token)} bytes that is not a request"


@pytest.mark.asyncio
async def test_a_proxy_records_only_the_length_of_a_raw_token(tmp_path: Path) -> None:
    async with serving() as broker:
        host, _, port = broker.bootstrap_servers("SASL_PLAINTEXT").rpartition(":")
        recorder = TraceRecorder(tmp_path, SystemClock(), writer="proxy")
        proxy = Proxy((host, int(port)), ("127.0.0.1", 0), recorder)
        here, _, there = (await proxy.start()).rpartition(":")
        try:
            wire = Wire(*await asyncio.open_connection(here, int(there)))
            await wire.ask(ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
            await send_raw(wire, TOKENS["PLAIN"])
        finally:
            wire.writer.close()
            await proxy.stop()
    assert SECRET.encode() not in written(tmp_path)
    [closed] = [entry for _, entry in entries(tmp_path)[0] if isinstance(entry, ConnectionClosed)]
    assert closed.reason == "a frame of 24 bytes that is not a request"


def settings_requests() -> dict[tuple[ApiKey, int], Any]:
    name = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
    value = f'PlainLoginModule required user_alice="{SECRET}";'
    return {
        (ApiKey.ALTER_CONFIGS, 1): AlterConfigsRequest(
            resources=[AlterConfigsResource(4, "1", [AlterableConfig(name, value)])]
        ),
        (ApiKey.INCREMENTAL_ALTER_CONFIGS, 1): IncrementalAlterConfigsRequest(
            resources=[AlteredResource(4, "1", [Alteration(name, 0, value)])]
        ),
        (ApiKey.CREATE_TOPICS, 5): CreateTopicsRequest(
            topics=[CreatableTopic("t", 1, 1, [], [CreatableTopicConfig(name, value)])]
        ),
    }


@pytest.mark.asyncio
async def test_secret_settings_reach_neither_a_trace_nor_the_history_and_replay(
    tmp_path: Path,
) -> None:
    async with serving() as broker:
        broker.start_recording(tmp_path)
        history = History()
        broker.dispatcher.set_history(history)
        async with connected(broker) as wire:
            for (api, version), request in settings_requests().items():
                await wire.ask(api, version, request)
            await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
    assert SECRET.encode() not in written(tmp_path)
    rows = [seen.request_row() for seen in history]
    assert SECRET not in str(rows)
    assert str(rows).count("[hidden]") == 3
    async with serving() as broker:
        target = Target(
            split(broker.bootstrap_servers("PLAINTEXT")), on_miss=OnUnreplayableRequest.SKIP
        )
        report = await asyncio.to_thread(Replayer(load_recording(tmp_path), target).replay)
    assert (report.responses, len(report.unreplayable_requests)) == (1, 3)
    assert report.differing_responses == 0


def test_every_password_of_every_release_is_a_secret_setting() -> None:
    names = {
        name
        for release in RELEASES
        for kind in msgspec.structs.astuple(definitions_of_release(release))
        for name, definition in kind.items()
        if definition.is_sensitive
    }
    assert len(names) > 10
    assert [name for name in sorted(names) if not is_secret_setting(name)] == []
    assert not is_secret_setting("retention.ms")
    assert not is_secret_setting("ssl.key.store.type")


def test_sensitive_values_in_an_answer_are_blanked_with_their_synonyms() -> None:
    synonym = DescribeConfigsSynonym("x.password", SECRET, 4)
    rows = [
        DescribeConfigsResourceResult("custom", SECRET, is_sensitive=True, synonyms=[]),
        DescribeConfigsResourceResult("own.name", None, is_sensitive=True, synonyms=[synonym]),
        DescribeConfigsResourceResult("retention.ms", "7", synonyms=[]),
    ]
    response = DescribeConfigsResponse(results=[DescribeConfigsResult(0, "", 4, "1", rows)])
    frame = write_response_header(32, 4, 9) + codecs.write_response(32, 4, response)
    kept, changed = redact_response(frame, 32, 4)
    assert changed
    assert SECRET.encode() not in kept
    assert kept.count(b"[hidden]") == 2


@pytest.mark.parametrize("api", sorted(SECRET_REQUESTS))
def test_of_a_request_that_cannot_be_read_only_the_header_is_kept(api: ApiKey) -> None:
    for version in (0, 31):
        header = write_request_header(RequestHeader(api, 0, 7, "client"))
        header = header[:2] + version.to_bytes(2, "big") + header[4:]
        kept, changed = redact_request(header + b"\xff" + SECRET.encode(), api)
        assert changed
        assert header.startswith(kept)
        assert len(kept) >= 8


def test_frames_without_secrets_are_kept_byte_by_byte() -> None:
    settings = [AlterableConfig("retention.ms", "7")]
    request = AlterConfigsRequest(resources=[AlterConfigsResource(2, "orders", settings)])
    frame = request_frame(ApiKey.ALTER_CONFIGS, 1, request, 7, "client")
    assert redact_request(frame, 33) == (frame, False)
