"""A recorded trace contains the traffic without its secrets, and survives a killed broker."""

import asyncio
import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.shim.request.access import RECORDS_MAX
from kafka_shim.trace_format.blocks import ZSTD
from kafka_shim.trace_format.entries import Access, ConnectionClosed, Request, Response
from kafka_shim.trace_format.segments import (
    Block,
    Damage,
    TraceStorage,
    read_trace,
    segment_paths,
)
from tests.shim.wire import connected, serving
from tests.support.acl_filters import ANY_ACL
from tests.support.commands import SHIM
from tests.support.frames import request_frame, sized
from tests.support.small_disk import files_up_to, needs_a_limit

ROOT = Path(__file__).parents[3]


def entries(folder: Path) -> tuple[list[Any], list[Any]]:
    """Return all entries of a trace, each with its connection, and the damaged parts."""
    good: list[Any] = []
    damage: list[Any] = []
    for block in read_trace(folder):
        if isinstance(block, Damage):
            damage.append(block)
        else:
            people = {who.number: who for who in block.body.connections}
            good += [(people[entry.connection], entry) for entry in block.body.entries]
    return good, damage


async def log_in(wire: Any, user: str) -> None:
    await wire.ask(ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
    token = f"\0{user}\0{user}-secret".encode()
    await wire.ask(ApiKey.SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=token))


@pytest.mark.asyncio
async def test_requests_responses_and_decisions_are_recorded_with_connections(
    tmp_path: Path,
) -> None:
    async with serving() as broker:
        broker.start_recording(tmp_path)
        async with connected(broker, "SASL_PLAINTEXT") as wire:
            named = ApiVersionsRequest(client_software_name="kit", client_software_version="7")
            await wire.ask(ApiKey.API_VERSIONS, 3, named)
            await log_in(wire, "alice")
            await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
        await asyncio.sleep(0.05)
    found, damage = entries(tmp_path)
    assert damage == []
    requests = [(who, entry) for who, entry in found if isinstance(entry, Request)]
    responses = [entry for _, entry in found if isinstance(entry, Response)]
    keys = [read_request_header(request.frame)[0].api_key for _, request in requests]
    assert keys == [18, 17, 36, 29]
    assert [request.sequence for _, request in requests] == [0, 1, 2, 3]
    assert [
        (response.sequence, response.api_key, response.api_version) for response in responses
    ] == [
        (0, 18, 3),
        (1, 17, 1),
        (2, 36, 2),
        (3, 29, 3),
    ]
    assert requests[0][0].principal == "User:ANONYMOUS"
    last = requests[3][0]
    assert (last.principal, last.mechanism, last.software_name) == ("User:alice", "PLAIN", "kit")
    (access,) = [entry for _, entry in found if isinstance(entry, Access)]
    assert (access.operation, access.resource_type) == (Operation.DESCRIBE, ResourceType.CLUSTER)
    assert (access.allowed, access.rule) == (False, "DefaultDeny")
    answer = codecs.read_response(29, 3, responses[3].frame, 5)
    assert answer.error_code == 31
    assert isinstance(found[-1][1], ConnectionClosed)
    times = [entry.time_us for _, entry in found]
    assert times == sorted(times)


@pytest.mark.asyncio
async def test_a_trace_has_the_decisions_that_the_log_only_counts(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(RECORDS_MAX * 3)]
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    async with serving() as broker:
        broker.start_recording(tmp_path)
        async with connected(broker, "SASL_PLAINTEXT") as wire:
            await log_in(wire, "alice")
            await wire.ask(ApiKey.METADATA, 1, request)
    found, _ = entries(tmp_path)
    accesses = [entry.resource_name for _, entry in found if isinstance(entry, Access)]
    assert accesses == names


@pytest.mark.asyncio
async def test_a_restarted_broker_appends_with_new_connection_numbers(tmp_path: Path) -> None:
    for _ in range(2):
        async with serving() as broker:
            broker.start_recording(tmp_path)
            async with connected(broker) as wire:
                await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
    found, damage = entries(tmp_path)
    assert damage == []
    requests = [
        (who.writer_connection, entry) for who, entry in found if isinstance(entry, Request)
    ]
    assert [request.sequence for _, request in requests] == [0, 0]
    assert requests[0][0] != requests[1][0]


@pytest.mark.asyncio
async def test_a_trace_is_compressed_and_its_oldest_segments_are_deleted(tmp_path: Path) -> None:
    async with serving() as broker:
        broker.start_recording(tmp_path, TraceStorage("zstd", 2, segment_bytes=1))
        async with connected(broker) as wire:
            for _ in range(5):
                await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
                assert broker.recorder is not None
                broker.recorder.flush()
    kept = [int(path.stem.rpartition("-")[2]) for path in segment_paths(tmp_path)]
    assert len(kept) == 2
    assert min(kept) > 0
    blocks = [block for block in read_trace(tmp_path) if isinstance(block, Block)]
    assert blocks
    assert all(block.header.flags == ZSTD for block in blocks)


@pytest.mark.asyncio
async def test_no_secret_reaches_the_disk(tmp_path: Path) -> None:
    salted = b"salted-password-of-somebody-else"
    async with serving() as broker:
        broker.start_recording(tmp_path)
        async with connected(broker, "SASL_PLAINTEXT") as wire:
            await log_in(wire, "admin")
            upsertion = ScramCredentialUpsertion("eve", 1, 4096, b"the-salt-of-eve", salted)
            request = AlterUserScramCredentialsRequest(upsertions=[upsertion])
            await wire.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, request)
            create = CreateDelegationTokenRequest(max_lifetime_ms=-1)
            token = await wire.ask(ApiKey.CREATE_DELEGATION_TOKEN, 3, create)
            assert len(token.hmac) == 64
        async with connected(broker, "SASL_PLAINTEXT") as wire:
            await wire.ask(ApiKey.SASL_HANDSHAKE, 0, SaslHandshakeRequest(mechanism="PLAIN"))
            raw = b"\0admin\0admin-secret"
            await wire.send(sized(raw))
            await wire.frame()
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (b"admin-secret", salted, b"the-salt-of-eve", token.hmac):
        assert secret not in written
    found, _ = entries(tmp_path)
    redacted = [entry for _, entry in found if getattr(entry, "redacted", False)]
    assert len(redacted) == 3  # the log-in, the SCRAM credential, the delegation token


@needs_a_limit
@pytest.mark.asyncio
async def test_a_broker_keeps_serving_when_the_disk_of_its_trace_is_full(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as broker:
        broker.start_recording(tmp_path)
        recorder = broker.recorder
        assert recorder is not None
        async with connected(broker) as wire:
            with files_up_to(4000):
                while recorder.failure is None:
                    await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
                    recorder.flush()
            written = recorder.entries_written
            await wire.ask(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL)
            recorder.flush()
    found, damage = entries(tmp_path)
    assert damage == []
    assert len(found) == written == recorder.entries_written > 0
    assert [line for line in caplog.text.splitlines() if "recording has ended early" in line]


def ask_until_killed(port: int, seconds: float, process: subprocess.Popen[bytes]) -> list[float]:
    """Send requests for `seconds`, then kill the broker.

    Return for each request how many seconds before the kill it was answered.
    """
    responded: list[float] = []
    frame = request_frame(ApiKey.DESCRIBE_ACLS, 3, ANY_ACL, 1, "killer")
    frame = sized(frame)
    with (
        contextlib.suppress(ConnectionError),
        socket.create_connection(("127.0.0.1", port), 5) as peer,
    ):
        peer.settimeout(5)
        while not responded or time.monotonic() < responded[0] + seconds:
            peer.sendall(frame)
            size = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
            if len(peer.recv(size, socket.MSG_WAITALL)) == size:
                responded.append(time.monotonic())
        process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    return [killed - at for at in responded]


def start_recording(folder: Path, ready: Path) -> tuple[subprocess.Popen[bytes], int]:
    command = [*SHIM, "serve", "--listener"]
    command += ["PLAINTEXT://127.0.0.1:0", "--ready-file", str(ready), "--record", str(folder)]
    child = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    deadline = time.monotonic() + 20
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return child, int(ready.read_text().strip().rpartition(":")[2])


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_at_any_moment_loses_at_most_the_last_tenth_of_a_second(
    seed: int, tmp_path: Path
) -> None:
    folder = tmp_path / "trace"
    rng = random.Random(seed)
    child, port = start_recording(folder, tmp_path / "ready")
    try:
        responded = ask_until_killed(port, rng.uniform(0.6, 1.2), child)
    finally:
        child.kill()
        child.wait(10)
    found, damage = entries(folder)
    assert all(part.is_tail for part in damage)
    requests = [entry for _, entry in found if isinstance(entry, Request)]
    assert [request.sequence for request in requests] == list(range(len(requests)))
    older = [ago for ago in responded if ago > 0.4]  # flushed each 0.1 s, later on a busy machine
    assert len(requests) >= len(older) > 0


def test_each_block_lists_the_connections_of_its_entries(tmp_path: Path) -> None:
    child, port = start_recording(tmp_path / "trace", tmp_path / "ready")
    try:
        ask_until_killed(port, 1.2, child)
    finally:
        child.kill()
        child.wait(10)
    blocks = [block for block in read_trace(tmp_path / "trace") if isinstance(block, Block)]
    assert len(blocks) >= 3
    for block in blocks:
        known = {who.number for who in block.body.connections}
        assert {entry.connection for entry in block.body.entries} <= known
